//! Recorded scans and their statistics.

mod recording;
mod statistics;

pub use recording::{Scan, ScanLog};
pub use statistics::{ScanStatistics, Spread, StationaryWindow, StatisticsOptions, SteadyBeam};
