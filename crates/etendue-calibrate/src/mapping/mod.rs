//! Mapping with a lidar, to measure drift: scans registered one after the other onto the map that
//! they make.
//!
//! [`Mapper::add`] moves a scan onto the map by point-to-plane ICP from a prior (odometry, or the
//! motion so far), and puts its points into the map. [`absolute_error`] and [`relative_error`] say
//! how far a trajectory is off, by the definitions of the PyPI package `evo`.
//!
//! What is not modelled: motion during a sweep, loop closures, uncertainty of the poses. It is as
//! good as ICP is, which is what a depth correction is judged by.

mod icp;
mod map;
mod mapper;
mod reference;
mod trajectory_error;

pub use icp::{Icp, IcpOptions};
pub use map::SurfaceMap;
pub use mapper::{Mapper, MapperOptions, MappingError, Step};
pub use reference::ReferenceMesh;
pub use trajectory_error::{
    Alignment, Errors, Spacing, TrajectoryErrorProblem, absolute_error, average, relative_error,
    rms, umeyama,
};
