//! Angles modulo a full turn.

use std::f64::consts::{PI, TAU};

/// The equivalent angle in $[-\pi, \pi)$, rad.
///
/// ```
/// use etendue_physics::angle::wrap_to_pi;
/// let angle = wrap_to_pi(350_f64.to_radians());
/// assert!((angle + 10_f64.to_radians()).abs() < 1e-12);
/// ```
pub fn wrap_to_pi(angle: f64) -> f64 {
    (angle + PI).rem_euclid(TAU) - PI
}
