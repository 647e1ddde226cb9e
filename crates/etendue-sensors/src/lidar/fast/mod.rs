//! The pipeline in lanes of sixteen: the same returns as the plain pipeline, bit for bit.

pub(in crate::lidar) mod aim;
pub(in crate::lidar) mod aimed;
pub(in crate::lidar) mod direct;
pub(in crate::lidar) mod order;
pub(in crate::lidar) mod phase;
pub(in crate::lidar) mod rotor;
pub(in crate::lidar) mod single_ray;
