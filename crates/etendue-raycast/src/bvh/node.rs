//! Nodes of eight boxes, and the encoding of their children.

use obvhs::aabb::Aabb;

/// The bit of a child's number that marks a leaf; numbers without it are nodes.
pub(crate) const LEAF: u32 = 1 << 31;

/// The bit of a leaf's number that marks a packed block.
pub(crate) const PACKED: u32 = 1 << 30;

/// A node: up to eight boxes and their children. An unused slot has an empty box, which no ray
/// intersects.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Node {
    /// Bounds: the lower ones of axis `a` at `2 * a`, the upper ones at `2 * a + 1`.
    pub bounds: [[f32; 8]; 6],
    /// Number of a node, or that of a leaf with the bits [`LEAF`] and, where it applies, [`PACKED`].
    pub child: [u32; 8],
}

impl Node {
    /// A node without children.
    pub const EMPTY: Self = Self {
        bounds: [
            [f32::INFINITY; 8],
            [f32::NEG_INFINITY; 8],
            [f32::INFINITY; 8],
            [f32::NEG_INFINITY; 8],
            [f32::INFINITY; 8],
            [f32::NEG_INFINITY; 8],
        ],
        child: [LEAF; 8],
    };

    /// Whether a slot holds a child.
    pub fn is_used(&self, slot: usize) -> bool {
        self.bounds[0][slot] <= self.bounds[1][slot]
    }

    /// Sets the box of a slot.
    pub fn set_bounds(&mut self, slot: usize, bounds: &Aabb) {
        for axis in 0..3 {
            self.bounds[2 * axis][slot] = bounds.min[axis];
            self.bounds[2 * axis + 1][slot] = bounds.max[axis];
        }
    }
}
