//! The vectorised lidar pipeline: sixteen shots at a time, one per lane, bit-equal to the plain pipeline
//! ([`sweep`](super::sweep)).
//!
//! It applies to pulsed lidars without backscatter, ambient light and false alarms
//! ([`direct_returns::DirectReturns`]), and to phase lidars with conical beams ([`phase`]). [`expected`] predicts the
//! returns of pulsed lidars with derivatives, [`phase`] those of phase lidars, and [`expected_single`] those of beams of one
//! ray. [`single_ray`] and [`merged_rays`] simulate beams of one and of several rays, [`report`] writes the returns of
//! both. Each lane performs the operations of the plain form in the same
//! order; derivatives are equal up to rounding. Shots that hit mirrors or glass are simulated by the plain form.

mod aim;
mod batch;
mod cast_batch;
mod direct;
mod direct_returns;
mod expected;
mod expected_single;
mod expected_tile;
mod memory;
mod merged_rays;
mod order;
mod phase;
mod poses;
mod received;
mod report;
mod rotor;
mod shot_tiles;
mod simulator;
mod single_ray;
mod vectorized;

pub(super) use expected::{ExpectedPulses, PulseMemory};
pub(super) use expected_single::{SingleMemory, SingleRays};
pub use expected_tile::{MotionGradients, MotionSlopes, ReturnTile};
pub(super) use memory::FastMemory;
pub(super) use phase::{PhaseLanes, PhaseMemory};
pub(super) use shot_tiles::ShotTiles;
pub(super) use vectorized::VectorizedSimulator;
