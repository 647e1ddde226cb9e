//! Beams that are drawn from calibrated noise.

use crate::transport::{Return, World};
use etendue_physics::Scalar;
use etendue_physics::profile::{Aspect, Profile};
use etendue_scene::MaterialId;
use nalgebra::Vector3;

/// A beam whose light comes by at least this share from one material is drawn from that material's
/// profile; of the rest, at edges, a profile says nothing.
const SHARE: f64 = 0.9;

/// Collects where a beam's light comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lit {
    material: Option<MaterialId>,
    power: f64,
    all: f64,
    range: f64,
    cos: f64,
    /// Sum of the normals, away from the sensor.
    normal: Vector3<f64>,
    /// Sum of normal times direction of the light.
    turn: Vector3<f64>,
}

/// Light that comes straight back from a surface.
pub(crate) struct Direct {
    pub material: MaterialId,
    pub power: f64,
    /// Half the optical path, m.
    pub range: f64,
    pub cos_incidence: f64,
    /// Of the surface, on either side.
    pub normal: Vector3<f64>,
    /// Direction in which the light arrives there.
    pub arrival: Vector3<f64>,
}

/// A surface that a profile speaks of, as a beam sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profiled<'a> {
    pub profile: &'a Profile,
    /// Range, m.
    pub range: f64,
    /// How it is met.
    pub aspect: Aspect,
}

impl Lit {
    /// Counts a return of a power.
    pub fn see<S: Scalar>(&mut self, back: &Return<S>, power: f64) {
        if back.depth > 1 || back.scatterings > 1 {
            self.all += power;
            return;
        }
        self.add(&Direct {
            material: back.material,
            power,
            range: back.optical_range.value(),
            cos_incidence: back.cos_incidence.value(),
            normal: back.hit.normal,
            arrival: back.arrival.map(Scalar::value),
        });
    }

    /// Counts light that comes straight back.
    pub fn add(&mut self, light: &Direct) {
        let power = light.power;
        self.all += power;
        if self.material != Some(light.material) {
            if self.power > power {
                return;
            }
            *self = Self {
                material: Some(light.material),
                all: self.all,
                ..Self::default()
            };
        }
        self.power += power;
        self.range += power * light.range;
        self.cos += power * light.cos_incidence;
        let away = light.normal * light.normal.dot(&light.arrival).signum();
        self.normal += away * power;
        self.turn += away.cross(&light.arrival) * power;
    }

    /// The surface, if it alone is seen and has a profile; `up` is the sensor's axis in the world.
    pub fn profiled<'a, S: Scalar>(
        &self,
        world: &World<'a, S>,
        up: impl FnOnce() -> Vector3<f64>,
    ) -> Option<Profiled<'a>> {
        let material = self.material.filter(|_| self.power >= SHARE * self.all)?;
        let profile = world.scene().profile(material)?;
        let incidence = (self.cos / self.power).clamp(0.0, 1.0).acos();
        let side = match profile.glare {
            Some(_) => self.side(&up(), incidence.sin()),
            None => 0.0,
        };
        Some(Profiled {
            profile,
            range: self.range / self.power,
            aspect: Aspect { incidence, side },
        })
    }

    /// On which side of the normal the light arrives: with the normal $n$ away from the sensor, the
    /// surface's left is $u\\times n$, and the light's direction $d$ has $d\\cdot(u\\times n) =
    /// u\\cdot(n\\times d)$ of it, out of the sine of the incidence. Neither, where the sensor's axis
    /// is the normal.
    fn side(&self, up: &Vector3<f64>, sine: f64) -> f64 {
        let all = up.cross(&self.normal).norm() * sine;
        if all > 1e-9 * self.power {
            (up.dot(&self.turn) / all).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }
}
