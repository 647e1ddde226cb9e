//! The public face of etendue-sensors.

mod cw;
mod pulsed;
mod rig;
mod transport;
