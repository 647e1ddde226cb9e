//! The bounding volume hierarchy of a mesh.

use super::leaf_block::{BLOCK, LeafBlock, used_triangles};
use super::node::{LEAF, Node, PACKED};
use super::packed_block::PackedBlock;
use super::rounding::{above, outer_box};
use super::wide_tree::{LeafMembers, WideTree};
use crate::bounding_box::BoundingBox;
use crate::mesh::Mesh;
use etendue_simd::prefetch;
use nalgebra::{Point3, Vector3};
use obvhs::aabb::Aabb;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Meshes with more triangles than this get packed leaves: full ones would take more than 1.2 GB.
/// Smaller meshes are traversed faster without (BENCHMARKS.md).
const LARGE: usize = 1 << 24;

/// A bottom-level acceleration structure: the triangles of one mesh in nodes of eight boxes and
/// leaves of eight triangles.
///
/// Coordinates are `f32` relative to the middle of the mesh's box, so that a mesh far from the origin
/// of its frame loses no precision.
#[derive(Clone)]
pub(crate) struct Blas {
    /// The version of its triangles.
    pub id: BlasId,
    /// The origin of the `f32` coordinates, in the mesh's frame, m.
    pub middle: Point3<f64>,
    /// The largest coordinate relative to the middle, m.
    pub reach: f32,
    /// The mesh's box in its frame.
    pub bounds: BoundingBox,
    pub nodes: Vec<Node>,
    pub blocks: Vec<LeafBlock>,
    pub packed: Vec<PackedBlock>,
    /// The root, encoded like [`Node::child`].
    pub root: u32,
    /// Number of stack entries that a depth-first traversal can need.
    pub stack_need: usize,
}

/// Identifies the triangles of a [`Blas`]: it changes whenever they or their vertices change, so that
/// data cached from one is never used for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlasId(u64);

impl BlasId {
    /// The identity of no structure.
    pub const NONE: Self = Self(0);

    /// Where the slots of its triangles begin in a cache: apart for successive meshes.
    #[inline(always)]
    pub fn first_slot(self) -> usize {
        41 * (self.0 % 1024) as usize
    }

    /// A new identity. The counter is the only state that casters share; its values show in no
    /// result.
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Blas {
    /// Builds the structure of a mesh that passed [`Mesh::check`].
    pub fn new(mesh: &Mesh) -> Self {
        if mesh.triangles.len() > LARGE {
            Self::build(mesh, PackedBlock::pays_for)
        } else {
            Self::build(mesh, |_| false)
        }
    }

    /// Builds the structure with all leaves packed.
    pub fn packed(mesh: &Mesh) -> Self {
        Self::build(mesh, |_| true)
    }

    /// Builds the structure, with those leaves packed for which `pack` is true.
    fn build(mesh: &Mesh, pack: impl Fn(&LeafBlock) -> bool + Sync) -> Self {
        // Build the tree over the triangles' boxes.
        let frame = LocalFrame::new(mesh);
        let boxes: Vec<Aabb> = (0..mesh.triangles.len() as u32)
            .into_par_iter()
            .map(|triangle| triangle_box(&frame.corners(triangle)))
            .collect();
        let wide = WideTree::new(&boxes, BLOCK as u32);

        // Pack leaves where that was chosen.
        let block = |members: &LeafMembers| frame.block(members.numbers());
        let packed: Vec<Option<PackedBlock>> = wide
            .leaves
            .par_iter()
            .map(|members| {
                let block = block(members);
                pack(&block).then(|| PackedBlock::new(&block))
            })
            .collect();

        // Make the other leaves, and number the leaves of each kind.
        let blocks = wide
            .leaves
            .par_iter()
            .zip(packed.par_iter())
            .filter(|(_, packed)| packed.is_none())
            .map(|(members, _)| block(members))
            .collect();
        let mut blas = Self {
            id: BlasId::new(),
            middle: frame.middle,
            reach: frame.reach,
            bounds: frame.bounds,
            nodes: wide.nodes,
            blocks,
            packed: vec![],
            root: wide.root,
            stack_need: wide.stack_need,
        };
        blas.number_leaves(&packed);
        blas.packed = packed.into_iter().flatten().collect();
        blas
    }

    /// Replaces each leaf's number by its index among the leaves of its kind, packed or not.
    fn number_leaves(&mut self, packed: &[Option<PackedBlock>]) {
        let mut next = [LEAF, LEAF | PACKED];
        let new: Vec<u32> = packed
            .iter()
            .map(|packed| {
                let next = &mut next[usize::from(packed.is_some())];
                *next += 1;
                *next - 1
            })
            .collect();
        let renumber = |child: &mut u32| {
            if *child & LEAF != 0 {
                *child = new[(*child & !LEAF) as usize];
            }
        };
        renumber(&mut self.root);
        for node in &mut self.nodes {
            for slot in 0..8 {
                if node.is_used(slot) {
                    renumber(&mut node.child[slot]);
                }
            }
        }
    }

    /// Updates the structure to moved vertices: the same tree with boxes refitted. Results are exact
    /// however far the vertices moved; traversal is slower than of a rebuilt tree if they moved far.
    pub fn refit(&mut self, mesh: &Mesh) {
        let frame = LocalFrame::new(mesh);
        self.id = BlasId::new();
        self.middle = frame.middle;
        self.reach = frame.reach;
        self.bounds = frame.bounds;

        // Update the leaves, and compute their boxes.
        let refitted = self.blocks.par_iter_mut().map(|block| {
            let triangles = used_triangles(&block.triangle);
            *block = frame.block(&triangles);
            frame.bounds_of(&triangles)
        });
        let blocks: Vec<Aabb> = refitted.collect();
        let refitted = self.packed.par_iter_mut().map(|packed| {
            let triangles = used_triangles(packed.triangles());
            *packed = PackedBlock::new(&frame.block(&triangles));
            frame.bounds_of(&triangles)
        });
        let packed: Vec<Aabb> = refitted.collect();

        self.refit_nodes(&blocks, &packed);
    }

    /// Refits the nodes to their leaves' boxes. Children come after their parents in the list, so the
    /// last node is refitted first.
    fn refit_nodes(&mut self, blocks: &[Aabb], packed: &[Aabb]) {
        let mut bounds_of_node = vec![Aabb::INVALID; self.nodes.len()];
        for index in (0..self.nodes.len()).rev() {
            for slot in 0..8 {
                if !self.nodes[index].is_used(slot) {
                    continue;
                }
                let child = self.nodes[index].child[slot];
                let number = leaf_number(child);
                let bounds = if child & LEAF == 0 {
                    bounds_of_node[child as usize]
                } else if child & PACKED == 0 {
                    blocks[number]
                } else {
                    packed[number]
                };
                self.nodes[index].set_bounds(slot, &bounds);
                bounds_of_node[index] = bounds_of_node[index].union(&bounds);
            }
        }
    }

    /// The triangles of a child with the [`LEAF`] bit; a packed leaf is unpacked into `unpacked`.
    #[inline(always)]
    pub fn leaf<'a>(&'a self, child: u32, unpacked: &'a mut LeafBlock) -> &'a LeafBlock {
        let number = leaf_number(child);
        if child & PACKED == 0 {
            return &self.blocks[number];
        }
        self.packed[number].unpack_into(unpacked);
        unpacked
    }

    /// Prefetches a child that will be visited soon.
    #[inline(always)]
    pub fn prefetch(&self, child: u32) {
        let number = leaf_number(child);
        if child & LEAF == 0 {
            prefetch(&self.nodes[number]);
        } else if child & PACKED == 0 {
            prefetch(&self.blocks[number]);
        } else {
            prefetch(&self.packed[number]);
        }
    }

    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        let leaves = size_of_val(&self.blocks[..]) + size_of_val(&self.packed[..]);
        size_of_val(&self.nodes[..]) + leaves
    }
}

/// The index of a leaf among those of its kind.
#[inline(always)]
fn leaf_number(child: u32) -> usize {
    (child & !(LEAF | PACKED)) as usize
}

/// A mesh seen from the middle of its box.
struct LocalFrame<'a> {
    mesh: &'a Mesh,
    /// The middle, rounded to `f32`.
    middle: Point3<f64>,
    /// The largest coordinate relative to the middle.
    reach: f32,
    bounds: BoundingBox,
}

impl<'a> LocalFrame<'a> {
    fn new(mesh: &'a Mesh) -> Self {
        let (low, high) = mesh.vertices.iter().fold(
            (mesh.vertices[0], mesh.vertices[0]),
            |(low, high), vertex| (low.inf(vertex), high.sup(vertex)),
        );
        let middle = nalgebra::center(&low, &high).map(|x| f64::from(x as f32));
        let reach = (high - middle).amax().max((middle - low).amax());
        Self {
            mesh,
            middle,
            reach: above(reach),
            bounds: BoundingBox { low, high },
        }
    }

    /// A triangle's corners relative to the middle.
    fn corners(&self, triangle: u32) -> [Vector3<f64>; 3] {
        let vertices = self.mesh.triangles[triangle as usize];
        vertices.map(|v| self.mesh.vertices[v as usize] - self.middle)
    }

    /// The block of some triangles.
    fn block(&self, triangles: &[u32]) -> LeafBlock {
        LeafBlock::new(triangles.iter().map(|&t| (t, self.corners(t))))
    }

    /// The box around some triangles.
    fn bounds_of(&self, triangles: &[u32]) -> Aabb {
        let boxes = triangles.iter().map(|&t| triangle_box(&self.corners(t)));
        boxes.fold(Aabb::INVALID, |all, one| all.union(&one))
    }
}

/// The box around a triangle.
fn triangle_box(corners: &[Vector3<f64>; 3]) -> Aabb {
    let low = corners[0].inf(&corners[1]).inf(&corners[2]);
    let high = corners[0].sup(&corners[1]).sup(&corners[2]);
    outer_box(&low, &high)
}
