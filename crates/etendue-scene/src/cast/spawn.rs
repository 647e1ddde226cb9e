//! How far a ray that starts on a surface must go before it can meet another one.

use nalgebra::{Point3, Vector3};

/// Unit round-off of `f64`.
const ROUND_OFF: f64 = f64::EPSILON * 0.5;

/// The least distance along `direction` beyond which a ray that starts at the rounded point
/// `start` cannot meet the triangle `corners` again (all in one frame, m).
///
/// The start stands off the triangle's plane by its own residual and by the rounding of what was
/// computed with coordinates as large as `reach`; the ray needs that height over the cosine of its
/// angle to leave it, and never more than the triangle is long.
pub(crate) fn spawn_near(
    start: &Point3<f64>,
    direction: &Vector3<f64>,
    corners: [Point3<f64>; 3],
    reach: f64,
) -> f64 {
    let edges = [corners[1] - corners[0], corners[2] - corners[0]];
    let across = edges[0].cross(&edges[1]);
    let longest = edges[0].norm() + edges[1].norm();
    let area = across.norm();
    let rounding = 32.0 * ROUND_OFF * reach;
    if area == 0.0 {
        return longest + rounding;
    }
    let normal = across / area;
    let tilt = 8.0 * ROUND_OFF * edges[0].norm() * edges[1].norm() / area;
    let height = (start - corners[0]).dot(&normal).abs() + tilt * longest + rounding;
    2.0 * (height / direction.dot(&normal).abs()).min(longest + rounding)
}
