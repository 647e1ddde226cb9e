//! Points and directions for Monte Carlo and quasi-Monte Carlo integration.

use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

/// A unit direction above the surface with the density $\\cos\\theta/\\pi$ (Lambert's law), from two
/// uniform numbers in [0, 1); z is the normal.
///
/// ```
/// use etendue_physics::surface::sample_cosine_hemisphere;
/// assert_eq!(sample_cosine_hemisphere([0.0, 0.3]).z, 1.0);
/// assert!((sample_cosine_hemisphere([0.75, 0.3]).z - 0.5).abs() < 1e-15);
/// ```
pub fn sample_cosine_hemisphere([u, v]: [f64; 2]) -> Vector3<f64> {
    let radius = u.sqrt();
    let azimuth = TAU * v;
    // 1 - u is never zero, so the direction never lies in the surface.
    Vector3::new(
        radius * azimuth.cos(),
        radius * azimuth.sin(),
        (1.0 - u).sqrt(),
    )
}

/// Density of [`sample_cosine_hemisphere`] at a cosine to the normal, 1/sr.
pub(super) fn cosine_hemisphere_pdf(cos: f64) -> f64 {
    cos.max(0.0) / PI
}

/// A direction if it is above the surface.
pub(super) fn above(direction: Vector3<f64>) -> Option<Vector3<f64>> {
    (direction.z > 0.0).then_some(direction)
}

/// Low-discrepancy points of the unit cube: the additive recurrence with the root of
/// $x^4 = x + 1$ (Roberts 2018, "The unreasonable effectiveness of quasirandom sequences").
pub(super) fn evenly_spread(count: u32) -> impl Iterator<Item = [f64; 3]> {
    const ROOT: f64 = 1.220_744_084_605_759_6;
    let steps = [1.0 / ROOT, 1.0 / (ROOT * ROOT), 1.0 / (ROOT * ROOT * ROOT)];
    (0..count).map(move |i| steps.map(|step| (0.5 + f64::from(i) * step).fract()))
}
