//! A running wheel encoder.

use crate::capture::{CaptureContext, Data, Instrument};
use etendue_physics::odometry::{WheelEncoder, WheelEncoderRun};
use nalgebra::Vector3;

/// A running wheel encoder.
pub(crate) struct WheelEncoderInstrument {
    run: WheelEncoderRun,
    /// End of the previous capture, ns.
    previous: Option<i64>,
}

impl WheelEncoderInstrument {
    /// Starts the encoder with the index `sensor`.
    pub fn new(encoder: &WheelEncoder, seed: u64, sensor: u32) -> Self {
        Self {
            run: WheelEncoderRun::new(encoder, seed, sensor),
            previous: None,
        }
    }
}

impl Instrument for WheelEncoderInstrument {
    fn capture(&mut self, context: &CaptureContext) -> Data {
        let previous = self.previous.replace(context.capture.end);
        let distance = previous.map_or(0.0, |from| rolled_distance(context, from));
        Data::WheelCounts(self.run.read(distance))
    }
}

/// Longest integration step of a wheel's speed, ns.
const ROLLING_STEP: i64 = 2_000_000;

/// Distance rolled forwards since a time (ns), m: the integral of the speed by the midpoint rule.
fn rolled_distance(context: &CaptureContext, from: i64) -> f64 {
    let span = context.capture.end - from;
    let steps = (span + ROLLING_STEP - 1) / ROLLING_STEP;
    let step = span as f64 / steps.max(1) as f64;
    let distances = (0..steps).map(|i| {
        let time = (from as f64 + (i as f64 + 0.5) * step) * 1e-9;
        let state = context
            .trajectory
            .state(time)
            .mounted(&context.body_from_sensor);
        let forward = state.world_from_body.rotation * Vector3::x();
        state.velocity.dot(&forward) * step * 1e-9
    });
    distances.sum()
}
