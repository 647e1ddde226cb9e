//! Sensors: what they are, and the pipeline from light to measurements.

mod measurement;
mod scan;
pub mod scanner;

pub use measurement::{Measurement, Reading, Sweep, Truth};
pub use scan::{Scan, ScanLog};
