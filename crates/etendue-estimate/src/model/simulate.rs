//! Simulation of the measurements of all scans.

use super::{Model, SimulatorInputs};
use crate::sensor::BeamMeasurement;
use crate::visibility::EdgeRays;
use etendue_physics::atmosphere::Atmosphere;
use etendue_scene::{Hit, ObjectId, Scene};
use etendue_sensors::LaneScalar;
use etendue_sensors::lidar::{
    ExpectedReturn, ExtraRay, ExtraRays, Hooks, LightModel, Shot, SweepSettings, predict_at_rest,
};
use etendue_sensors::transport::{CornerHeights, ReturnFactor, World};
use nalgebra::Isometry3;

/// Factor on the power of a return, as a function of the indices of scan and beam, and of the hit.
pub(crate) type ScanReturnFactor<'a, S> = &'a (dyn Fn(usize, usize, &Hit) -> S + Sync);

/// Heights of the corners of the triangle of a hit ([`CornerHeights`]), as a function of the indices of scan and
/// beam, and of the hit.
pub(crate) type ScanCornerHeights<'a, S> =
    &'a (dyn Fn(usize, usize, &Hit) -> Option<[S; 3]> + Sync);

/// Parameters on which few beams depend.
#[derive(Clone, Copy)]
pub(crate) struct LocalParameters<'a, S> {
    /// Factors of facets.
    pub factor: Option<ScanReturnFactor<'a, S>>,
    /// Objects with unknown vertices, and the heights of the corners of their triangles.
    pub heights: Option<(&'a [ObjectId], ScanCornerHeights<'a, S>)>,
}

impl<'a, S> LocalParameters<'a, S> {
    /// Factors of facets only.
    pub fn factors(factor: Option<ScanReturnFactor<'a, S>>) -> Self {
        Self {
            factor,
            heights: None,
        }
    }
}

impl Model {
    /// Simulates every scan, with extra rays at edges as set by [`Model::edges`].
    pub(super) fn simulate_with_edges<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
        local: LocalParameters<S>,
    ) -> Vec<Vec<BeamMeasurement<S>>> {
        let Some(settings) = self.edges else {
            return self.simulate(scene, inputs, &[], local);
        };
        let world = inputs.world(scene, self.sensor.wavelength());
        let poses = inputs.world_from_sensor.iter();
        let edges: Vec<_> = poses
            .map(|pose| EdgeRays::new(&world, pose, &inputs.sensor, settings))
            .collect();
        self.simulate(scene, inputs, &edges, local)
    }

    /// Simulates every scan with the extra rays of its edges; `edges` has one element per scan, or
    /// none.
    pub(super) fn simulate<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
        edges: &[EdgeRays<S>],
        local: LocalParameters<S>,
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
            let of_scan = (local.factor)
                .map(|factor| move |beam: usize, hit: &Hit| factor(number, beam, hit));
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

            // Expected measurement of each shot
            let measured = |shot: usize, expected: Option<ExpectedReturn<S>>| {
                let mut expected = expected;
                let offset = sensor.range_offsets.get(shot);
                if let (Some(expected), Some(offset)) = (&mut expected, offset) {
                    expected.range += *offset;
                }
                BeamMeasurement::from(expected)
            };
            let predict = |world: &World<S>, shots: &[Shot]| {
                let lidar = &sensor.lidar;
                predict_at_rest(world, lidar, &settings, shots, pose, hooks, measured)
            };
            match local.heights {
                None => predict(&world, &sensor.shots),
                Some((objects, heights)) => {
                    let heights = |hit: &Hit, time: f64| heights(number, beam_at(time), hit);
                    let heights = CornerHeights(&heights);
                    let bent = world.clone().with_corner_heights(objects, heights);
                    predict(&bent, &numbered(&sensor.shots))
                }
            }
        };
        inputs
            .world_from_sensor
            .iter()
            .enumerate()
            .map(scan)
            .collect()
    }
}

/// The shots with their index as their time.
///
/// Sensor and scene of a model are at rest, so that nothing else depends on the time of a ray, and it can
/// identify the beam to [`CornerHeights`].
fn numbered(shots: &[Shot]) -> Vec<Shot> {
    let numbered = |(number, shot): (usize, &Shot)| {
        let mut numbered = *shot;
        numbered.time = number as f64;
        numbered
    };
    shots.iter().enumerate().map(numbered).collect()
}

/// Index of the beam of a ray with a time, by [`numbered`].
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is an index"
)]
fn beam_at(time: f64) -> usize {
    time as usize
}
