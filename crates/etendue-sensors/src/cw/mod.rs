//! Continuous-wave lidars: what they are, and how a turn of one is simulated.
//!
//! [`CwLidar`] describes a sensor; [`simulate`] gives the sweep that it would report, [`shoot`]
//! the same with derivatives.
//!
//! One beam: its own pose at its own time, its sub-rays ([`etendue_physics::beam`]), the light that
//! each sends back ([`crate::transport`]), and the receiver
//! ([`etendue_physics::phase`]) that turns the sum into one range or an error code.

mod batch;
mod collected;
mod lidar;
mod sweep;

pub use lidar::{Beam, CwLidar, InvalidLidar};
pub use sweep::{Shot, Turn, shoot, shoot_paths, shoot_with, simulate, simulate_paths};
