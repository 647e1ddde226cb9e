//! Simulated readings and pose errors.

use etendue_estimate::manifold::{Variable, VariableValue};
use etendue_estimate::model::{BeamMeasurement, planar};
use etendue_physics::{Purpose, Stream};
use etendue_sensors::RangeReading;
use nalgebra::Isometry2;

/// The readings of a noise-free prediction with normal noise of standard deviation `sigma` (m).
pub fn readings(shots: &[BeamMeasurement], sigma: f64, seed: u64) -> Vec<RangeReading> {
    let reading = |(beam, shot): (u32, &BeamMeasurement)| {
        let mut noise = Stream::new(seed, 0, 0, beam, Purpose::ReceiverNoise);
        shot.range().map_or(RangeReading::NoReturn, |range| {
            RangeReading::Range(range + sigma * noise.normal())
        })
    };
    (0..).zip(shots).map(reading).collect()
}

/// SE(2) distance of two poses, m and rad together.
pub fn pose_error(found: &Isometry2<f64>, truth: &Isometry2<f64>) -> f64 {
    let shift = found.translation.vector - truth.translation.vector;
    let turn = (found.rotation / truth.rotation).angle();
    shift.norm().hypot(turn)
}

/// Planar pose of the first unknown of a state.
pub fn first_pose(state: &[Variable]) -> Option<Isometry2<f64>> {
    match state.first()?.value() {
        VariableValue::Planar(pose) => Some(pose),
        VariableValue::Spatial(pose) => Some(planar(&pose)),
        VariableValue::Number(_) => None,
    }
}
