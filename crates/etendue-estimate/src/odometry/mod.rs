//! Lidar odometry by scan-to-map registration, and errors of trajectories.
//!
//! [`Mapper::add`] registers a scan onto the map by point-to-plane ICP from a prior (odometry, or a
//! constant-velocity prediction) and inserts its points into the map. [`absolute_error`] and
//! [`relative_error`] compare trajectories by the definitions of the PyPI package `evo`.
//!
//! Not modelled: motion during a sweep, loop closures, uncertainty of the poses.
//!
//! The point-to-plane registration is separate from [`register`](crate::register): its target is an
//! incremental map, sampled by voxels, with normals oriented towards the sensor, and comparisons of
//! depth corrections must not change with a registration baseline.

mod icp;
mod map;
mod mapper;
mod trajectory_error;

pub use icp::{IcpOptions, IcpResult};
pub use map::SurfaceMap;
pub use mapper::{Mapper, MapperOptions, MapperStep, MappingError};
pub use trajectory_error::{
    PairSpacing, PoseErrors, TrajectoryAlignment, TrajectoryComparisonError, absolute_error,
    relative_error, umeyama,
};
