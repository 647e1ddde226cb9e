//! Collision shapes.

use etendue_scene::Mesh;
use nalgebra::Isometry3;
use std::sync::Arc;

/// A collision shape, centred at its origin.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Cuboid with sides along x, y and z, m.
    Cuboid([f64; 3]),
    /// Sphere.
    Sphere {
        /// Radius, m.
        radius: f64,
    },
    /// Cylinder along the z axis.
    Cylinder {
        /// Radius, m.
        radius: f64,
        /// Length, m.
        length: f64,
    },
    /// Capsule: a cylinder along the z axis with hemispheres on its ends.
    Capsule {
        /// Radius, m.
        radius: f64,
        /// Length of the cylinder, m.
        length: f64,
    },
    /// The convex hull of a mesh.
    Hull(Arc<Mesh>),
}

/// A collision shape on a link.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedShape {
    /// Pose of the shape on the link.
    pub link_from_shape: Isometry3<f64>,
    /// The shape.
    pub shape: Shape,
}
