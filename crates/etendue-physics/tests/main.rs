//! The public face of etendue-physics.

mod cw;
mod pulse_bias;
