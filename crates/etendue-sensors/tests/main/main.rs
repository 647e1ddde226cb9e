//! The public face of etendue-sensors.

mod camera;
mod cw;
mod pulsed;
mod transport;
