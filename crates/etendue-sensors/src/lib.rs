//! Sensors: what they are, and the pipeline from light to measurements.

mod measurement;
mod scan;
mod scan_statistics;

pub use measurement::{Measurement, Reading, Sweep, Truth};
pub use scan::{Scan, ScanLog};
pub use scan_statistics::{ScanStatistics, Spread, StandingWindow, StatisticsOptions};
