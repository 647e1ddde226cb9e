//! Poses of scene files.

use crate::toml_file::{Document, DocumentError, TomlProblem};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Tolerance of the norm of unit quaternions. It covers rounding of typed numbers.
const UNIT_TOLERANCE: f64 = 1e-3;

/// A rotation about fixed axes: first roll about x, then pitch about y (nose down is positive),
/// then yaw about z (to the left is positive).
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RotationDeg {
    /// About z, degrees.
    pub yaw: f64,
    /// About y, degrees.
    pub pitch: f64,
    /// About x, degrees.
    pub roll: f64,
}

/// The pose of a position and angles; omitted values are zero.
///
/// # Errors
/// If a number is not finite.
pub fn pose_of_angles(
    document: &Document,
    position: Option<&Spanned<[f64; 3]>>,
    angles: Option<&Spanned<RotationDeg>>,
) -> Result<Isometry3<f64>, DocumentError> {
    let placement = Placement {
        position,
        angles,
        quaternion: None,
    };
    placement.pose(document)
}

/// Position and rotation keys of a table.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// Position, m.
    pub position: Option<&'a Spanned<[f64; 3]>>,
    /// Rotation as angles.
    pub angles: Option<&'a Spanned<RotationDeg>>,
    /// Rotation as a quaternion, real part first.
    pub quaternion: Option<&'a Spanned<[f64; 4]>>,
}

impl Placement<'_> {
    /// The pose; omitted values are zero.
    ///
    /// # Errors
    /// If a number is not finite, both rotations are given, or the quaternion does not have unit
    /// norm.
    pub fn pose(self, document: &Document) -> Result<Isometry3<f64>, DocumentError> {
        let position = self.position.map_or([0.0; 3], |given| *given.get_ref());
        if let Some(given) = self.position {
            check_finite(document, given.span(), &position)?;
        }
        let rotation = match (self.angles, self.quaternion) {
            (None, None) => UnitQuaternion::identity(),
            (Some(angles), None) => of_angles(document, angles)?,
            (None, Some(quaternion)) => of_quaternion(document, quaternion)?,
            (Some(_), Some(quaternion)) => {
                return Err(document.error(
                    quaternion.span(),
                    TomlProblem::value(
                        "the rotation is defined twice",
                        "give rotation_deg or rotation_wxyz, not both",
                    ),
                ));
            }
        };
        Ok(Isometry3::from_parts(
            Translation3::from(position),
            rotation,
        ))
    }
}

fn of_angles(
    document: &Document,
    given: &Spanned<RotationDeg>,
) -> Result<UnitQuaternion<f64>, DocumentError> {
    let RotationDeg { yaw, pitch, roll } = *given.get_ref();
    check_finite(document, given.span(), &[yaw, pitch, roll])?;
    let [roll, pitch, yaw] = [roll, pitch, yaw].map(f64::to_radians);
    Ok(UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}

fn of_quaternion(
    document: &Document,
    given: &Spanned<[f64; 4]>,
) -> Result<UnitQuaternion<f64>, DocumentError> {
    let [w, x, y, z] = *given.get_ref();
    let quaternion = Quaternion::new(w, x, y, z);
    let length = quaternion.norm();
    if (length - 1.0).abs() <= UNIT_TOLERANCE {
        return Ok(UnitQuaternion::from_quaternion(quaternion));
    }
    Err(document.error(
        given.span(),
        TomlProblem::value(
            format!("the quaternion has the norm {length}, not 1"),
            "divide it by its norm; the real part comes first",
        ),
    ))
}

/// Checks that all numbers are finite.
pub(super) fn check_finite(
    document: &Document,
    span: std::ops::Range<usize>,
    numbers: &[f64],
) -> Result<(), DocumentError> {
    if numbers.iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    Err(document.error(
        span,
        TomlProblem::value("a number is not finite", "write a finite number"),
    ))
}
