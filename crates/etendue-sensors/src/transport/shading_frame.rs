//! Orthonormal frame of a surface.

use nalgebra::{Matrix3, Vector3};

/// Right-handed orthonormal frame with the unit vector `normal` as its z axis; the columns are the
/// axes.
///
/// Duff et al. (2017), "Building an orthonormal basis, revisited", JCGT 6(1), with a step between its two forms a little
/// below the horizon: the frame of a vertical surface does not depend on rounding or on the sign of a zero.
pub(crate) fn shading_frame(normal: &Vector3<f64>) -> Matrix3<f64> {
    let sign = if normal.z < -1e-4 { -1.0 } else { 1.0 };
    let a = -1.0 / (sign + normal.z);
    let b = normal.x * normal.y * a;
    Matrix3::from_columns(&[
        Vector3::new(
            1.0 + sign * normal.x * normal.x * a,
            sign * b,
            -sign * normal.x,
        ),
        Vector3::new(b, sign + normal.y * normal.y * a, -normal.y),
        *normal,
    ])
}
