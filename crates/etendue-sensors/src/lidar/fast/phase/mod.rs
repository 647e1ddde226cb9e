//! Phase receivers, sixteen beams at a time.
//!
//! One beam: the rays of its cross-section, the light that each returns ([`crate::transport`]), the
//! light of the air, and the receiver that turns the sum of all phasors into one range
//! ([`PhaseReceiver`](crate::lidar::PhaseReceiver)).

mod air;
mod batch;
mod fire;
mod light;
mod simulate;

pub use fire::{PhaseHooks, PhaseShot, predict_phase};
pub use light::LitSurface;
pub(in crate::lidar) use simulate::simulate_into;
