//! The vectorised lidar pipeline: sixteen shots at a time, one per lane, bit-equal to the plain pipeline
//! ([`sweep`](super::sweep)).
//!
//! It applies to pulsed lidars without backscatter, ambient light and false alarms
//! ([`direct::DirectReturns`]), and to phase lidars with conical beams ([`phase`]). Each lane performs the
//! operations of the plain form in the same order. Shots that hit mirrors or glass are simulated by the
//! plain form.

pub(super) mod aim;
pub(super) mod direct;
pub(super) mod order;
pub(super) mod phase;
pub(super) mod poses;
pub(super) mod rotor;
mod simulator;
pub(super) mod single_ray;
mod vectorized;

pub(super) use phase::{PhaseLanes, PhaseMemory};
pub(super) use simulator::FastMemory;
pub(super) use vectorized::VectorizedSimulator;
