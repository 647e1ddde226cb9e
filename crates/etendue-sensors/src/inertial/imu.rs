//! A running inertial measurement unit.

use crate::capture::{CaptureContext, Data, Instrument, seconds};
use etendue_physics::inertial::{Imu, ImuReading, ImuRun};

/// A running inertial measurement unit.
pub(crate) struct ImuInstrument {
    run: Box<ImuRun>,
}

impl ImuInstrument {
    /// Starts the unit with the index `sensor`.
    pub fn new(imu: &Imu, seed: u64, sensor: u32) -> Self {
        Self {
            run: Box::new(ImuRun::new(imu, seed, sensor)),
        }
    }
}

impl Instrument for ImuInstrument {
    fn capture(&mut self, context: &CaptureContext) -> Data {
        Data::Imu(self.run.read(&ideal_reading(context), context.period))
    }
}

/// The noise-free reading at an instant, or averaged over the window of the capture.
fn ideal_reading(context: &CaptureContext) -> ImuReading {
    let capture = context.capture;
    let start = context.at(capture.start);
    let gravity = &context.environment.gravity;
    if capture.end == capture.start {
        return ImuReading::ideal(&start, gravity);
    }
    let window = seconds(capture.end - capture.start);
    ImuReading::gathered(&start, &context.at(capture.end), window, gravity)
}
