//! Captures of sensors: clock, environment and data.

mod clock;
mod context;
mod data;
mod environment;

pub use clock::{Capture, Clock, ClockError, Rate, SECOND, nanoseconds, seconds};
pub use context::CaptureContext;
pub(crate) use context::Instrument;
pub use data::{Cloud, CloudPoint, Data, DataKind};
pub use environment::Environment;
