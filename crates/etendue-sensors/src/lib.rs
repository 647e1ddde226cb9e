//! Sensors: what they are, and the pipeline from light to measurements.

mod calibrated;
pub mod camera;
mod capture;
pub mod cw;
pub mod dynamics;
pub mod filter;
mod gnss;
mod inertial;
pub mod lidar;
mod measurement;
pub mod rig;
mod scan;
pub mod trajectory;
pub mod transport;

pub use measurement::{Measurement, PlanarSweep, RangeReading, Truth};
pub use scan::{
    Scan, ScanLog, ScanStatistics, Spread, StationaryWindow, StatisticsOptions, SteadyBeam,
};
