//! Building the tree: obvhs' binary tree, made eight wide.

use super::block::Block;
use super::known::Identity;
use super::outwards::{above, outer_box};
use super::packed::Packed;
use super::tree::{LEAF, MeshTree, Node, PACKED, corners};
use crate::Mesh;
use crate::motion::Bounds;
use nalgebra::{Point3, Vector3};
use obvhs::aabb::Aabb;
use obvhs::bvh2::{Bvh2, reinsertion::ReinsertionOptimizer};
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use rayon::prelude::*;

/// Triangles in a leaf.
const BLOCK: u32 = 8;

/// Meshes with more triangles than this have packed leaves: full ones would take more than 1.2 GB.
/// Smaller meshes are searched faster without (BENCHMARKS.md, "Ray casting").
const LARGE: usize = 1 << 24;

impl MeshTree {
    /// The tree of a mesh that has been checked.
    pub fn new(mesh: &Mesh) -> Self {
        if mesh.triangles.len() > LARGE {
            Self::build(mesh, Packed::pays)
        } else {
            Self::build(mesh, |_| false)
        }
    }

    /// The tree of a mesh, its leaves packed where `pack` says so.
    pub fn build(mesh: &Mesh, pack: impl Fn(&Block) -> bool + Sync) -> Self {
        let (middle, reach, bounds) = extent(mesh);
        let boxes: Vec<Aabb> = (0..mesh.triangles.len() as u32)
            .into_par_iter()
            .map(|triangle| triangle_box(corners(mesh, &middle, triangle)))
            .collect();
        let wide = Wide::new(&boxes, BLOCK);
        let mut tree = Self {
            identity: Identity::new(),
            middle,
            reach,
            bounds,
            nodes: wide.nodes,
            blocks: vec![],
            packed: vec![],
            root: wide.root,
            stack_need: wide.stack_need,
        };
        let block = |members: &Members| Block::new(mesh, &middle, members.numbers());
        let packed: Vec<Option<Packed>> = wide
            .leaves
            .par_iter()
            .map(|members| {
                let block = block(members);
                pack(&block).then(|| Packed::new(&block))
            })
            .collect();
        tree.number_leaves(&packed);
        tree.blocks = wide
            .leaves
            .par_iter()
            .zip(packed.par_iter())
            .filter(|(_, packed)| packed.is_none())
            .map(|(members, _)| block(members))
            .collect();
        tree.packed = packed.into_iter().flatten().collect();
        tree
    }

    /// Numbers packed leaves and others each by themselves.
    fn number_leaves(&mut self, packed: &[Option<Packed>]) {
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
            for place in 0..8 {
                if node.is_used(place) {
                    renumber(&mut node.child[place]);
                }
            }
        }
    }
}

/// The middle of the mesh's box, rounded to `f32`, and what the box reaches from there.
pub(super) fn extent(mesh: &Mesh) -> (Point3<f64>, f32, Bounds) {
    let (low, high) = mesh.vertices.iter().fold(
        (mesh.vertices[0], mesh.vertices[0]),
        |(low, high), vertex| (low.inf(vertex), high.sup(vertex)),
    );
    let middle = nalgebra::center(&low, &high).map(|x| f64::from(x as f32));
    let reach = (high - middle).amax().max((middle - low).amax());
    (middle, above(reach), Bounds { low, high })
}

/// The box around a triangle.
pub(super) fn triangle_box(corners: [Vector3<f64>; 3]) -> Aabb {
    let low = corners[0].inf(&corners[1]).inf(&corners[2]);
    let high = corners[0].sup(&corners[1]).sup(&corners[2]);
    outer_box(&low, &high)
}

fn binary_tree(boxes: &[Aabb]) -> Bvh2 {
    let everything = (0..boxes.len() as u32).collect();
    let mut tree = PlocBuilder::with_capacity(boxes.len()).build(
        PlocSearchDistance::Medium,
        boxes,
        everything,
        SortPrecision::U64,
        3,
    );
    ReinsertionOptimizer::default().run(&mut tree, 0.1, None);
    tree
}

/// A tree of nodes of eight boxes.
pub(super) struct Wide {
    pub nodes: Vec<Node>,
    /// A child like those in [`Node::child`]: leaves are numbered as they stand in `leaves`.
    pub root: u32,
    /// How many entries a depth-first search can leave on its stack.
    pub stack_need: usize,
    pub leaves: Vec<Members>,
}

impl Wide {
    /// The tree over some boxes, at least one, with at most `most` in a leaf: eight or fewer.
    pub fn new(boxes: &[Aabb], most: u32) -> Self {
        Widening::new(&binary_tree(boxes), most).widen()
    }
}

/// A binary tree on its way to a wide one.
struct Widening<'a> {
    binary: &'a Bvh2,
    /// How many boxes a leaf may hold.
    most: u32,
    /// How many boxes are below each node.
    count: Vec<u32>,
}

impl<'a> Widening<'a> {
    fn new(binary: &'a Bvh2, most: u32) -> Self {
        let mut count = vec![0; binary.nodes.len()];
        let mut order = vec![0_usize];
        let mut next = 0;
        while next < order.len() {
            let node = &binary.nodes[order[next]];
            if !node.is_leaf() {
                order.extend([node.first_index as usize, node.first_index as usize + 1]);
            }
            next += 1;
        }
        for &index in order.iter().rev() {
            let node = &binary.nodes[index];
            count[index] = if node.is_leaf() {
                node.prim_count
            } else {
                count[node.first_index as usize] + count[node.first_index as usize + 1]
            };
        }
        Self {
            binary,
            most,
            count,
        }
    }

    /// Makes the nodes, and says what is in which leaf.
    fn widen(&self) -> Wide {
        let mut wide = Wide {
            nodes: vec![],
            root: LEAF,
            stack_need: 1,
            leaves: Vec::with_capacity(self.count[0] as usize / 4),
        };
        if self.count[0] <= self.most {
            wide.leaves.push(self.members(0));
            return wide;
        }
        wide.root = 0;
        wide.nodes.push(Node::EMPTY);
        let mut open = vec![(0_usize, 0_usize, 1_usize)];
        while let Some((binary, at, depth)) = open.pop() {
            wide.stack_need = wide.stack_need.max(7 * depth + 1);
            for (place, child) in self.children(binary).into_iter().enumerate() {
                let number = if self.count[child] <= self.most {
                    wide.leaves.push(self.members(child));
                    LEAF | (wide.leaves.len() as u32 - 1)
                } else {
                    wide.nodes.push(Node::EMPTY);
                    open.push((child, wide.nodes.len() - 1, depth + 1));
                    wide.nodes.len() as u32 - 1
                };
                wide.nodes[at].set_bounds(place, self.binary.nodes[child].aabb());
                wide.nodes[at].child[place] = number;
            }
        }
        wide
    }

    /// Up to eight nodes that together hold what is below `root`: the largest are opened first.
    fn children(&self, root: usize) -> Vec<usize> {
        let mut children = Vec::with_capacity(8);
        children.extend(self.halves(root));
        while children.len() < 8 {
            let openable = (0..children.len()).filter(|&i| self.count[children[i]] > self.most);
            let area = |i: &usize| self.area(children[*i]);
            let Some(largest) = openable.max_by(|a, b| area(a).total_cmp(&area(b))) else {
                break;
            };
            let [first, second] = self.halves(children[largest]);
            children[largest] = first;
            children.push(second);
        }
        children
    }

    fn halves(&self, node: usize) -> [usize; 2] {
        let first = self.binary.nodes[node].first_index as usize;
        [first, first + 1]
    }

    fn area(&self, node: usize) -> f32 {
        self.binary.nodes[node].aabb().half_area()
    }

    fn members(&self, root: usize) -> Members {
        let mut members = Members::default();
        self.collect(root, &mut members);
        members
    }

    fn collect(&self, index: usize, members: &mut Members) {
        let node = &self.binary.nodes[index];
        let first = node.first_index as usize;
        if !node.is_leaf() {
            self.collect(first, members);
            self.collect(first + 1, members);
            return;
        }
        for slot in first..first + node.prim_count as usize {
            members.numbers[members.count] = self.binary.primitive_indices[slot];
            members.count += 1;
        }
    }
}

/// What is to be in a leaf, by number.
#[derive(Default)]
pub(super) struct Members {
    numbers: [u32; BLOCK as usize],
    count: usize,
}

impl Members {
    pub fn numbers(&self) -> &[u32] {
        &self.numbers[..self.count]
    }
}
