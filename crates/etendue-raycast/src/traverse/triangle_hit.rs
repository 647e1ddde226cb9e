//! A hit before its normal is computed.

use crate::ids::ObjectId;
use crate::intersect::local_ray::LocalRay;
use crate::mesh::Mesh;
use crate::ray::Hit;
use nalgebra::Vector3;

/// A [`Hit`] without its normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriangleHit {
    pub distance: f64,
    pub object: ObjectId,
    pub triangle: u32,
    pub barycentric: [f64; 2],
}

impl TriangleHit {
    /// The hit of a ray with a triangle of an object, if there is one within the ray's limits.
    pub fn new(ray: &LocalRay, mesh: &Mesh, object: usize, triangle: u32) -> Option<Self> {
        let intersection = ray.intersect(mesh, triangle)?;
        Some(Self {
            distance: intersection.distance,
            object: ObjectId(object as u32),
            triangle,
            barycentric: intersection.barycentric,
        })
    }

    /// The hit with its normal in the world.
    pub fn with_normal(self, normal: Vector3<f64>) -> Hit {
        Hit {
            distance: self.distance,
            object: self.object,
            triangle: self.triangle,
            barycentric: self.barycentric,
            normal,
        }
    }

    /// Ends a ray in the frame of object `object` at this hit. At the same distance the object with
    /// the lower number is nearer.
    #[inline]
    pub fn limit(&self, ray: &mut LocalRay, object: usize) {
        ray.far = self.distance;
        ray.far_included = object < self.object.0 as usize;
    }
}
