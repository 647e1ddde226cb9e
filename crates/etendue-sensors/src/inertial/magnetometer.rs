//! A running magnetometer.

use crate::capture::{CaptureContext, Data, Instrument};
use etendue_physics::inertial::{Triad, TriadRun};
use etendue_physics::{Purpose, Stream};

/// A running magnetometer.
pub(crate) struct MagnetometerInstrument {
    run: Box<TriadRun>,
    seed: u64,
    sensor: u32,
}

impl MagnetometerInstrument {
    /// Starts the magnetometer with the index `sensor`.
    pub fn new(triad: &Triad, seed: u64, sensor: u32) -> Self {
        let mut stream = Stream::new(seed, sensor, u32::MAX, 0, Purpose::Magnetometer);
        Self {
            run: Box::new(TriadRun::new(triad, &mut stream)),
            seed,
            sensor,
        }
    }
}

impl Instrument for MagnetometerInstrument {
    fn capture(&mut self, context: &CaptureContext) -> Data {
        let capture = context.capture;
        let mut stream = Stream::new(
            self.seed,
            self.sensor,
            capture.number,
            0,
            Purpose::Magnetometer,
        );
        let world_from_sensor = context.at(capture.end).world_from_body.rotation;
        let field = world_from_sensor.inverse_transform_vector(&context.environment.magnetic_field);
        Data::MagneticField(self.run.measure(&field, context.period, 0.0, &mut stream))
    }
}
