//! Removal of veiling points: mixed ranges behind edges.

use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Side of the cells of directions, rad.
const CELL: f64 = PI / HALF_TURN as f64;
/// Number of cells in half a turn.
const HALF_TURN: i32 = 300;

/// Indices of the points that are not veiling points, in ascending order. A beam that partially hits an edge
/// has a range between the edge and the background, so that such points are aligned along the beam. A point
/// is removed if the line to a nearer point in a neighbouring direction makes less than `angle` (rad) with
/// its beam. This also removes points just next to an edge, and walls at an incidence above pi/2 less the
/// angle.
///
/// Points are in the lidar frame, m, with beams from the origin.
///
/// ```
/// use etendue_calibrate::depth::features::without_shadows;
/// use nalgebra::Vector3;
/// let beam = |degrees: f64, depth: f64| {
///     let (sin, cos) = degrees.to_radians().sin_cos();
///     Vector3::new(depth * cos, depth * sin, 0.0)
/// };
/// let edge: Vec<_> = (0..5).map(|i| beam(0.5 * f64::from(i), 4.0)).collect();
/// let shadow = beam(2.4, 5.0);
/// let points: Vec<_> = edge.into_iter().chain([shadow]).collect();
/// assert_eq!(without_shadows(&points, 5_f64.to_radians()), [0, 1, 2, 3, 4]);
/// ```
pub fn without_shadows(points: &[Vector3<f64>], angle: f64) -> Vec<u32> {
    let mut cells: BTreeMap<[i32; 2], Vec<u32>> = BTreeMap::new();
    for (number, point) in (0..).zip(points) {
        cells.entry(key(point)).or_default().push(number);
    }
    let cosine = angle.cos();
    let in_shadow = |point: &Vector3<f64>| {
        let [azimuth, elevation] = key(point);
        let near = (-1..=1).flat_map(|a| (-1..=1).map(move |e| [azimuth + a, elevation + e]));
        near.filter_map(|cell| cells.get(&wrapped(cell)))
            .flatten()
            .any(|&other| shades(&points[other as usize], point, cosine))
    };
    let numbered = (0..).zip(points);
    numbered
        .filter(|(_, p)| !in_shadow(p))
        .map(|(i, _)| i)
        .collect()
}

/// Cell of the direction of a point: azimuth and elevation.
#[expect(clippy::cast_possible_truncation, reason = "an angle in small steps")]
fn key(p: &Vector3<f64>) -> [i32; 2] {
    let level = p.x.hypot(p.y);
    [p.y.atan2(p.x), p.z.atan2(level)].map(|angle| (angle / CELL).floor() as i32)
}

/// The cell with its azimuth wrapped to half a turn on either side.
fn wrapped([azimuth, elevation]: [i32; 2]) -> [i32; 2] {
    let turned = if azimuth >= HALF_TURN {
        azimuth - 2 * HALF_TURN
    } else if azimuth < -HALF_TURN {
        azimuth + 2 * HALF_TURN
    } else {
        azimuth
    };
    [turned, elevation]
}

/// Whether `point` is behind `edge`, nearly collinear with the lidar.
fn shades(edge: &Vector3<f64>, point: &Vector3<f64>, cosine: f64) -> bool {
    let back = edge - point;
    let length = back.norm();
    length > 1e-9 && -back.dot(point) > cosine * length * point.norm()
}
