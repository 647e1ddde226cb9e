//! Simulation of the measurements of all scans.

use super::{Model, SimulatorInputs};
use crate::sensor::BeamMeasurement;
use crate::visibility::EdgeRays;
use etendue_physics::atmosphere::Atmosphere;
use etendue_scene::{Hit, ObjectId, Scene};
use etendue_sensors::LaneScalar;
use etendue_sensors::lidar::{
    ExpectedReturn, ExtraRay, ExtraRays, Hooks, ReturnTile, Shot, ShotList, SweepSettings,
    WriteReturns, predict_at_rest,
};
use etendue_sensors::transport::{CornerHeights, ReturnFactor};
use rayon::prelude::*;

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

/// Destination of the measurements of a batch of beams.
pub(super) trait WriteMeasurements<S: LaneScalar>: Send {
    /// Removes all measurements of the batch, before the first is written.
    fn clear(&mut self);

    /// Writes the measurement of the beam at a place of the batch.
    fn write(&mut self, place: usize, measured: BeamMeasurement<S>);

    /// Writes the measurements of up to sixteen beams at places of the batch, one per lane.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn write_tile(&mut self, places: &[u16], returns: &ReturnTile<S>) {
        for (lane, &place) in places.iter().enumerate() {
            self.write(place.into(), BeamMeasurement::from(returns.lane(lane)));
        }
    }
}

impl<S: LaneScalar> WriteMeasurements<S> for &mut [BeamMeasurement<S>] {
    fn clear(&mut self) {
        self.fill(BeamMeasurement::new(None, None));
    }

    fn write(&mut self, place: usize, measured: BeamMeasurement<S>) {
        self[place] = measured;
    }
}

/// Adds offsets to the ranges of returns, and writes the measurements.
struct WithOffsets<'a, W> {
    /// Offset of the range of each beam, m; empty without offsets.
    offsets: &'a [f64],
    measurements: W,
}

impl<S: LaneScalar, W: WriteMeasurements<S>> WriteReturns<S> for WithOffsets<'_, W> {
    fn clear(&mut self) {
        self.measurements.clear();
    }

    #[expect(clippy::inline_always, reason = "a return is not copied")]
    #[inline(always)]
    fn write(&mut self, place: usize, mut returned: Option<ExpectedReturn<S>>) {
        if let (Some(returned), Some(offset)) = (&mut returned, self.offsets.get(place)) {
            returned.range += *offset;
        }
        self.measurements
            .write(place, BeamMeasurement::from(returned));
    }

    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn write_tile(&mut self, places: &[u16], returns: &ReturnTile<S>) {
        if self.offsets.is_empty() {
            return self.measurements.write_tile(places, returns);
        }
        for (lane, &place) in places.iter().enumerate() {
            self.write(place.into(), returns.lane(lane));
        }
    }
}

impl Model {
    /// Number of beams in a batch of a scan, by index.
    pub(super) fn beams_per_batch(&self, scan: usize) -> usize {
        self.lidar().shots_per_batch(self.beams(scan))
    }

    /// Simulates every scan, with extra rays at edges as set by [`Model::edges`].
    pub(super) fn simulate_with_edges<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
        local: LocalParameters<S>,
    ) -> Vec<Vec<BeamMeasurement<S>>> {
        let edges = self.edge_rays(scene, inputs);
        self.simulate(scene, inputs, &edges, local)
    }

    /// The extra rays of the edges of each scan, as set by [`Model::edges`].
    pub(super) fn edge_rays<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
    ) -> Vec<EdgeRays<S>> {
        let Some(settings) = self.edges else {
            return Vec::new();
        };
        let world = inputs.world(scene, self.lidar().wavelength);
        let poses = inputs.world_from_sensor.iter().enumerate();
        let beam = &inputs.sensor.lidar.beam;
        poses
            .map(|(scan, pose)| {
                let shots = &inputs.sensor.sweep_of(scan).shots;
                EdgeRays::new(&world, pose, beam, shots, settings)
            })
            .collect()
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
        let nothing = BeamMeasurement::new(None, None);
        let of_scan = |scan| vec![nothing; self.beams(scan)];
        let mut scans: Vec<Vec<_>> = (0..self.scans()).map(of_scan).collect();
        let batches = scans.iter_mut().enumerate();
        let batches =
            batches.map(|(scan, measured)| measured.par_chunks_mut(self.beams_per_batch(scan)));
        self.simulate_into(scene, inputs, edges, local, batches);
        scans
    }

    /// [`Model::simulate`] that writes the measurements of each scan to a destination per batch of
    /// [`Model::beams_per_batch`] beams.
    pub(super) fn simulate_into<S: LaneScalar>(
        &self,
        scene: &Scene,
        inputs: &SimulatorInputs<S>,
        edges: &[EdgeRays<S>],
        local: LocalParameters<S>,
        scans: impl Iterator<Item: IndexedParallelIterator<Item: WriteMeasurements<S>>>,
    ) {
        let world = inputs.world(scene, self.lidar().wavelength);
        let lidar = &inputs.sensor.lidar;
        let settings = SweepSettings {
            light: self.light,
            ..SweepSettings::default()
        };
        let atmosphere = Atmosphere {
            weather: inputs.weather.clone(),
        };
        let is_clear = atmosphere.weather.is_empty();
        for (number, (pose, batches)) in inputs.world_from_sensor.iter().zip(scans).enumerate() {
            // Extra rays and factors of the scan
            let sweep = inputs.sensor.sweep_of(number);
            let of_scan = (local.factor)
                .map(|factor| move |beam: usize, hit: &Hit| factor(number, beam, hit));
            let edges = edges.get(number);
            let extra_rays = |shot: usize, rays: &mut Vec<ExtraRay<S>>| {
                if let Some(edges) = edges {
                    edges.add(&sweep.shots[shot], rays);
                }
            };
            let hooks = Hooks {
                atmosphere: (!is_clear).then_some(&atmosphere),
                factor: of_scan.as_ref().map(|of| of as &ReturnFactor<S>),
                extra_rays: edges.map(|_| &extra_rays as &ExtraRays<S>),
            };

            // Destination of the expected returns
            let per_batch = self.beams_per_batch(number);
            let batches = batches.enumerate().map(|(batch, measurements)| {
                let offsets = sweep.range_offsets.get(batch * per_batch..);
                WithOffsets {
                    offsets: offsets.unwrap_or_default(),
                    measurements,
                }
            });
            match local.heights {
                None => {
                    let shots = &sweep.shots;
                    predict_at_rest(&world, lidar, &settings, shots, pose, hooks, batches);
                }
                Some((objects, heights)) => {
                    let heights = |hit: &Hit, time: f64| heights(number, beam_at(time), hit);
                    let heights = CornerHeights(&heights);
                    let bent = world.clone().with_corner_heights(objects, heights);
                    let shots = numbered(&sweep.shots);
                    predict_at_rest(&bent, lidar, &settings, &shots, pose, hooks, batches);
                }
            }
        }
    }
}

/// The shots with their index as their time.
///
/// The sensor of a model is at rest, and so is a scene with unknown vertices. Nothing else depends on the time of a ray,
/// which can identify the beam to [`CornerHeights`].
fn numbered(shots: &[Shot]) -> ShotList {
    let numbered = |(number, shot): (usize, &Shot)| {
        let mut numbered = *shot;
        numbered.time = number as f64;
        numbered
    };
    let shots = shots.iter().enumerate().map(numbered);
    ShotList::from(shots.collect::<Vec<_>>())
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
