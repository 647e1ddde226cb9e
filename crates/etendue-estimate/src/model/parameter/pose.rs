//! Poses of the sensor and of objects.

use super::family::FitParameter;
use crate::manifold::{VariableValue, lift3};
use crate::model::{Model, SimulatorInputs, planar, upright};
use etendue_physics::Scalar;
use etendue_scene::ObjectId;
use nalgebra::{Isometry2, Isometry3, Quaternion, UnitQuaternion, Vector3};

/// Pose of the sensor in the world at a scan, m and rad.
///
/// Paths: `sensor.pose` (first scan) and `scans.N.pose`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SensorPose {
    /// Index of the scan.
    pub scan: usize,
}

/// Pose of an object in the world, m and rad.
///
/// Path: `objects.NAME.pose`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectPose {
    /// The object.
    pub object: ObjectId,
}

impl FitParameter for SensorPose {
    fn members(model: &Model) -> Vec<(String, Self)> {
        let first = ("sensor.pose".to_owned(), Self { scan: 0 });
        let named = |scan| (format!("scans.{scan}.pose"), Self { scan });
        let scans = (0..model.scans()).map(named);
        std::iter::once(first).chain(scans).collect()
    }

    /// Paths without `scans.0.pose`, which is an alias of `sensor.pose`.
    fn paths(model: &Model) -> Vec<String> {
        let members = Self::members(model).into_iter().enumerate();
        members
            .filter(|(number, _)| *number != 1)
            .map(|(_, (path, _))| path)
            .collect()
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        VariableValue::Spatial(model.world_from_sensor[self.scan])
    }

    fn apply<S: Scalar>(
        &self,
        model: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        let initial = &model.world_from_sensor[self.scan];
        inputs.world_from_sensor[self.scan] = spatial_pose(value, initial);
    }
}

impl FitParameter for ObjectPose {
    fn members(model: &Model) -> Vec<(String, Self)> {
        let named = |(number, name): (u32, &str)| {
            let object = ObjectId(number);
            (format!("objects.{name}.pose"), Self { object })
        };
        let names = model.objects().iter().map(|object| object.name.as_str());
        (0..).zip(names).map(named).collect()
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        VariableValue::Spatial(model.objects()[self.object.0 as usize].world_from_object)
    }

    fn apply<S: Scalar>(
        &self,
        model: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        let initial = &model.objects()[self.object.0 as usize].world_from_object;
        let pose = spatial_pose(value, initial);
        inputs.object_poses.push((self.object, pose));
    }
}

/// Spatial pose of a value; a planar pose has the height and tilt of `initial`, a number is no pose and gives
/// `initial`.
pub fn spatial_pose<S: Scalar>(value: VariableValue<S>, initial: &Isometry3<f64>) -> Isometry3<S> {
    match value {
        VariableValue::Spatial(pose) => pose,
        VariableValue::Planar(pose) => {
            let height_and_tilt = upright(&planar(initial)).inverse() * initial;
            lift_planar(&pose) * lift3::<S>(&height_and_tilt)
        }
        VariableValue::Number(_) => lift3(initial),
    }
}

/// Spatial pose of a planar pose, at height zero and without tilt.
fn lift_planar<S: Scalar>(pose: &Isometry2<S>) -> Isometry3<S> {
    let translation = pose.translation.vector;
    // Half-angle formulas, in the form that is well conditioned.
    let cos = pose.rotation.re;
    let sin = pose.rotation.im;
    let (w, z) = if cos.value() >= 0.0 {
        let w = ((cos + 1.0) * 0.5).sqrt();
        (w, sin / (w * 2.0))
    } else {
        let z = ((-cos + 1.0) * 0.5).sqrt();
        (sin / (z * 2.0), z)
    };
    let quaternion = Quaternion::new(w, S::zero(), S::zero(), z);
    Isometry3::from_parts(
        Vector3::new(translation.x, translation.y, S::zero()).into(),
        UnitQuaternion::new_unchecked(quaternion),
    )
}
