//! Phase receivers in lanes: sixteen shots at a time, with or without derivatives.
//!
//! It applies to conical beams. The sums of the light that first surfaces return directly are formed in
//! lanes. Shots that also receive light by way of mirrors and glass, or along extra rays, go through the
//! plain form ([`Simulator`](crate::lidar::sweep::Simulator)).

mod batch;
mod lanes;

pub(in crate::lidar) use lanes::{PhaseLanes, PhaseMemory};
