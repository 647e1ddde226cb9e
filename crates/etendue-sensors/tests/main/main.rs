//! The public face of etendue-sensors.

mod camera;
#[cfg(feature = "rapier")]
mod engine;
mod lidar;
mod phase;
mod rig;
mod transport;

/// Numbers with derivatives by up to nine parameters: one type, so that the pipelines are compiled once for all tests.
type Derivatives = etendue_physics::Dual<9>;
