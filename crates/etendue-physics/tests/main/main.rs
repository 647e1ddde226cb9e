//! The public face of the crate against reference values.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod camera;
mod gnss;
mod inertial;
mod phase;
mod pulse_bias;
mod surface;
