//! What bumps into things.

use etendue_scene::Mesh;
use nalgebra::Isometry3;
use std::sync::Arc;

/// A shape about its own middle.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Sides along x, y and z, m.
    Cuboid([f64; 3]),
    /// m.
    Sphere {
        /// m.
        radius: f64,
    },
    /// Along the z axis.
    Cylinder {
        /// m.
        radius: f64,
        /// m.
        length: f64,
    },
    /// A cylinder along the z axis with half balls on its ends.
    Capsule {
        /// m.
        radius: f64,
        /// Of the cylinder, m.
        length: f64,
    },
    /// The convex hull of a mesh.
    Hull(Arc<Mesh>),
}

/// A shape on a link.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedShape {
    /// Where it sits.
    pub link_from_shape: Isometry3<f64>,
    /// The shape.
    pub shape: Shape,
}
