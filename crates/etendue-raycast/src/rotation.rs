//! Rotations of vectors by unit quaternions.

use nalgebra::{RealField, UnitQuaternion, Vector3};
use std::ops::{Add, Mul};

/// Rotates a vector without derivatives by a unit quaternion $(w, u)$:
/// $v + 2w\\,(u \times v) + 2u \times (u \times v)$.
///
/// nalgebra's generic product takes several times as long for dual numbers.
#[inline]
pub fn rotate<S>(rotation: &UnitQuaternion<S>, v: &Vector3<f64>) -> Vector3<S>
where
    S: RealField + Copy + Mul<f64, Output = S> + Add<f64, Output = S>,
{
    let u = rotation.imag();
    let twice = Vector3::new(
        (u.y * v.z - u.z * v.y) * 2.0,
        (u.z * v.x - u.x * v.z) * 2.0,
        (u.x * v.y - u.y * v.x) * 2.0,
    );
    let across = u.cross(&twice);
    let part = |axis: usize| across[axis] + rotation.w * twice[axis] + v[axis];
    Vector3::new(part(0), part(1), part(2))
}

/// [`rotate`] of sixteen vectors, with the same operations and therefore the same bits.
#[inline(always)]
pub(crate) fn rotate_lanes(rotation: &UnitQuaternion<f64>, v: &[[f64; 16]; 3]) -> [[f64; 16]; 3] {
    let u = rotation.imag();
    let mut result = [[0.0; 16]; 3];
    for i in 0..16 {
        let [x, y, z] = [v[0][i], v[1][i], v[2][i]];
        let [tx, ty, tz] = [
            (u.y * z - u.z * y) * 2.0,
            (u.z * x - u.x * z) * 2.0,
            (u.x * y - u.y * x) * 2.0,
        ];
        result[0][i] = (u.y * tz - u.z * ty) + rotation.w * tx + x;
        result[1][i] = (u.z * tx - u.x * tz) + rotation.w * ty + y;
        result[2][i] = (u.x * ty - u.y * tx) + rotation.w * tz + z;
    }
    result
}
