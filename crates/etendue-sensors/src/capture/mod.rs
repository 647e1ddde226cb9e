//! Captures: the clock, the surroundings and the data of one measurement of any sensor.

mod clock;
mod context;
mod data;
mod environment;

pub use clock::{Capture, Clock, ClockError, Rate, SECOND, nanoseconds, seconds};
pub use context::CaptureContext;
pub(crate) use context::Instrument;
pub use data::{Cloud, CloudPoint, Data, DataKind};
pub use environment::Environment;
