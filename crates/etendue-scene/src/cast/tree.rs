//! A mesh's bounding volume hierarchy: nodes of eight boxes, leaves of eight triangles.

use super::block::Block;
use super::known::Identity;
use super::lanes::fetch;
use super::packed::Packed;
use crate::Mesh;
use crate::motion::Bounds;
use nalgebra::{Point3, Vector3};
use obvhs::aabb::Aabb;

/// Children whose number has this bit are blocks of triangles, others are nodes.
pub(crate) const LEAF: u32 = 1 << 31;

/// Blocks whose number has this bit are packed.
pub(crate) const PACKED: u32 = 1 << 30;

/// The triangle number of an unused place in a block.
pub(crate) const NO_TRIANGLE: u32 = u32::MAX;

/// A mesh's triangles in a tree of boxes.
///
/// Numbers are `f32`, relative to the middle of the mesh's own box: a mesh far from its frame's
/// origin loses nothing.
#[derive(Clone)]
pub(crate) struct MeshTree {
    /// Another whenever its triangles are others, or elsewhere.
    pub identity: Identity,
    /// What the `f32` coordinates are relative to, in the mesh's frame, m.
    pub middle: Point3<f64>,
    /// The largest coordinate relative to the middle.
    pub reach: f32,
    /// The mesh's box in its frame.
    pub bounds: Bounds,
    pub nodes: Vec<Node>,
    pub blocks: Vec<Block>,
    pub packed: Vec<Packed>,
    /// A child like those in [`Node::child`].
    pub root: u32,
    /// How many entries a depth-first search can leave on its stack.
    pub stack_need: usize,
}

impl MeshTree {
    /// The triangles of a child with the [`LEAF`] bit, opened into `room` if they are packed.
    #[inline(always)]
    pub fn leaf<'a>(&'a self, child: u32, room: &'a mut Block) -> &'a Block {
        let number = (child & !(LEAF | PACKED)) as usize;
        if child & PACKED == 0 {
            return &self.blocks[number];
        }
        self.packed[number].open(room);
        room
    }

    /// Has what is behind a child fetched, to be searched soon.
    #[inline(always)]
    pub fn fetch(&self, child: u32) {
        let number = (child & !(LEAF | PACKED)) as usize;
        if child & LEAF == 0 {
            fetch(&self.nodes[number]);
        } else if child & PACKED == 0 {
            fetch(&self.blocks[number]);
        } else {
            fetch(&self.packed[number]);
        }
    }

    /// How much memory it takes, bytes.
    pub fn bytes(&self) -> usize {
        let leaves = size_of_val(&self.blocks[..]) + size_of_val(&self.packed[..]);
        size_of_val(&self.nodes[..]) + leaves
    }
}

/// Up to eight boxes with what is in them. An unused place has a box that nothing meets.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Node {
    /// Bounds: axis `a`'s lower ones at `2 * a`, its upper ones at `2 * a + 1`.
    pub bounds: [[f32; 8]; 6],
    /// Number of a node, or [`LEAF`], [`PACKED`] where it is, and the number of a block.
    pub child: [u32; 8],
}

impl Node {
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

    /// Whether there is a child in this place.
    pub fn is_used(&self, place: usize) -> bool {
        self.bounds[0][place] <= self.bounds[1][place]
    }

    pub fn set_bounds(&mut self, place: usize, bounds: &Aabb) {
        for axis in 0..3 {
            self.bounds[2 * axis][place] = bounds.min[axis];
            self.bounds[2 * axis + 1][place] = bounds.max[axis];
        }
    }
}

/// A triangle's vertices relative to the middle.
pub(crate) fn corners(mesh: &Mesh, middle: &Point3<f64>, triangle: u32) -> [Vector3<f64>; 3] {
    mesh.triangles[triangle as usize].map(|v| mesh.vertices[v as usize] - middle)
}
