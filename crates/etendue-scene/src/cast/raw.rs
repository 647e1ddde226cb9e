//! Sixteen rays in, sixteen hits out, all in `f32`.

use super::face::Met;
use crate::Ray;
use nalgebra::{Point3, Vector3};

/// Sixteen rays in the world frame, by axis and lane: the face for callers that keep their rays
/// in this form. Best where the rays are neighbours.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct RayPacket {
    /// Where each starts, m.
    pub origin: [[f32; 16]; 3],
    /// Unit directions.
    pub direction: [[f32; 16]; 3],
    /// Hits nearer than this are ignored, m.
    pub near: [f32; 16],
    /// Hits farther than this are ignored, m.
    pub far: [f32; 16],
}

/// What sixteen rays met.
///
/// Which triangle is met is decided as for single rays, in `f64` where `f32` cannot tell;
/// distances and weights are rounded like `f32` arithmetic at the size of the scene.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct HitPacket {
    /// Along the ray, m; the ray's far limit where nothing was met.
    pub distance: [f32; 16],
    /// The object met, `u32::MAX` where there is none.
    pub object: [u32; 16],
    /// The triangle of that object's mesh, `u32::MAX` where nothing was met.
    pub triangle: [u32; 16],
    /// Weights of the second and third vertex.
    pub barycentric: [[f32; 16]; 2],
}

impl RayPacket {
    /// One of the rays, at time zero, that sees everything.
    pub(crate) fn widened(&self, lane: usize) -> Ray {
        Ray {
            origin: Point3::from(self.origin.map(|axis| f64::from(axis[lane]))),
            direction: Vector3::from(self.direction.map(|axis| f64::from(axis[lane]))),
            near: f64::from(self.near[lane]),
            far: f64::from(self.far[lane]),
            time: 0.0,
            mask: u32::MAX,
        }
    }
}

impl HitPacket {
    /// Rounds a hit into its lane.
    pub(crate) fn put(&mut self, lane: usize, hit: Option<&Met>, far: f32) {
        self.distance[lane] = hit.map_or(far, |hit| hit.distance as f32);
        self.object[lane] = hit.map_or(u32::MAX, |hit| hit.object.0);
        self.triangle[lane] = hit.map_or(u32::MAX, |hit| hit.triangle);
        for vertex in 0..2 {
            self.barycentric[vertex][lane] = hit.map_or(0.0, |hit| hit.barycentric[vertex] as f32);
        }
    }
}

impl Default for HitPacket {
    fn default() -> Self {
        Self {
            distance: [f32::INFINITY; 16],
            object: [u32::MAX; 16],
            triangle: [u32::MAX; 16],
            barycentric: [[0.0; 16]; 2],
        }
    }
}
