//! Scanning lidars at work: from a scene to points with echoes, times and labels.
//!
//! [`simulate`] fires every shot of one sweep of a [`Lidar`](crate::lidar::Lidar), each
//! from the sensor's pose at its own time, follows the light of its rays
//! ([`crate::transport`]), adds what the air does ([`Air`]), and lets the receiver find echoes.
//! What the device would report is a [`Sweep`]: points, and for every shot whether it has
//! any.
//!
//! Ambient light ([`World::in_light`](crate::transport::World::in_light)) adds its noise where the
//! receiver says what lets it in (`window`), and noise alone makes echoes where the receiver says
//! so (`false_alarms`).
//!
//! Not modelled: light that the air sends back to triangulating and frequency-modulated
//! receivers, ambient light in these, and cross-talk between channels.

mod aim;
mod aimed;
pub(super) mod air;
mod ambient;
mod batches;
mod glow;
mod mean;
mod motion;
mod order;
mod points;
mod receive;
mod received;
mod simulate;
mod singles;
mod straight;
mod stretch;
mod triangulate;
mod turning;
mod waveform;

pub use air::Air;
pub use mean::{ExtraRay, MeanAir, MeanReceiver, MeanScanner, MeanShot};
pub use motion::Frame;
pub use points::{Outcome, Return, Source, Sweep};
pub(super) use simulate::begin;
pub use simulate::{simulate, simulate_into};
pub use waveform::waveform;
