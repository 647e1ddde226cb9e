//! A beam as a bundle of rays on its cross-section.
//!
//! The beam is a cone about its axis: at distance $d$ its edge lies $h\\,d$ from the axis, with
//! $h$ the half-tangent of the divergence (0.005 for a beam 40 mm across at 4 m). A
//! [`SubRayPattern`] places [`SubRay`]s on that cross-section with weights that sum to 1, so that a
//! target which fills the beam returns the same power for every pattern.

mod frame;
mod pattern;

pub use frame::BeamFrame;
pub use pattern::{SubRay, SubRayPattern};
