//! The public face of etendue-sensors.

mod camera;
mod cw;
#[cfg(feature = "rapier")]
mod engine;
mod pulsed;
mod rig;
mod transport;
