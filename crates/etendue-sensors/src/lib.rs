//! Sensors: what they are, and the pipeline from light to measurements.

mod calibrated;
pub mod camera;
mod capture;
pub mod dynamics;
pub mod filter;
mod gnss;
mod inertial;
pub mod lidar;
mod measurement;
mod noise_profiles;
mod phase_signal_tile;
pub mod rig;
mod scalar_tile;
mod scan;
pub mod trajectory;
pub mod transport;

pub use measurement::{Measurement, PlanarSweep, RangeReading, Truth};
pub use noise_profiles::NoiseProfiles;
pub use scalar_tile::{DualTile, LaneScalar, ScalarTile};
pub use scan::{
    Scan, ScanLog, ScanStatistics, Spread, StationaryWindow, StatisticsOptions, SteadyBeam,
};
