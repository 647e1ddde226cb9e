//! Even sampling.

use nalgebra::Vector3;
use std::collections::BTreeSet;

/// Numbers of the points that are the first in their cube of side `size` (m), in rising order:
/// measured points, not means, because every point keeps its own incidence.
///
/// ```
/// use etendue_calibrate::depth::features::one_per_voxel;
/// use nalgebra::Vector3;
/// let points = [0.01, 0.05, 0.25].map(|x| Vector3::new(x, 0.0, 0.0));
/// assert_eq!(one_per_voxel(&points, 0.2), [0, 2]);
/// ```
pub fn one_per_voxel(points: &[Vector3<f64>], size: f64) -> Vec<u32> {
    let mut taken = BTreeSet::new();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a saturated cell number is still a cell"
    )]
    let cell = |p: &Vector3<f64>| [0, 1, 2].map(|i| (p[i] / size).floor() as i64);
    let numbered = (0..).zip(points);
    numbered
        .filter(|(_, point)| taken.insert(cell(point)))
        .map(|(number, _)| number)
        .collect()
}
