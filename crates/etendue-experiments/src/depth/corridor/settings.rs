//! Settings of the drive and errors of its evaluation.

use etendue_calibrate::depth::{DepthError, DepthModel, PolynomialBias};
use etendue_estimate::odometry::{MappingError, TrajectoryComparisonError};
use etendue_sensors::transport::WorldError;
use thiserror::Error;

/// Source of the depth bias.
#[derive(Clone, Debug, PartialEq)]
pub enum CorridorBias {
    /// A model added to exact depths, with normal noise of a standard deviation, m.
    Known(DepthModel, f64),
    /// The receiver on inclined surfaces, with its own noise.
    Receiver,
}

/// Settings of a drive and its evaluation.
#[derive(Clone, Debug)]
pub struct CorridorSettings {
    /// Source of the depth bias.
    pub bias: CorridorBias,
    /// Number of stops, in eight sub-sequences.
    pub stops: usize,
    /// Standard deviations of the poses of the training, m and rad.
    pub pose_noise: [f64; 2],
    /// Standard deviations of the odometry between stops, the prior of SLAM, m and rad.
    pub odometry_noise: [f64; 2],
    /// Seed of all noise.
    pub seed: u64,
}

impl Default for CorridorSettings {
    /// Bias of the receiver, 64 stops, poses with noise of 1 cm and 0.2 degrees, odometry with noise of
    /// 2 cm and 0.2 degrees per stop.
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

/// Errors of an experiment.
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
    /// A material has no data at the wavelength of the lidar.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// Polynomial model without bias.
pub(super) fn unbiased_polynomial() -> DepthModel {
    DepthModel::Polynomial(PolynomialBias::plain([0.0; 2]))
}
