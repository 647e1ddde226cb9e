//! Voxel-grid sampling.

use nalgebra::Vector3;
use std::collections::BTreeSet;

/// Voxel-grid sampling: ascending indices of the first point in every voxel of side `size`, m.
///
/// The samples are measured points, not means, so that each has its angle of incidence.
///
/// ```
/// use etendue_estimate::geometry::one_per_voxel;
/// use nalgebra::Vector3;
/// let points = [0.01, 0.05, 0.25].map(|x| Vector3::new(x, 0.0, 0.0));
/// assert_eq!(one_per_voxel(&points, 0.2), [0, 2]);
/// ```
pub fn one_per_voxel(points: &[Vector3<f64>], size: f64) -> Vec<u32> {
    let mut occupied = BTreeSet::new();
    let numbered = (0..).zip(points);
    numbered
        .filter(|(_, point)| occupied.insert(voxel_of(point, size)))
        .map(|(number, _)| number)
        .collect()
}

/// Index of the voxel of side `size` (m) that contains a point.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a saturated voxel index is still a voxel"
)]
pub fn voxel_of(point: &Vector3<f64>, size: f64) -> [i64; 3] {
    [0, 1, 2].map(|i| (point[i] / size).floor() as i64)
}
