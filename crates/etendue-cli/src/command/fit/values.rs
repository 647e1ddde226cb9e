//! Values of unknowns as names and numbers.

use super::setup::Setup;
use crate::failure::Failure;
use etendue::config::fit::Setting;
use etendue::estimate::fit::FitError;
use etendue::estimate::manifold::{Variable, VariableValue};
use etendue::estimate::model::{ModelError, ObjectPose, Parameter, SensorPose, planar, upright};
use etendue::scene::{Scene, SceneBuilder};
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

/// Poses of sensor and objects in a state.
pub struct Arrangement {
    /// Parts of the scene.
    pub parts: SceneBuilder,
    /// Pose of the sensor in each scan.
    pub world_from_sensor: Vec<Isometry3<f64>>,
}

impl Arrangement {
    /// Poses in a state of a problem.
    pub fn new(setup: &Setup, state: &[Variable]) -> Self {
        let mut parts = setup.parts.clone();
        let mut world_from_sensor = setup.world_from_sensor.clone();
        for (known, variable) in setup.problem.model.unknowns().iter().zip(state) {
            let pose = match known.parameter {
                Parameter::SensorPose(SensorPose { scan }) => &mut world_from_sensor[scan],
                Parameter::ObjectPose(ObjectPose { object: id }) => {
                    &mut parts.objects[id.0 as usize].world_from_object
                }
                _ => continue,
            };
            *pose = placed(&setting(variable), pose);
        }
        Self {
            parts,
            world_from_sensor,
        }
    }

    /// Scene of the parts.
    pub fn scene(&self) -> Result<Scene, Failure> {
        let scene = self.parts.clone().build().map_err(ModelError::from);
        Ok(scene.map_err(FitError::from)?)
    }
}
