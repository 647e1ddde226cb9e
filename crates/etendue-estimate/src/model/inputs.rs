//! Inputs of the simulator as a function of the unknowns.

use super::Model;
use super::parameter::VertexPosition;
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
    /// Coordinates of vertices, m.
    pub vertices: Vec<(VertexPosition, f64)>,
}

impl Model {
    /// Simulator inputs with the unknowns at `state`, moved by `step`.
    pub(crate) fn inputs<S: Scalar>(&self, state: &[Variable], step: &[S]) -> SimulatorInputs<S> {
        // Start from the inputs of the model.
        let weather = self.air.atmosphere.weather.iter();
        let mut inputs = SimulatorInputs {
            sensor: LidarInputs::new(self.lidar(), &self.sweeps, &self.sweep_of_scan),
            world_from_sensor: self.world_from_sensor.iter().map(lift3).collect(),
            object_poses: Vec::new(),
            materials: Vec::new(),
            weather: weather
                .map(|one| one.with_amount(S::from(one.amount())))
                .collect(),
            facet_factors: Vec::new(),
            vertices: Vec::new(),
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

    /// Scene with the objects at the poses and the vertices at the positions of the inputs.
    ///
    /// Where a pose or a vertex is not finite, it is that of the initial scene, and the residuals are not
    /// finite.
    pub(crate) fn scene_with<S: Scalar>(&self, inputs: &SimulatorInputs<S>) -> Arc<Scene> {
        // Find the objects that are not where the initial scene has them.
        let of_scene = |id: ObjectId| self.scene.objects()[id.0 as usize].world_from_object;
        let poses = inputs.object_poses.iter();
        let poses = poses.map(|(id, pose)| (*id, values(pose)));
        let moved: Vec<_> = poses.filter(|(id, pose)| of_scene(*id) != *pose).collect();
        let is_finite = |pose: &Isometry3<f64>| {
            let numbers = pose.to_homogeneous();
            numbers.iter().all(|number| number.is_finite())
        };
        let scene = if moved.is_empty() || !moved.iter().all(|(_, pose)| is_finite(pose)) {
            Arc::clone(&self.scene)
        } else {
            let edit = Scene::clone(&self.scene).edit();
            let edit = moved
                .iter()
                .fold(edit, |edit, (id, pose)| edit.with_pose(*id, *pose));
            Arc::new(edit.finish())
        };

        // Move the vertices.
        let moved = Self::with_moved_vertices(&scene, inputs);
        moved.map_or(scene, Arc::new)
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
