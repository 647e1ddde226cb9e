//! Light on its way from the sensor.

use super::LightRay;
use super::world::Meeting;
use etendue_physics::Scalar;
use etendue_physics::surface::{Medium, Passage, Transmitted};
use etendue_scene::{Hit, Ray, Scene};
use nalgebra::{Point3, Vector3, try_convert};

/// Light on its way: a ray and what happened to it since it left the sensor.
#[derive(Clone, Copy)]
pub(super) struct Branch<S: Scalar> {
    pub origin: Point3<S>,
    pub direction: Vector3<S>,
    /// Fraction of the power that is left.
    pub throughput: S,
    /// Length so far, m.
    pub range: S,
    /// Optical length so far, m.
    pub optical_range: S,
    /// What it travels in.
    pub medium: Medium<S>,
    /// Surfaces met.
    pub depth: u32,
}

impl<S: Scalar> Branch<S> {
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

    /// Travels to a surface (Beer and Lambert's law on the way).
    #[inline]
    pub fn arrive(&self, meeting: &Meeting<S>) -> Self {
        let distance = meeting.surface.distance;
        // Most ways are through air, which takes nothing away: no exponential for those.
        let throughput = match try_convert::<S, f64>(self.medium.absorption) {
            Some(0.0) => self.throughput,
            _ => self.throughput * (-self.medium.absorption * distance).exp(),
        };
        Self {
            origin: meeting.surface.point,
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

    /// $r = d + 2\cos\theta\\,n$
    pub fn reflect(&self, meeting: &Meeting<S>, fraction: S) -> Self {
        Self {
            direction: self.direction + meeting.normal * (meeting.cos_incidence * 2.0),
            throughput: self.throughput * fraction,
            ..*self
        }
    }

    pub fn transmit(&self, meeting: &Meeting<S>, transmitted: &Transmitted<S>) -> Self {
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
                direction: refract(&self.direction, meeting, index_ratio),
                medium,
                ..*self
            },
        }
    }
}

/// Snell's law, $t = \eta d + (\eta\cos\theta_i - \cos\theta_t) n$ with $\eta = n_i/n_t$.
fn refract<S: Scalar>(direction: &Vector3<S>, meeting: &Meeting<S>, ratio: S) -> Vector3<S> {
    let cos_in = meeting.cos_incidence;
    let cos_out2 = (cos_in * cos_in - 1.0) * ratio * ratio + 1.0;
    // At the critical angle nothing passes, and the root has no derivative there.
    let cos_out = if cos_out2.value() > 0.0 {
        cos_out2.sqrt()
    } else {
        S::zero()
    };
    direction * ratio + meeting.normal * (ratio * cos_in - cos_out)
}
