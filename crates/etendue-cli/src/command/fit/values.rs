//! Values of unknowns as names and numbers.

use etendue::config::fit::Setting;
use etendue::estimate::manifold::{Variable, VariableValue};
use etendue::estimate::model::{planar, upright};
use nalgebra::Isometry3;

/// Setting as a pose: a planar one has the height and tilt of `before`; for a number, `before`.
pub fn placed(setting: &Setting, before: &Isometry3<f64>) -> Isometry3<f64> {
    match setting {
        Setting::Number(_) => *before,
        Setting::Planar(pose) => {
            let rest = upright(&planar(before)).inverse() * before;
            upright(pose) * rest
        }
        Setting::Pose(pose) => *pose,
    }
}

/// Value of a variable.
pub fn setting(variable: &Variable) -> Setting {
    match variable.value() {
        VariableValue::Number(number) => Setting::Number(number),
        VariableValue::Planar(pose) => Setting::Planar(pose),
        VariableValue::Spatial(pose) => Setting::Pose(pose),
    }
}

/// Numbers of a setting with the suffixes of their names.
pub fn numbers(setting: &Setting) -> Vec<(&'static str, f64)> {
    match setting {
        Setting::Number(number) => vec![("", *number)],
        Setting::Planar(pose) => vec![
            (".x_m", pose.translation.x),
            (".y_m", pose.translation.y),
            (".yaw_deg", pose.rotation.angle().to_degrees()),
        ],
        Setting::Pose(pose) => {
            let (roll, pitch, yaw) = pose.rotation.euler_angles();
            vec![
                (".x_m", pose.translation.x),
                (".y_m", pose.translation.y),
                (".z_m", pose.translation.z),
                (".yaw_deg", yaw.to_degrees()),
                (".pitch_deg", pitch.to_degrees()),
                (".roll_deg", roll.to_degrees()),
            ]
        }
    }
}
