//! The public face of etendue-physics.

mod surface;
