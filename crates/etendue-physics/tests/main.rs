//! The public face of the crate against reference values.

mod pulse_bias;
