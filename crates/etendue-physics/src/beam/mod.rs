//! A beam as a bundle of rays on its cross-section.
//!
//! Continuous-wave lidars have a round beam of one half-tangent: it is a cone about its axis: at distance $d$ its edge lies $h\\,d$ from the axis, with
//! $h$ the half-tangent of the divergence (0.005 for a beam 40 mm across at 4 m). A
//! [`SubRayPattern`] places [`SubRay`]s on that cross-section with weights that sum to 1, so that a
//! target which fills the beam returns the same power for every pattern.
//!
//! Scanning lidars have the beam of a data sheet: a [`BeamWidth`] is elliptical, has a width where
//! it leaves and one at a distance, and gives [`BeamRay`]s whose moments are the beam's.

mod frame;
mod pattern;
mod width;

pub use frame::BeamFrame;
pub use pattern::{SubRay, SubRayPattern};
pub use width::{BeamRay, BeamShape, BeamWidth, Divergence, DivergenceAt};
