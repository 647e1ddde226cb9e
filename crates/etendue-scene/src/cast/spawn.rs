//! How far a ray that starts on a surface must go before it can meet another one.

use nalgebra::Vector3;

/// Unit round-off of `f64`.
const ROUND_OFF: f64 = f64::EPSILON * 0.5;

/// The least distance along `direction` beyond which a ray that starts `offset` from a corner of a
/// triangle, on its plane but for rounding, cannot meet the triangle again (m). `direction` and the
/// unit `normal` are in the frame of `offset`, the `edges` from that corner in any.
///
/// The start stands off the plane by its own residual and by the rounding of what was computed with
/// coordinates as large as `reach`; the ray needs that height over the cosine of its angle to leave
/// it, and never more than the triangle is long.
pub(crate) fn spawn_near(
    offset: &Vector3<f64>,
    direction: &Vector3<f64>,
    normal: &Vector3<f64>,
    edges: &[Vector3<f64>; 2],
    reach: f64,
) -> f64 {
    let area = edges[0].cross(&edges[1]).norm();
    let [first, second] = [edges[0].norm(), edges[1].norm()];
    let longest = first + second;
    let rounding = 32.0 * ROUND_OFF * reach;
    if area == 0.0 {
        return longest + rounding;
    }
    // The normal's own rounding, and that of its turn into the frame.
    let tilt = 12.0 * ROUND_OFF * first * second / area;
    let height = offset.dot(normal).abs() + tilt * longest + rounding;
    2.0 * (height / direction.dot(normal).abs()).min(longest + rounding)
}
