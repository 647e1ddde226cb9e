//! Exponential and logarithm of SE(3), the rigid motions of space.
//!
//! A twist is $(v, \omega)$: translation in m and rotation in rad of a constant body-fixed velocity
//! over unit time. Source: Solà, Deray, Atchuthan 2018, "A micro Lie theory for state estimation in
//! robotics", eqs. 172 to 179 (arXiv:1812.01537).

use etendue_physics::Scalar;
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3, Vector6};

/// Squared angle below which Taylor series replace the quotients, rad²; the first omitted term is below
/// 1e-15.
const SMALL_SQUARE: f64 = 1e-5;

/// Exponential map: the motion of a twist (m, rad) over unit time.
///
/// ```
/// use etendue_estimate::manifold::se3;
/// use nalgebra::Vector6;
///
/// let twist = Vector6::new(0.3, -0.1, 0.2, 0.5, -1.0, 0.7);
/// let back = se3::log(&se3::exp(&twist));
/// assert!((back - twist).norm() < 1e-14);
/// ```
pub fn exp<S: Scalar>(twist: &Vector6<S>) -> Isometry3<S> {
    let (v, w) = split(twist);
    let square = w.norm_squared();
    let (versine, excess) = coefficients(square);
    let turned = w.cross(&v);
    let shift = v + turned * versine + w.cross(&turned) * excess;
    Isometry3::from_parts(Translation3::from(shift), rotation_exp(&w))
}

/// Logarithm: the twist (m, rad) whose [`exp`] is `pose`, with the rotation angle in [0, pi].
pub fn log<S: Scalar>(pose: &Isometry3<S>) -> Vector6<S> {
    let w = rotation_log(&pose.rotation);
    let t = pose.translation.vector;
    let turned = w.cross(&t);
    let v = t - turned * S::from(0.5) + w.cross(&turned) * inverse_coefficient(w.norm_squared());
    Vector6::new(v.x, v.y, v.z, w.x, w.y, w.z)
}

/// Rotation of the rotation vector `w`: about its direction by its length, rad.
pub fn rotation_exp<S: Scalar>(w: &Vector3<S>) -> UnitQuaternion<S> {
    let square = w.norm_squared();
    let (real, ratio) = if square.value() < SMALL_SQUARE {
        (
            (square / 384.0 - 0.125) * square + 1.0,
            (square / 3840.0 - 1.0 / 48.0) * square + 0.5,
        )
    } else {
        let angle = square.sqrt();
        let (sin, cos) = (angle * 0.5).sin_cos();
        (cos, sin / angle)
    };
    let imaginary = w * ratio;
    UnitQuaternion::new_unchecked(Quaternion::from_parts(real, imaginary))
}

/// Rotation vector of a rotation, rad, of length at most pi.
pub fn rotation_log<S: Scalar>(rotation: &UnitQuaternion<S>) -> Vector3<S> {
    let near = if rotation.w.value() < 0.0 { -1.0 } else { 1.0 };
    let real = rotation.w * near;
    let imaginary = rotation.imag() * S::from(near);
    let square = imaginary.norm_squared();
    let ratio = if square.value() < SMALL_SQUARE {
        let tangent = square / (real * real);
        ((tangent / 5.0 - 1.0 / 3.0) * tangent + 1.0) * 2.0 / real
    } else {
        let length = square.sqrt();
        length.atan2(real) * 2.0 / length
    };
    imaginary * ratio
}

/// Translation and rotation of a twist.
fn split<S: Scalar>(twist: &Vector6<S>) -> (Vector3<S>, Vector3<S>) {
    (
        Vector3::new(twist[0], twist[1], twist[2]),
        Vector3::new(twist[3], twist[4], twist[5]),
    )
}

/// $(1-\cos\omega)/\omega^2$ and $(\omega-\sin\omega)/\omega^3$ of $\omega^2$.
fn coefficients<S: Scalar>(square: S) -> (S, S) {
    if square.value() < SMALL_SQUARE {
        return (
            (square / 720.0 - 1.0 / 24.0) * square + 0.5,
            (square / 5040.0 - 1.0 / 120.0) * square + 1.0 / 6.0,
        );
    }
    let angle = square.sqrt();
    let (sin, cos) = angle.sin_cos();
    ((-cos + 1.0) / square, (angle - sin) / (square * angle))
}

/// $1/\omega^2 - \cot(\omega/2)/(2\omega)$ of $\omega^2$: finite up to half a turn and beyond.
fn inverse_coefficient<S: Scalar>(square: S) -> S {
    if square.value() < SMALL_SQUARE {
        return (square / 30240.0 + 1.0 / 720.0) * square + 1.0 / 12.0;
    }
    let angle = square.sqrt();
    let (sin, cos) = (angle * 0.5).sin_cos();
    square.recip() - cos / (sin * angle * 2.0)
}
