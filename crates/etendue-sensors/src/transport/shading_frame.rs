//! Orthonormal frame of a surface.

use etendue_physics::Scalar;
use nalgebra::{Matrix3, Vector3};

/// Right-handed orthonormal frame with the unit vector `normal` as its z axis; the columns are the
/// axes.
///
/// Duff et al. (2017), "Building an orthonormal basis, revisited", JCGT 6(1), with a step between its two forms a little
/// below the horizon: the frame of a vertical surface does not depend on rounding or on the sign of a zero.
pub(crate) fn shading_frame<S: Scalar>(normal: &Vector3<S>) -> Matrix3<S> {
    let sign = if normal.z.value() < -1e-4 { -1.0 } else { 1.0 };
    let a = S::from(-1.0) / (normal.z + sign);
    let b = normal.x * normal.y * a;
    Matrix3::from_columns(&[
        Vector3::new(
            normal.x * sign * normal.x * a + 1.0,
            b * sign,
            -normal.x * sign,
        ),
        Vector3::new(b, normal.y * normal.y * a + sign, -normal.y),
        *normal,
    ])
}
