//! CorridorSettings of the drive and errors of its evaluation.

use etendue_calibrate::depth::{DepthError, DepthModel, Polynomial};
use etendue_estimate::odometry::{MappingError, TrajectoryComparisonError};
use etendue_sensors::transport::WorldError;
use thiserror::Error;

/// What is wrong with the depths.
#[derive(Clone, Debug, PartialEq)]
pub enum CorridorBias {
    /// A model that is put into exact depths, with normal noise of so much, m.
    Known(DepthModel, f64),
    /// What the receiver makes of the beam on inclined surfaces, with its own noise.
    Receiver,
}

/// A drive and what is done with it.
#[derive(Clone, Debug)]
pub struct CorridorSettings {
    /// What is wrong with the depths.
    pub bias: CorridorBias,
    /// Stops, in eight sub-sequences.
    pub stops: usize,
    /// Noise of the poses that are learnt from, m and rad.
    pub pose_noise: [f64; 2],
    /// Noise of the odometry that SLAM starts each scan from, m and rad a stop.
    pub odometry_noise: [f64; 2],
    /// Seed of all noise.
    pub seed: u64,
}

impl Default for CorridorSettings {
    /// The receiver's bias, 64 stops, learnt from poses off by 1 cm and 0.2 degrees, odometry off
    /// by 2 cm and 0.2 degrees a metre.
    fn default() -> Self {
        Self {
            bias: CorridorBias::Receiver,
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

/// The polynomial model without bias.
pub(super) fn unbiased_polynomial() -> DepthModel {
    DepthModel::Polynomial(Polynomial::plain([0.0; 2]))
}
