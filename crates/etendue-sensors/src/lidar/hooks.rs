//! Changes to the light of a sweep, for estimation.

use crate::transport::{LightRay, ReturnFactor};
use etendue_physics::Scalar;
use etendue_physics::atmosphere::Atmosphere;

/// A ray that carries a share of a beam's power next to the beam's own rays. For changes by edges,
/// shares may be zero with derivatives, or negative.
#[derive(Clone, Copy, Debug)]
pub struct ExtraRay<S: Scalar> {
    /// The ray, in the world.
    pub ray: LightRay<S>,
    /// Its share of the beam's power.
    pub share: S,
}

/// Appends the extra rays of a shot, by its number.
pub type ExtraRays<'a, S> = dyn Fn(usize, &mut Vec<ExtraRay<S>>) + Sync + 'a;

/// Changes to the light of a sweep.
#[derive(Clone, Copy)]
pub struct Hooks<'a, S: Scalar> {
    /// The weather in place of that of [`SweepSettings::air`](super::SweepSettings::air), with
    /// derivatives.
    pub atmosphere: Option<&'a Atmosphere<S>>,
    /// Factor on the power of every return, by the number of its shot and its hit.
    pub factor: Option<&'a ReturnFactor<'a, S>>,
    /// Rays added to those of a shot.
    pub extra_rays: Option<&'a ExtraRays<'a, S>>,
}

impl<S: Scalar> Default for Hooks<'_, S> {
    fn default() -> Self {
        Self {
            atmosphere: None,
            factor: None,
            extra_rays: None,
        }
    }
}
