//! Poses of sensor and objects in a state of a fit.

use super::setup::Setup;
use super::values::{placed, setting};
use crate::failure::Failure;
use etendue::estimate::fit::FitError;
use etendue::estimate::manifold::Variable;
use etendue::estimate::model::{ModelError, ObjectPose, Parameter, SensorPose};
use etendue::scene::{Scene, SceneBuilder};
use nalgebra::Isometry3;

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
