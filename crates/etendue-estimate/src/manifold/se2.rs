//! Exponential and logarithm of SE(2), the rigid motions of the plane.
//!
//! A twist is $(v_x, v_y, \omega)$ in m, m, rad: a constant body-fixed velocity over unit time.
//! Source: Solà, Deray, Atchuthan 2018, "A micro Lie theory for state estimation in robotics", eqs.
//! 156 to 163 (arXiv:1812.01537).

use etendue_physics::Scalar;
use nalgebra::{Isometry2, Translation2, UnitComplex, Vector2, Vector3};

/// Angle below which Taylor series replace the quotients, rad; the first omitted term is below 1e-18.
const SMALL: f64 = 1e-3;

/// Exponential map: the motion of a twist (m, m, rad) over unit time.
///
/// ```
/// use etendue_estimate::manifold::se2;
/// use nalgebra::Vector3;
/// use std::f64::consts::PI;
///
/// // Half a turn along an arc of length pi ends two radii to the left.
/// let half_turn = se2::exp(&Vector3::new(PI, 0.0, PI));
/// assert!((half_turn.translation.vector.y - 2.0).abs() < 1e-12);
/// ```
pub fn exp<S: Scalar>(twist: &Vector3<S>) -> Isometry2<S> {
    let angle = twist.z;
    let (along, across) = arc(angle);
    let shift = Vector2::new(
        along * twist.x - across * twist.y,
        across * twist.x + along * twist.y,
    );
    Isometry2::from_parts(Translation2::from(shift), UnitComplex::new(angle))
}

/// Logarithm: the twist (m, m, rad) whose [`exp`] is `pose`, with the angle in (-pi, pi].
pub fn log<S: Scalar>(pose: &Isometry2<S>) -> Vector3<S> {
    let angle = pose.rotation.angle();
    let (along, across) = arc(angle);
    let square = along * along + across * across;
    let shift = &pose.translation.vector;
    Vector3::new(
        (along * shift.x + across * shift.y) / square,
        (along * shift.y - across * shift.x) / square,
        angle,
    )
}

/// $\sin\omega/\omega$ and $(1-\cos\omega)/\omega$.
fn arc<S: Scalar>(angle: S) -> (S, S) {
    if angle.value().abs() < SMALL {
        let square = angle * angle;
        let along = (square / 120.0 - 1.0 / 6.0) * square + 1.0;
        let across = ((square / 720.0 - 1.0 / 24.0) * square + 0.5) * angle;
        return (along, across);
    }
    let (sin, cos) = angle.sin_cos();
    (sin / angle, (-cos + 1.0) / angle)
}
