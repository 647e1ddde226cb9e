//! Mean and sample covariance of points.

use nalgebra::{Matrix3, Vector3};

/// Mean of points, m; zero for an empty set.
pub fn mean(points: impl ExactSizeIterator<Item = Vector3<f64>>) -> Vector3<f64> {
    let count = points.len().max(1) as f64;
    points.sum::<Vector3<f64>>() / count
}

/// Sample covariance about `mean` with the divisor $n-1$ (m²).
pub fn covariance(
    points: impl ExactSizeIterator<Item = Vector3<f64>>,
    mean: &Vector3<f64>,
) -> Matrix3<f64> {
    let divisor = points.len().saturating_sub(1).max(1) as f64;
    let mut sum = Matrix3::zeros();
    for point in points {
        let from_mean = point - mean;
        sum.ger(1.0, &from_mean, &from_mean, 1.0);
    }
    sum / divisor
}
