//! Regular grid of planar poses.

use nalgebra::{Isometry2, Vector2};
use std::f64::consts::TAU;

/// Number of yaw angles at each position.
const YAWS: u32 = 36;

/// About `count` planar poses on a regular grid over the box from `lower` to `upper`, m.
///
/// Positions have equal spacing along x and y, with 36 yaw angles over the full circle at each.
///
/// ```
/// use etendue_estimate::fit::planar_grid;
/// let poses: Vec<_> = planar_grid([-0.85, -0.4], [0.85, 0.4], 3528).collect();
/// assert_eq!(poses.len(), 14 * 7 * 36);
/// let half = 0.85 - 0.85 / 14.0;
/// assert!((poses[0].translation.x + half).abs() < 1e-12);
/// ```
pub fn planar_grid(
    lower: [f64; 2],
    upper: [f64; 2],
    count: usize,
) -> impl ExactSizeIterator<Item = Isometry2<f64>> {
    let size = [0, 1].map(|k| (upper[k] - lower[k]).max(1e-9));
    let places = (count as f64 / f64::from(YAWS)).max(1.0);
    let spacing = (size[0] * size[1] / places).sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count, saturated"
    )]
    let along = size.map(|length| (length / spacing).round().clamp(1.0, 65535.0) as u32);
    let place =
        move |k: usize, i: u32| lower[k] + size[k] * (f64::from(i) + 0.5) / f64::from(along[k]);
    let all = usize::try_from(along[0] * along[1]).unwrap_or(usize::MAX) * YAWS as usize;
    (0..all).map(move |number| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let yaw = number % YAWS;
        let cell = number / YAWS;
        let at = Vector2::new(place(0, cell / along[1]), place(1, cell % along[1]));
        Isometry2::new(at, TAU * f64::from(yaw) / f64::from(YAWS))
    })
}
