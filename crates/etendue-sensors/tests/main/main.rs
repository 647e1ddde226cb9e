//! The public face of etendue-sensors.

mod camera;
mod cw;
#[cfg(feature = "rapier")]
mod engine;
mod lidar;
mod rig;
mod transport;
