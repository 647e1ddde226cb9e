//! The public face of etendue-sensors.

mod camera;
#[cfg(feature = "rapier")]
mod engine;
mod lidar;
mod phase;
mod rig;
mod transport;
