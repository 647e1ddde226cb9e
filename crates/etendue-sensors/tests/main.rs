//! The public face of etendue-sensors.

mod transport;
