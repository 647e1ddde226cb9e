//! Rays in the frame of a mesh, in full precision.

use super::triangle::{Intersection, ShearedRay};
use super::triangle_cache::{CachedTriangle, CachedTriangles};
use crate::bvh::leaf_block::NO_TRIANGLE;
use crate::mesh::Mesh;
use nalgebra::{Point3, Vector3};

/// A ray in the frame of a mesh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalRay {
    pub origin: Point3<f64>,
    pub direction: Vector3<f64>,
    pub near: f64,
    /// The distance of the nearest hit so far, or the ray's own limit.
    pub far: f64,
    /// Whether a hit exactly at `far` counts.
    pub far_included: bool,
}

impl LocalRay {
    /// Depth along a packet's major axis of the point at a distance.
    pub fn depth(&self, distance: f64, axis: usize, sign: f32, start: f64) -> f64 {
        (distance * self.direction[axis] + (self.origin[axis] - start)) * f64::from(sign)
    }

    /// Intersects a triangle in `f64`, within the ray's limits.
    #[inline(always)]
    pub fn intersect(&self, mesh: &Mesh, triangle: u32) -> Option<Intersection> {
        let [a, b, c] = mesh.triangles[triangle as usize];
        let corner = |vertex: u32| mesh.vertices[vertex as usize];
        self.intersect_corners([corner(a), corner(b), corner(c)])
    }

    #[inline(always)]
    fn intersect_cached(&self, triangle: &CachedTriangle) -> Option<Intersection> {
        let [a, b, c] = triangle.vertex;
        self.intersect_corners([Point3::from(a), Point3::from(b), Point3::from(c)])
    }

    #[inline(always)]
    fn intersect_corners(&self, corners: [Point3<f64>; 3]) -> Option<Intersection> {
        let sheared = ShearedRay::new(self.origin, &self.direction);
        let intersection = sheared.intersect(corners)?;
        let t = intersection.distance;
        let before_far = t < self.far || (t == self.far && self.far_included);
        (t >= self.near && before_far).then_some(intersection)
    }

    /// Decides in `f64` where the error bounds of `f32` overlap: the intersection with `triangle`, if
    /// it comes before that with `incumbent`.
    #[cold]
    #[inline(never)]
    pub fn resolve(
        &self,
        triangles: &mut CachedTriangles,
        triangle: u32,
        incumbent: u32,
    ) -> Option<Intersection> {
        let intersection = self.intersect_cached(triangles.get(triangle))?;
        if incumbent == NO_TRIANGLE {
            return Some(intersection);
        }
        let Some(other) = self.intersect_cached(triangles.get(incumbent)) else {
            return Some(intersection);
        };
        let key = |at: &Intersection, number: u32| (at.distance, number);
        (key(&intersection, triangle) < key(&other, incumbent)).then_some(intersection)
    }
}

/// The full-precision rays of a traversal, by lane.
pub(crate) trait PreciseRays {
    /// The ray of a lane.
    fn ray(&self, lane: usize) -> LocalRay;
}

impl PreciseRays for LocalRay {
    fn ray(&self, _lane: usize) -> LocalRay {
        *self
    }
}
