//! Registration of two point clouds: ICP, generalised ICP and NDT.
//!
//! The methods have no model of the sensor and are baselines for fits with the simulator. The result
//! `target_from_source` moves the source cloud onto the target. Both clouds are in m, in the plane
//! ($D = 2$, [`Isometry2`](nalgebra::Isometry2)) or in space ($D = 3$,
//! [`Isometry3`](nalgebra::Isometry3)).
//!
//! Not modelled: motion during a sweep, noise of the sensor, reflections.

mod cloud;
mod gicp;
mod ndt;
mod pairs;
mod point_to_plane;
mod point_to_point;
mod registration;
mod rigid_motion;
mod tree;

pub use cloud::{CloudPoint, cloud_size, downsample};
pub(crate) use gicp::WhitenedPair;
pub(crate) use registration::CloudPair;
pub use registration::{RegisterError, Registration, RegistrationMethod, RegistrationResult};
pub use rigid_motion::RigidMotion;
