//! A stop-and-go drive through a corridor.

mod drive;
mod judge;
mod losses;
mod splits;

pub use drive::{Drive, RangeReading, drive};
pub use judge::{BiasBin, bias_by_incidence};
pub use losses::{LossRow, Poses, STOPS_OF_LOSSES, curve_rms, losses};
pub use splits::{AS_BUILT, Drift, ROWS, SplitRow, as_built, map_options, models, splits};

use etendue_calibrate::depth::{DepthError, DepthModel, Polynomial};
use etendue_estimate::odometry::{MappingError, TrajectoryComparisonError};
use etendue_sensors::transport::WorldError;
use thiserror::Error;

/// What is wrong with the depths.
#[derive(Clone, Debug, PartialEq)]
pub enum Bias {
    /// A model that is put into exact depths, with normal noise of so much, m.
    Known(DepthModel, f64),
    /// What the receiver makes of the beam on inclined surfaces, with its own noise.
    Receiver,
}

/// A drive and what is done with it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is wrong with the depths.
    pub bias: Bias,
    /// Stops, in eight sub-sequences.
    pub stops: usize,
    /// Noise of the poses that are learnt from, m and rad.
    pub pose_noise: [f64; 2],
    /// Noise of the odometry that SLAM starts each scan from, m and rad a stop.
    pub odometry_noise: [f64; 2],
    /// Seed of all noise.
    pub seed: u64,
}

impl Default for Settings {
    /// The receiver's bias, 64 stops, learnt from poses off by 1 cm and 0.2 degrees, odometry off
    /// by 2 cm and 0.2 degrees a metre.
    fn default() -> Self {
        Self {
            bias: Bias::Receiver,
            stops: 64,
            pose_noise: [0.01, 0.2_f64.to_radians()],
            odometry_noise: [0.02, 0.2_f64.to_radians()],
            seed: 1,
        }
    }
}

/// Why an experiment cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The bias cannot be learnt.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// The scans cannot be mapped.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The trajectories cannot be compared.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryComparisonError),
    /// The scene cannot be seen at the lidar's wavelength.
    #[error(transparent)]
    World(#[from] WorldError),
}

fn plain() -> DepthModel {
    DepthModel::Polynomial(Polynomial::plain([0.0; 2]))
}
