//! What is asked of a scene, and what it answers.

use crate::ObjectId;
use nalgebra::{Point3, Vector3};

/// A ray in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it starts, m.
    pub origin: Point3<f64>,
    /// Unit direction.
    pub direction: Vector3<f64>,
    /// Hits nearer than this are ignored, m.
    pub near: f64,
    /// Hits farther than this are ignored, m.
    pub far: f64,
    /// When it is fired, s from the scene's epoch: moving objects stand where they are then.
    pub time: f64,
    /// Objects whose own mask shares no bit with this are not seen.
    pub mask: u32,
}

impl Ray {
    /// A ray without limits that sees everything, at time zero. `direction` must be a unit vector.
    pub fn new(origin: Point3<f64>, direction: Vector3<f64>) -> Self {
        debug_assert!((direction.norm_squared() - 1.0).abs() < 1e-9);
        Self {
            origin,
            direction,
            near: 0.0,
            far: f64::INFINITY,
            time: 0.0,
            mask: u32::MAX,
        }
    }
}

/// The surface that a ray met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Along the ray, m, refined in `f64`.
    pub distance: f64,
    /// The object met.
    pub object: ObjectId,
    /// The triangle of that object's mesh.
    pub triangle: u32,
    /// Weights of the triangle's second and third vertex.
    pub barycentric: [f64; 2],
    /// Outward unit normal of the triangle (right-handed winding) in the world, as its object
    /// stood at the ray's time.
    pub normal: Vector3<f64>,
}
