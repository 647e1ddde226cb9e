//! A branch of a light path from the sensor.

use super::light_ray::LightRay;
use super::world::Interaction;
use etendue_physics::Scalar;
use etendue_physics::surface::{Medium, Passage, Transmitted};
use etendue_scene::{Hit, Ray, Scene};
use nalgebra::{Point3, Vector3, try_convert};

/// Branch of a light path: its current ray with the throughput and the lengths since the sensor.
#[derive(Clone, Copy)]
pub(super) struct Branch<S: Scalar> {
    /// Origin of the current segment, m.
    pub origin: Point3<S>,
    /// Unit direction of the current segment.
    pub direction: Vector3<S>,
    /// Fraction of the emitted power.
    pub throughput: S,
    /// Length since the sensor, m.
    pub range: S,
    /// Optical length since the sensor, m.
    pub optical_range: S,
    /// Medium of the current segment.
    pub medium: Medium<S>,
    /// Number of surfaces since the sensor.
    pub depth: u32,
}

impl<S: Scalar> Branch<S> {
    /// A branch that leaves the sensor along a ray.
    #[inline]
    pub fn new(ray: &LightRay<S>) -> Self {
        Self {
            origin: ray.origin,
            direction: ray.direction,
            throughput: S::one(),
            range: S::zero(),
            optical_range: S::zero(),
            medium: Medium::air(),
            depth: 0,
        }
    }

    /// The branch at a surface, attenuated along the segment by the Beer-Lambert law.
    #[inline]
    pub fn arrive(&self, interaction: &Interaction<S>) -> Self {
        let distance = interaction.surface.distance;
        // Most segments are in air, which has no absorption: no exponential for those.
        let throughput = match try_convert::<S, f64>(self.medium.absorption) {
            Some(0.0) => self.throughput,
            _ => self.throughput * (-self.medium.absorption * distance).exp(),
        };
        Self {
            origin: interaction.surface.point,
            throughput,
            range: self.range + distance,
            optical_range: self.optical_range + self.medium.group_index * distance,
            depth: self.depth + 1,
            ..*self
        }
    }

    /// The ray to cast where the branch leaves the surface that `ray` hit.
    pub fn cast(&self, scene: &Scene, ray: &Ray, hit: &Hit) -> Ray {
        let direction = self.direction.map(Scalar::value);
        Ray {
            origin: self.origin.map(Scalar::value),
            direction,
            near: scene.spawn_near(ray, hit, &direction),
            ..*ray
        }
    }

    /// The specular reflection of `fraction` of the power: $r = d + 2\cos\theta\\,n$.
    pub fn reflect(&self, interaction: &Interaction<S>, fraction: S) -> Self {
        Self {
            direction: self.direction + interaction.normal * (interaction.cos_incidence * 2.0),
            throughput: self.throughput * fraction,
            ..*self
        }
    }

    /// The specular transmission through a sheet or an interface.
    pub fn transmit(&self, interaction: &Interaction<S>, transmitted: &Transmitted<S>) -> Self {
        let throughput = self.throughput * transmitted.fraction;
        match transmitted.passage {
            Passage::Sheet { extra_path } => Self {
                throughput,
                optical_range: self.optical_range + extra_path,
                ..*self
            },
            Passage::Interface {
                index_ratio,
                medium,
            } => Self {
                throughput,
                direction: refract(&self.direction, interaction, index_ratio),
                medium,
                ..*self
            },
        }
    }
}

/// Snell's law, $t = \eta d + (\eta\cos\theta_i - \cos\theta_t) n$ with $\eta = n_i/n_t$.
fn refract<S: Scalar>(
    direction: &Vector3<S>,
    interaction: &Interaction<S>,
    ratio: S,
) -> Vector3<S> {
    let cos_in = interaction.cos_incidence;
    let cos_out2 = (cos_in * cos_in - 1.0) * ratio * ratio + 1.0;
    // At the critical angle the transmission is zero and the root has no derivative.
    let cos_out = if cos_out2.value() > 0.0 {
        cos_out2.sqrt()
    } else {
        S::zero()
    };
    direction * ratio + interaction.normal * (ratio * cos_in - cos_out)
}
