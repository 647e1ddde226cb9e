//! The public face of etendue-sensors.

mod cw;
mod transport;
