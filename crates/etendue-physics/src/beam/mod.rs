//! Beams as bundles of rays over the cross-section.
//!
//! Continuous-wave lidars have a round beam, a cone around its axis: at distance $d$ its edge is
//! $h\\,d$ from the axis, with $h$ the half-tangent of the divergence (0.005 for a beam 40 mm
//! across at 4 m). A [`SubRayPattern`] places [`SubRay`]s on that cross-section with weights that
//! sum to 1, so that a target which fills the beam returns the same power for every pattern.
//!
//! Scanning lidars have the beam of their data sheet: a [`BeamWidth`] is elliptical, has a width at
//! the exit and a divergence, and gives [`BeamRay`]s with the beam's second moments.

mod frame;
mod pattern;
mod width;

pub use frame::BeamFrame;
pub use pattern::{SubRay, SubRayPattern};
pub use width::{BeamRay, BeamShape, BeamWidth, Divergence, DivergenceAt, outermost};
