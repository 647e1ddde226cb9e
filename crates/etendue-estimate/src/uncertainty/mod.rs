//! Uncertainty of an estimate: covariance, null directions and propagation to functions.

mod component;
mod covariance;
mod gauge;
mod invariant;
mod null_direction;
mod sandwich;
mod spectrum;

pub use component::{TangentComponent, components};
pub use covariance::{Uncertainty, cramer_rao};
pub use gauge::Gauge;
pub use invariant::{Invariant, invariant};
pub use null_direction::NullDirection;
