//! Beams that are drawn from calibrated noise.

use crate::transport::{Return, World};
use etendue_physics::Scalar;
use etendue_physics::profile::Profile;
use etendue_scene::MaterialId;

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
}

/// A surface that a profile speaks of, as a beam sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profiled<'a> {
    pub profile: &'a Profile,
    /// Range, m.
    pub range: f64,
    /// Incidence, rad.
    pub incidence: f64,
}

impl Lit {
    /// Counts a return of a power.
    pub fn see<S: Scalar>(&mut self, back: &Return<S>, power: f64) {
        self.all += power;
        if back.depth > 1 || back.scatterings > 1 {
            return;
        }
        if self.material != Some(back.material) {
            if self.power > power {
                return;
            }
            *self = Self {
                material: Some(back.material),
                all: self.all,
                ..Self::default()
            };
        }
        self.power += power;
        self.range += power * back.optical_range.value();
        self.cos += power * back.cos_incidence.value();
    }

    /// The surface, if it alone is seen and has a profile.
    pub fn profiled<'a, S: Scalar>(&self, world: &World<'a, S>) -> Option<Profiled<'a>> {
        let material = self.material.filter(|_| self.power >= SHARE * self.all)?;
        let profile = world.scene().profile(material)?;
        Some(Profiled {
            profile,
            range: self.range / self.power,
            incidence: (self.cos / self.power).clamp(0.0, 1.0).acos(),
        })
    }
}
