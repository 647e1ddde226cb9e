//! Numbers as the shaders take them.

use nalgebra::{Isometry3, Point3, Vector3};

/// A number as the sum of two `f32`, the larger first, to about 48 bits.
#[expect(clippy::cast_possible_truncation, reason = "the rest is kept")]
pub(crate) fn double_single(x: f64) -> [f32; 2] {
    let high = x as f32;
    if !high.is_finite() {
        return [high.clamp(-FARTHEST, FARTHEST), 0.0];
    }
    [high, (x - f64::from(high)) as f32]
}

/// Two numbers in double-single form.
pub(crate) fn pairs([one, two]: [f64; 2]) -> [f32; 4] {
    let [a, b] = [one, two].map(double_single);
    [a[0], a[1], b[0], b[1]]
}

/// Four numbers in `f32`, for powers and noise.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute powers and noise in f32"
)]
pub(crate) fn rounded(numbers: [f64; 4]) -> [f32; 4] {
    numbers.map(|number| number as f32)
}

/// The number that stands for infinite distances in the shaders, m.
pub(crate) const FARTHEST: f32 = 1e30;

/// A number of [`double_single`].
pub(crate) fn joined([high, low]: [f32; 2]) -> f64 {
    f64::from(high) + f64::from(low)
}

/// A point in double-single numbers.
pub(crate) fn point(p: &Point3<f64>) -> [f32; 6] {
    vector(&p.coords)
}

/// A vector in double-single numbers.
pub(crate) fn vector(v: &Vector3<f64>) -> [f32; 6] {
    let [x, y, z] = [v.x, v.y, v.z].map(double_single);
    [x[0], x[1], y[0], y[1], z[0], z[1]]
}

/// A pose in double-single numbers: the rotation matrix by rows, then the translation.
pub(crate) fn pose(pose: &Isometry3<f64>) -> [f32; 24] {
    let rotation = pose.rotation.to_rotation_matrix();
    let mut numbers = [0.0; 24];
    let rows = (0..3).flat_map(|row| (0..3).map(move |column| (row, column)));
    let parts = rows.map(|at| rotation.matrix()[at]);
    let all = parts.chain(pose.translation.vector.iter().copied());
    for (pair, x) in numbers.chunks_exact_mut(2).zip(all) {
        pair.copy_from_slice(&double_single(x));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_single_keeps_45_bits() {
        for x in [0.0, 1.0 / 3.0, -123_456.789_012_345, 1e-3, 299_792_458.1] {
            let error = (joined(double_single(x)) - x).abs();
            assert!(error <= x.abs() * 2.0_f64.powi(-45), "{x}: {error}");
        }
        assert_eq!(double_single(f64::INFINITY), [FARTHEST, 0.0]);
    }
}
