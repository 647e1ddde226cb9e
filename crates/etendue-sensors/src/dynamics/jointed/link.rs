//! Links.

use super::inertia::Inertia;
use super::shape::PlacedShape;

/// A link: a rigid part of a robot.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// Inertia; `None` for a frame without mass.
    pub inertia: Option<Inertia>,
    /// Collision shapes.
    pub shapes: Vec<PlacedShape>,
}
