//! Inputs of the simulator as a function of the unknowns.

use super::Model;
use crate::manifold::{Manifold, Variable, lift3};
use crate::sensor::LidarInputs;
use etendue_physics::Scalar;
use etendue_physics::atmosphere::Weather;
use etendue_physics::surface::Material;
use etendue_scene::{MaterialId, ObjectId, Scene};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Quaternion, UnitQuaternion};
use std::sync::Arc;

/// Inputs of the simulator, in a scalar that may carry derivatives.
pub(crate) struct SimulatorInputs<S: Scalar> {
    /// Parameters of the lidar.
    pub sensor: LidarInputs<S>,
    /// Pose of the sensor at each scan.
    pub world_from_sensor: Vec<Isometry3<S>>,
    /// Poses (world from object) of the objects with unknown poses.
    pub object_poses: Vec<(ObjectId, Isometry3<S>)>,
    /// Materials with unknown parameters.
    pub materials: Vec<(MaterialId, Material<S>)>,
    /// Weather in the air.
    pub weather: Vec<Weather<S>>,
    /// Factors on the backscatter of facets: object, triangle, factor.
    pub facet_factors: Vec<(ObjectId, u32, f64)>,
}

impl Model {
    /// Simulator inputs with the unknowns at `state`, moved by `step`.
    pub(crate) fn inputs<S: Scalar>(&self, state: &[Variable], step: &[S]) -> SimulatorInputs<S> {
        // Start from the inputs of the model.
        let weather = self.air.atmosphere.weather.iter();
        let mut inputs = SimulatorInputs {
            sensor: LidarInputs::new(&self.sensor),
            world_from_sensor: self.world_from_sensor.iter().map(lift3).collect(),
            object_poses: Vec::new(),
            materials: Vec::new(),
            weather: weather
                .map(|one| one.with_amount(S::from(one.amount())))
                .collect(),
            facet_factors: Vec::new(),
        };
        // Write the value of every unknown.
        let mut rest = step;
        for (unknown, variable) in self.unknowns.iter().zip(state) {
            let (own, others) = rest.split_at(variable.dimension());
            rest = others;
            let value = variable.moved(own);
            unknown.parameter.apply(self, &mut inputs, value);
        }
        inputs
    }

    /// Scene with the objects at the poses of the inputs.
    pub(crate) fn scene_with<S: Scalar>(&self, inputs: &SimulatorInputs<S>) -> Arc<Scene> {
        if inputs.object_poses.is_empty() {
            return Arc::clone(&self.scene);
        }
        let mut parts = self.parts.clone();
        for (id, pose) in &inputs.object_poses {
            parts.objects[id.0 as usize].world_from_object = values(pose);
        }
        // The scene is valid unless a pose is not finite. The initial scene is used then, and the
        // residuals are not finite.
        parts
            .build()
            .map_or_else(|_| Arc::clone(&self.scene), Arc::new)
    }
}

impl<S: Scalar> SimulatorInputs<S> {
    /// World of a scene at a wavelength (m), with the poses and materials of the inputs.
    pub(crate) fn world<'a>(&self, scene: &'a Scene, wavelength: f64) -> World<'a, S> {
        let world = World::at_wavelength(scene, wavelength)
            .expect("the model was checked at this wavelength");
        let mut world = world.lift::<S>();
        for (id, pose) in &self.object_poses {
            world = world.with_pose(*id, *pose);
        }
        for (id, material) in &self.materials {
            world = world.with_material(*id, material.clone());
        }
        world
    }
}

/// A pose without its derivatives.
fn values<S: Scalar>(pose: &Isometry3<S>) -> Isometry3<f64> {
    let rotation = Quaternion::from(pose.rotation.coords.map(Scalar::value));
    Isometry3::from_parts(
        pose.translation.vector.map(Scalar::value).into(),
        UnitQuaternion::new_normalize(rotation),
    )
}
