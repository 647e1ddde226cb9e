//! Self-intersection: the near limit of rays that start on a surface.

use nalgebra::Vector3;

/// Unit round-off of `f64`.
const ROUND_OFF: f64 = f64::EPSILON * 0.5;

/// The distance (m) along `direction` beyond which a ray from a triangle's plane, up to rounding, cannot
/// intersect the triangle again. `offset` is the ray's origin relative to a corner of the triangle.
/// `direction` and the unit `normal` are in the frame of `offset`, the `edges` from that corner in any.
///
/// The origin's height over the plane is its own residual plus the rounding of computations with
/// coordinates as large as `reach`. The ray leaves the plane after that height over the cosine of its
/// angle, and the triangle after at most its own length.
pub(crate) fn spawn_near(
    offset: &Vector3<f64>,
    direction: &Vector3<f64>,
    normal: &Vector3<f64>,
    edges: &[Vector3<f64>; 2],
    reach: f64,
) -> f64 {
    let area = edges[0].cross(&edges[1]).norm();
    let first = edges[0].norm();
    let second = edges[1].norm();
    let longest = first + second;
    let rounding = 32.0 * ROUND_OFF * reach;
    if area == 0.0 {
        return longest + rounding;
    }
    // Rounding of the normal and of its rotation into the frame.
    let tilt = 12.0 * ROUND_OFF * first * second / area;
    let height = offset.dot(normal).abs() + tilt * longest + rounding;
    2.0 * (height / direction.dot(normal).abs()).min(longest + rounding)
}
