//! Hooks: modifications of the light of a sweep, for estimation.

use crate::transport::{LightRay, ReturnFactor};
use etendue_physics::Scalar;
use etendue_physics::atmosphere::Atmosphere;

/// A ray in addition to the rays of a beam, with a share of the beam's power.
///
/// Derivatives with respect to the motion of silhouette edges use rays whose share is zero with non-zero
/// derivatives, or negative.
#[derive(Clone, Copy, Debug)]
pub struct ExtraRay<S: Scalar> {
    /// The ray, in the world.
    pub ray: LightRay<S>,
    /// Share of the beam's power.
    pub share: S,
}

/// Function that appends the extra rays of a shot, by its index in the sweep.
pub type ExtraRays<'a, S> = dyn Fn(usize, &mut Vec<ExtraRay<S>>) + Sync + 'a;

/// Modifications of the light of a sweep.
#[derive(Clone, Copy)]
pub struct Hooks<'a, S: Scalar> {
    /// Atmosphere that replaces that of [`SweepSettings::air`](super::SweepSettings::air) and may carry
    /// derivatives.
    pub atmosphere: Option<&'a Atmosphere<S>>,
    /// Factor on the power of every return, as a function of the index of its shot and its hit.
    pub factor: Option<&'a ReturnFactor<'a, S>>,
    /// Rays in addition to those of the beams.
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
