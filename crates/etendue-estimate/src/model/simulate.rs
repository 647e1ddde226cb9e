//! Simulation of the measurements of all scans.

use super::{Model, SimulatorInputs};
use crate::sensor::BeamMeasurement;
use crate::visibility::EdgeRays;
use etendue_physics::atmosphere::Atmosphere;
use etendue_scene::{Hit, Scene};
use etendue_sensors::LaneScalar;
use etendue_sensors::lidar::{ExtraRay, ExtraRays, Hooks, LightModel, SweepSettings, predict};
use etendue_sensors::trajectory::stationary;
use etendue_sensors::transport::ReturnFactor;
use nalgebra::Isometry3;

/// Factor on the power of a return, as a function of the indices of scan and beam, and of the hit.
pub(crate) type ScanReturnFactor<'a, S> = &'a (dyn Fn(usize, usize, &Hit) -> S + Sync);

impl Model {
    /// Simulates every scan, with extra rays at edges as set by [`Model::edges`].
    pub(super) fn simulate_with_edges<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
        factor: Option<ScanReturnFactor<S>>,
    ) -> Vec<Vec<BeamMeasurement<S>>> {
        let Some(settings) = self.edges else {
            return self.simulate(scene, inputs, &[], factor);
        };
        let world = inputs.world(scene, self.sensor.wavelength());
        let poses = inputs.world_from_sensor.iter();
        let edges: Vec<_> = poses
            .map(|pose| EdgeRays::new(&world, pose, &inputs.sensor, settings))
            .collect();
        self.simulate(scene, inputs, &edges, factor)
    }

    /// Simulates every scan with the extra rays of its edges; `edges` has one element per scan, or
    /// none.
    pub(super) fn simulate<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
        edges: &[EdgeRays<S>],
        factor: Option<ScanReturnFactor<S>>,
    ) -> Vec<Vec<BeamMeasurement<S>>> {
        let world = inputs.world(scene, self.sensor.wavelength());
        let sensor = &inputs.sensor;
        let settings = SweepSettings {
            light: LightModel::Tree(self.tree),
            ..SweepSettings::default()
        };
        let atmosphere = Atmosphere {
            weather: inputs.weather.clone(),
        };
        let is_clear = atmosphere.weather.is_empty();
        let scan = |(number, pose): (usize, &Isometry3<S>)| {
            // Extra rays and factors of the scan
            let of_scan =
                factor.map(|factor| move |beam: usize, hit: &Hit| factor(number, beam, hit));
            let edges = edges.get(number);
            let extra_rays = |shot: usize, rays: &mut Vec<ExtraRay<S>>| {
                if let Some(edges) = edges {
                    edges.add(&sensor.shots[shot], rays);
                }
            };
            let hooks = Hooks {
                atmosphere: (!is_clear).then_some(&atmosphere),
                factor: of_scan.as_ref().map(|of| of as &ReturnFactor<S>),
                extra_rays: edges.map(|_| &extra_rays as &ExtraRays<S>),
            };

            // Expected return of each shot
            let pose = stationary(*pose);
            let shots = &sensor.shots;
            let mut expected = predict(&world, &sensor.lidar, &settings, shots, pose, hooks);
            for (expected, offset) in expected.iter_mut().zip(&sensor.range_offsets) {
                if let Some(expected) = expected {
                    expected.range += *offset;
                }
            }
            expected.iter().map(BeamMeasurement::from).collect()
        };
        inputs
            .world_from_sensor
            .iter()
            .enumerate()
            .map(scan)
            .collect()
    }
}
