//! CorridorSettings of the drive and errors of its evaluation.

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
    /// The scene cannot be seen at the lidar's wavelength.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// The polynomial model without bias.
pub(super) fn unbiased_polynomial() -> DepthModel {
    DepthModel::Polynomial(PolynomialBias::plain([0.0; 2]))
}
