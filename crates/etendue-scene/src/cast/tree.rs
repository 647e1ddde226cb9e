//! A mesh's bounding volume hierarchy: nodes of eight boxes, leaves of eight triangles.

use crate::Mesh;
use crate::motion::Bounds;
use nalgebra::{Point3, Vector3};
use obvhs::aabb::Aabb;

/// Children whose number has this bit are blocks of triangles, others are nodes.
pub(crate) const LEAF: u32 = 1 << 31;

/// The triangle number of an unused place in a block.
pub(crate) const NO_TRIANGLE: u32 = u32::MAX;

/// A mesh's triangles in a tree of boxes.
///
/// Numbers are `f32`, relative to the middle of the mesh's own box: a mesh far from its frame's
/// origin loses nothing.
#[derive(Clone)]
pub(crate) struct MeshTree {
    /// What the `f32` coordinates are relative to, in the mesh's frame, m.
    pub middle: Point3<f64>,
    /// The largest coordinate relative to the middle.
    pub reach: f32,
    /// The mesh's box in its frame.
    pub bounds: Bounds,
    pub nodes: Vec<Node>,
    pub blocks: Vec<Block>,
    /// A child like those in [`Node::child`].
    pub root: u32,
    /// How many entries a depth-first search can leave on its stack.
    pub stack_need: usize,
}

impl MeshTree {
    /// How much memory it takes, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.blocks[..])
    }
}

/// Up to eight boxes with what is in them. An unused place has a box that nothing meets.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Node {
    /// Bounds: axis `a`'s lower ones at `2 * a`, its upper ones at `2 * a + 1`.
    pub bounds: [[f32; 8]; 6],
    /// Number of a node, or [`LEAF`] and the number of a block.
    pub child: [u32; 8],
}

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

impl Block {
    pub const EMPTY: Self = Self {
        corner: [[[f32::NAN; 8]; 3]; 3],
        size: [0.0; 8],
        triangle: [NO_TRIANGLE; 8],
        reach: 0.0,
    };

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
            self.reach = self.reach.max((corner.amax() as f32).next_up());
            for axis in 0..3 {
                self.corner[vertex][axis][place] = corner[axis] as f32;
            }
        }
        let edges = [0, 1, 2].map(|i| (corners[(i + 1) % 3] - corners[i]).amax());
        self.size[place] = (edges[0].max(edges[1]).max(edges[2]) as f32).next_up();
        self.triangle[place] = triangle;
    }
}

/// A triangle's vertices relative to the middle.
pub(crate) fn corners(mesh: &Mesh, middle: &Point3<f64>, triangle: u32) -> [Vector3<f64>; 3] {
    mesh.triangles[triangle as usize].map(|v| mesh.vertices[v as usize] - middle)
}
