//! The public face of etendue-sensors.

mod camera;
mod cw;
mod pulsed;
mod rig;
mod transport;
