//! Poses and motions in arguments.

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use std::str::FromStr;
use thiserror::Error;

/// Pose of a sensor: `x,y,z,yaw[,pitch,roll]` in metres and degrees.
///
/// Intrinsic rotations about z (yaw), y (pitch) and x (roll), as in REP 103.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// Transform from the sensor's frame to the world.
    pub world_from_sensor: Isometry3<f64>,
    /// The argument.
    pub text: String,
}

/// Error of parsing a pose.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PoseError {
    /// A component is not a finite number.
    #[error("\"{0}\" is not a finite number")]
    NotANumber(String),
    /// Wrong number of components.
    #[error("expected x,y,z,yaw or x,y,z,yaw,pitch,roll (metres and degrees), found {0} numbers")]
    Count(usize),
    /// Wrong number of components of a motion.
    #[error(
        "expected x,y,yaw in the plane or x,y,z,yaw[,pitch,roll] in space (metres and degrees), found {0} numbers"
    )]
    MotionCount(usize),
}

impl FromStr for Pose {
    type Err = PoseError;

    fn from_str(text: &str) -> Result<Self, PoseError> {
        let numbers = numbers(text)?;
        let world_from_sensor = match numbers[..] {
            [x, y, z, yaw] => pose([x, y, z], [0.0, 0.0, yaw]),
            [x, y, z, yaw, pitch, roll] => pose([x, y, z], [roll, pitch, yaw]),
            _ => return Err(PoseError::Count(numbers.len())),
        };
        Ok(Self {
            world_from_sensor,
            text: text.into(),
        })
    }
}

/// Rigid motion: `x,y,yaw` in the plane, `x,y,z,yaw[,pitch,roll]` in space, in metres and degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion(pub Isometry3<f64>);

impl FromStr for Motion {
    type Err = PoseError;

    fn from_str(text: &str) -> Result<Self, PoseError> {
        match numbers(text)?[..] {
            [x, y, yaw] => Ok(Self(pose([x, y, 0.0], [0.0, 0.0, yaw]))),
            [_, _, _, _] | [_, _, _, _, _, _] => Ok(Self(text.parse::<Pose>()?.world_from_sensor)),
            ref other => Err(PoseError::MotionCount(other.len())),
        }
    }
}

fn pose([x, y, z]: [f64; 3], degrees: [f64; 3]) -> Isometry3<f64> {
    let [roll, pitch, yaw] = degrees.map(f64::to_radians);
    let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
    Isometry3::from_parts(Translation3::new(x, y, z), rotation)
}

fn numbers(text: &str) -> Result<Vec<f64>, PoseError> {
    text.split(',').map(number).collect()
}

fn number(text: &str) -> Result<f64, PoseError> {
    let value = text.trim().parse::<f64>().ok();
    value
        .filter(|value| value.is_finite())
        .ok_or_else(|| PoseError::NotANumber(text.trim().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Point3, Vector3};

    fn isometry(text: &str) -> Isometry3<f64> {
        text.parse::<Pose>().expect("a pose").world_from_sensor
    }

    #[test]
    fn yaw_rotates_x_towards_y_and_positive_pitch_points_down() {
        let pose = isometry("1,2,3,90");
        assert!((pose * Point3::new(1.0, 0.0, 0.0) - Point3::new(1.0, 3.0, 3.0)).norm() < 1e-12);
        let pose = isometry("0, 0, 0, 0, 90, 0");
        assert!((pose * Vector3::x() + Vector3::z()).norm() < 1e-12);
    }

    #[test]
    fn malformed_poses_are_errors() {
        assert_eq!("1,2,3".parse::<Pose>(), Err(PoseError::Count(3)));
        assert_eq!(
            "1,2,nan,0".parse::<Pose>(),
            Err(PoseError::NotANumber("nan".into()))
        );
        assert_eq!(
            "1,2,z,0".parse::<Pose>(),
            Err(PoseError::NotANumber("z".into()))
        );
    }
}
