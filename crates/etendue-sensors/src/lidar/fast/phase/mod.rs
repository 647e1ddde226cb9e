//! Vectorised phase receivers: sixteen shots at a time, with or without derivatives.
//!
//! It applies to conical beams. Direct returns are summed in lanes. Shots that also receive light by way of
//! mirrors and glass, or along extra rays, are simulated by the plain form
//! ([`Simulator`](crate::lidar::sweep::Simulator)).

mod batch;
mod expected;
mod lanes;
mod noise;

pub(in crate::lidar) use lanes::{PhaseLanes, PhaseMemory};
