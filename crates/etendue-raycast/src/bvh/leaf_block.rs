//! Leaves: blocks of up to eight triangles in `f32`.

use super::rounding::{ROUND_OFF, above};
use nalgebra::Vector3;

/// The triangle number of an unused slot, and of no hit.
pub(crate) const NO_TRIANGLE: u32 = u32::MAX;

/// Number of triangles in a block.
pub(crate) const BLOCK: usize = 8;

/// Up to eight triangles. Corners of an unused slot are NaN, so that every comparison with them is
/// false.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct LeafBlock {
    /// Corners by vertex and axis, relative to the middle of the mesh, m.
    pub corner: [[[f32; 8]; 3]; 3],
    /// The largest difference of any coordinate along any edge, m.
    pub size: [f32; 8],
    /// Triangle numbers.
    pub triangle: [u32; 8],
    /// The largest coordinate of all corners, m.
    pub reach: f32,
    /// Error of a corner beyond its rounding to `f32`, in units of that rounding, m.
    pub slack: f32,
}

impl LeafBlock {
    /// A block without triangles.
    pub const EMPTY: Self = Self {
        corner: [[[f32::NAN; 8]; 3]; 3],
        size: [0.0; 8],
        triangle: [NO_TRIANGLE; 8],
        reach: 0.0,
        slack: 0.0,
    };

    /// A block of triangles, at most eight, by their numbers and corners relative to the middle of
    /// the mesh.
    pub fn new(triangles: impl IntoIterator<Item = (u32, [Vector3<f64>; 3])>) -> Self {
        let mut block = Self::EMPTY;
        for (slot, (triangle, corners)) in triangles.into_iter().enumerate() {
            block.set(slot, triangle, &corners);
        }
        block
    }

    fn set(&mut self, slot: usize, triangle: u32, corners: &[Vector3<f64>; 3]) {
        for (vertex, corner) in corners.iter().enumerate() {
            self.reach = self.reach.max(above(corner.amax()));
            for axis in 0..3 {
                self.corner[vertex][axis][slot] = corner[axis] as f32;
            }
        }
        let edges = [0, 1, 2].map(|i| (corners[(i + 1) % 3] - corners[i]).amax());
        self.size[slot] = above(edges[0].max(edges[1]).max(edges[2]));
        self.triangle[slot] = triangle;
    }

    /// The unit of all error bounds, m: the round-off of the largest coordinate that occurs for rays
    /// whose origins are up to `reach` from the middle of the mesh, plus the error of packing.
    #[inline(always)]
    pub fn error_unit(&self, reach: f32) -> f32 {
        ROUND_OFF * (self.reach + reach) + self.slack
    }
}

/// The triangle numbers of a block's used slots.
pub(crate) fn used_triangles(triangles: &[u32; BLOCK]) -> Vec<u32> {
    let used = |triangle: &u32| *triangle != NO_TRIANGLE;
    triangles.iter().copied().filter(used).collect()
}
