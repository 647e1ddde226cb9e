//! Rays and hits.

use crate::ids::ObjectId;
use nalgebra::{Point3, Vector3};

/// A ray in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Origin, m.
    pub origin: Point3<f64>,
    /// Unit direction.
    pub direction: Vector3<f64>,
    /// Hits nearer than this are ignored, m.
    pub near: f64,
    /// Hits farther than this are ignored, m.
    pub far: f64,
    /// The time at which moving objects are intersected, s from the scene's epoch.
    pub time: f64,
    /// Visibility mask: objects whose mask shares no bit with it are ignored.
    pub mask: u32,
}

impl Ray {
    /// A ray without limits at time zero that sees every object. `direction` must be a unit vector.
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

/// An intersection of a ray with a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance along the ray, m, computed in `f64`.
    pub distance: f64,
    /// The object.
    pub object: ObjectId,
    /// Index of the triangle in the object's mesh.
    pub triangle: u32,
    /// Barycentric weights of the triangle's second and third vertex.
    pub barycentric: [f64; 2],
    /// Unit normal in the world at the ray's time, outward by the right-handed winding.
    pub normal: Vector3<f64>,
}
