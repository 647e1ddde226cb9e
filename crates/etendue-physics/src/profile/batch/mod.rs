//! Batched form of a profile: the expected and random returns of N consecutive beams as arrays.
//!
//! The plain form is [`Profile::at`](super::Profile::at) and [`Profile::draw`](super::Profile::draw);
//! the tests compare both. The loops are independent of the instruction set: they are inlined into
//! callers, which may be compiled for any target features.

mod curve;
mod distance;
mod distributions;
mod glare;
mod lookup;
mod sampler;
mod tail;

#[cfg(test)]
mod tests;

pub use sampler::{DrawnBatch, IncidentBatch, ProfileSampler};
