//! The public face of etendue-sensors.

mod cw;
mod pulsed;
mod transport;
