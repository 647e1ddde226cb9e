//! A running barometer.

use crate::capture::{CaptureContext, Data, Instrument};
use etendue_physics::ambient::{Barometer, BarometerRun};

/// A running barometer.
pub(crate) struct BarometerInstrument {
    run: BarometerRun,
}

impl BarometerInstrument {
    /// Starts the barometer with the index `sensor`.
    pub fn new(barometer: &Barometer, seed: u64, sensor: u32) -> Self {
        Self {
            run: BarometerRun::new(barometer, seed, sensor),
        }
    }
}

impl Instrument for BarometerInstrument {
    fn capture(&mut self, context: &CaptureContext) -> Data {
        let position = context.at(context.capture.end).world_from_body.translation;
        let pressure = context.environment.pressure_at(&position.vector.into());
        Data::Pressure(self.run.read(pressure, context.period))
    }
}
