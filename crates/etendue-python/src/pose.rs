//! Poses of arguments and results.

use crate::arrays::{check_finite, floats, wrong_shape};
use nalgebra::{Isometry3, Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Largest deviation of a rotation matrix from orthonormal, and of the norm of a quaternion from 1: above the
/// rounding of `float32`.
const TOLERANCE: f64 = 1e-5;

/// The pose of the argument `name`: a homogeneous matrix (4, 4), or a tuple of a position (m) and a
/// quaternion (x, y, z, w).
pub fn pose(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Isometry3<f64>> {
    if let Ok(pair) = value.cast::<PyTuple>()
        && pair.len() == 2
    {
        return of_pair(name, &pair.get_item(0)?, &pair.get_item(1)?);
    }
    let matrix = floats(name, value)?;
    if matrix.shape != [4, 4] {
        let expected =
            "(4, 4), or a tuple of a position (3,) and a quaternion (4,) in the order x, y, z, w";
        return Err(wrong_shape(name, expected, &matrix.shape));
    }
    of_matrix(name, &matrix.values)
}

/// The poses of the argument `name`, of the shape (n, 4, 4).
pub fn poses(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Isometry3<f64>>> {
    let matrices = floats(name, value)?;
    if !matches!(matrices.shape[..], [_, 4, 4]) {
        return Err(wrong_shape(name, "(n, 4, 4)", &matrices.shape));
    }
    let matrices = matrices.values.chunks_exact(16).enumerate();
    let poses = matrices.map(|(number, matrix)| of_matrix(&format!("{name}[{number}]"), matrix));
    poses.collect()
}

/// Homogeneous matrix of a pose, by rows.
pub fn matrix(pose: &Isometry3<f64>) -> Vec<f64> {
    pose.to_homogeneous().transpose().iter().copied().collect()
}

/// Pose of a homogeneous matrix, by rows.
fn of_matrix(name: &str, matrix: &[f64]) -> PyResult<Isometry3<f64>> {
    // Check the numbers, the last row and the rotation.
    check_finite(name, matrix)?;
    if matrix[12..] != [0.0, 0.0, 0.0, 1.0] {
        let text = format!(
            "{name}: the last row has to be 0, 0, 0, 1, it is {:?}",
            &matrix[12..]
        );
        return Err(PyValueError::new_err(text));
    }
    let rotation = Matrix3::from_fn(|row, column| matrix[4 * row + column]);
    let deviation = (rotation.transpose() * rotation - Matrix3::identity()).amax();
    if deviation > TOLERANCE || rotation.determinant() < 0.0 {
        let text = format!(
            "{name}: the upper left 3 x 3 numbers have to be a rotation; R^T R differs from the identity by \
             {deviation:.1e}, the determinant is {:.3}",
            rotation.determinant()
        );
        return Err(PyValueError::new_err(text));
    }

    // Convert.
    let rotation = Rotation3::from_matrix_unchecked(rotation);
    let translation = Vector3::new(matrix[3], matrix[7], matrix[11]);
    let rotation = UnitQuaternion::from_rotation_matrix(&rotation);
    let rotation = UnitQuaternion::new_normalize(rotation.into_inner());
    Ok(Isometry3::from_parts(translation.into(), rotation))
}

/// Pose of a position and a quaternion.
fn of_pair(
    name: &str,
    position: &Bound<'_, PyAny>,
    quaternion: &Bound<'_, PyAny>,
) -> PyResult<Isometry3<f64>> {
    // Read the numbers.
    let numbers = |part: &str, value, expected: &str, count: usize| {
        let name = format!("{name} ({part})");
        let numbers = floats(&name, value)?;
        if numbers.shape != [count] {
            return Err(wrong_shape(&name, expected, &numbers.shape));
        }
        check_finite(&name, &numbers.values)?;
        Ok(numbers.values)
    };
    let position = numbers("position", position, "(3,)", 3)?;
    let xyzw = numbers("quaternion", quaternion, "(4,)", 4)?;

    // Check the norm, and convert.
    let quaternion = Quaternion::new(xyzw[3], xyzw[0], xyzw[1], xyzw[2]);
    let norm = quaternion.norm();
    if (norm - 1.0).abs() > TOLERANCE {
        let text = format!("{name} (quaternion): the norm has to be 1, it is {norm}");
        return Err(PyValueError::new_err(text));
    }
    let translation = Vector3::from_column_slice(&position);
    let rotation = UnitQuaternion::new_normalize(quaternion);
    Ok(Isometry3::from_parts(translation.into(), rotation))
}
