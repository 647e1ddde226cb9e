//! Lidar odometry by scan-to-map registration, and errors of trajectories.
//!
//! [`Mapper::add`] predicts the pose of a scan (odometry, or constant velocity), removes the motion during
//! the scan, samples it at two resolutions, registers it onto the map by robust point-to-plane ICP, and
//! inserts its points into the map. The design follows KISS-ICP (Vizzo et al. 2023,
//! doi:10.1109/LRA.2023.3236571): the uncertainty of the prediction is estimated from earlier
//! predictions and bounds the search for pairs. Along directions that few planes of scan and map determine, points off planes are
//! registered; where neither determine them, the prediction is kept. The directions are reported with the standard
//! deviation of the prediction ([`DegenerateDirection`]).
//! [`ScanQuality`] is a verdict on the pose of each scan, with its covariance since the first scan
//! ([`PoseUncertainty`]). [`absolute_error`] and [`relative_error`] compare
//! trajectories by the definitions of the PyPI package `evo`.
//!
//! Not modelled: loop closures, acceleration during a scan.
//!
//! The point-to-plane registration is separate from [`register`](crate::register): its target is an
//! incremental map, sampled by voxels, with normals oriented towards the sensor.

mod beams;
mod freedom;
mod icp;
mod map;
mod mapper;
mod motion;
mod observability;
mod off_planes;
mod quality;
mod replicates;
mod scan;
mod sensor_bias;
#[cfg(test)]
mod tests;
mod trajectory_error;
mod verdict;

pub use freedom::MotionFreedom;
pub use icp::IcpOptions;
pub use map::SurfaceMap;
pub use mapper::{Mapper, MapperOptions, MapperStep, MappingError};
pub use motion::deskew;
pub use quality::{
    AxisDeviation, DegenerateDirection, DegenerateMotion, PoseUncertainty, QualityLimits, ScanFlaw,
    ScanQuality, ScanVerdict,
};
pub use scan::{LidarScan, Surfel};
pub use sensor_bias::{CORRECTION_ERRORS, CorrectionErrors};
pub use trajectory_error::{
    PairSpacing, PoseErrors, TrajectoryAlignment, TrajectoryComparisonError, absolute_error,
    relative_error, umeyama,
};
pub use verdict::{LOST_RUN, LOST_SHARE, ScanRange, TrajectoryQuality, TrajectoryVerdict};
