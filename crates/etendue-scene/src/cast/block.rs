//! The leaves of a tree: eight triangles at a time.

use super::best::ROUND_OFF;
use super::outwards::above;
use super::tree::{NO_TRIANGLE, corners};
use crate::Mesh;
use nalgebra::Point3;

/// Up to eight triangles. An unused place has no number that compares.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// Positions by vertex and axis.
    pub corner: [[[f32; 8]; 3]; 3],
    /// The largest difference of any coordinate along any edge.
    pub size: [f32; 8],
    pub triangle: [u32; 8],
    /// The largest coordinate of all corners.
    pub reach: f32,
    /// What a corner may be wrong by beyond its rounding to `f32`, in units of that rounding, m.
    pub slack: f32,
}

impl Block {
    pub const EMPTY: Self = Self {
        corner: [[[f32::NAN; 8]; 3]; 3],
        size: [0.0; 8],
        triangle: [NO_TRIANGLE; 8],
        reach: 0.0,
        slack: 0.0,
    };

    /// The unit of all error bounds, m: round-off at the largest coordinate that occurs when
    /// rays start up to `reach` from the middle, and what packing adds.
    #[inline(always)]
    pub fn error(&self, reach: f32) -> f32 {
        ROUND_OFF * (self.reach + reach) + self.slack
    }

    /// The numbers of its triangles.
    pub fn triangles(&self) -> Vec<u32> {
        let used = |triangle: &u32| *triangle != NO_TRIANGLE;
        self.triangle.into_iter().filter(used).collect()
    }

    /// A block of the triangles with these numbers, at most eight.
    pub fn new(mesh: &Mesh, middle: &Point3<f64>, triangles: &[u32]) -> Self {
        let mut block = Self::EMPTY;
        for (place, &triangle) in triangles.iter().enumerate() {
            block.put(mesh, middle, place, triangle);
        }
        block
    }

    fn put(&mut self, mesh: &Mesh, middle: &Point3<f64>, place: usize, triangle: u32) {
        let corners = corners(mesh, middle, triangle);
        for (vertex, corner) in corners.iter().enumerate() {
            self.reach = self.reach.max(above(corner.amax()));
            for axis in 0..3 {
                self.corner[vertex][axis][place] = corner[axis] as f32;
            }
        }
        let edges = [0, 1, 2].map(|i| (corners[(i + 1) % 3] - corners[i]).amax());
        self.size[place] = above(edges[0].max(edges[1]).max(edges[2]));
        self.triangle[place] = triangle;
    }
}
