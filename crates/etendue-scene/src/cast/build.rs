//! Building the tree: obvhs' binary tree, made eight wide.

use super::tree::{Block, LEAF, MeshTree, Node, corners};
use crate::Mesh;
use nalgebra::{Point3, Vector3};
use obvhs::aabb::Aabb;
use obvhs::bvh2::{Bvh2, reinsertion::ReinsertionOptimizer};
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use rayon::prelude::*;

/// Triangles in a leaf.
const BLOCK: u32 = 8;

impl MeshTree {
    /// The tree of a mesh that has been checked.
    pub fn new(mesh: &Mesh) -> Self {
        let (middle, reach) = extent(mesh);
        let boxes: Vec<Aabb> = (0..mesh.triangles.len() as u32)
            .into_par_iter()
            .map(|triangle| outer_box(corners(mesh, &middle, triangle)))
            .collect();
        Widening::new(&binary_tree(&boxes)).widen(mesh, middle, reach)
    }
}

/// The middle of the mesh's box, rounded to `f32`, and what the box reaches from there.
fn extent(mesh: &Mesh) -> (Point3<f64>, f32) {
    let (low, high) = mesh.vertices.iter().fold(
        (mesh.vertices[0], mesh.vertices[0]),
        |(low, high), vertex| (low.inf(vertex), high.sup(vertex)),
    );
    let middle = nalgebra::center(&low, &high).map(|x| f64::from(x as f32));
    let reach = (high - middle).amax().max((middle - low).amax());
    (middle, (reach as f32).next_up())
}

fn outer_box(corners: [Vector3<f64>; 3]) -> Aabb {
    let low = corners[0].inf(&corners[1]).inf(&corners[2]);
    let high = corners[0].sup(&corners[1]).sup(&corners[2]);
    Aabb::new(
        <[f32; 3]>::from(low.map(|x| (x as f32).next_down())).into(),
        <[f32; 3]>::from(high.map(|x| (x as f32).next_up())).into(),
    )
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
    ReinsertionOptimizer::default().run(&mut tree, 0.05, None);
    tree
}

/// A binary tree on its way to a wide one.
struct Widening<'a> {
    binary: &'a Bvh2,
    /// How many triangles are below each node.
    count: Vec<u32>,
}

impl<'a> Widening<'a> {
    fn new(binary: &'a Bvh2) -> Self {
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
        Self { binary, count }
    }

    fn widen(&self, mesh: &Mesh, middle: Point3<f64>, reach: f32) -> MeshTree {
        let mut tree = MeshTree {
            middle,
            reach,
            nodes: vec![],
            blocks: vec![],
            root: 0,
            stack_need: 1,
        };
        if self.count[0] <= BLOCK {
            tree.root = self.push_block(&mut tree, mesh, 0);
            return tree;
        }
        tree.nodes.push(Node::EMPTY);
        let mut open = vec![(0_usize, 0_usize, 1_usize)];
        while let Some((binary, wide, depth)) = open.pop() {
            tree.stack_need = tree.stack_need.max(7 * depth + 1);
            for (place, child) in self.children(binary).into_iter().enumerate() {
                tree.nodes[wide].set_bounds(place, self.binary.nodes[child].aabb());
                tree.nodes[wide].child[place] = if self.count[child] <= BLOCK {
                    self.push_block(&mut tree, mesh, child)
                } else {
                    tree.nodes.push(Node::EMPTY);
                    open.push((child, tree.nodes.len() - 1, depth + 1));
                    tree.nodes.len() as u32 - 1
                };
            }
        }
        tree
    }

    /// Up to eight nodes that together hold what is below `root`: the largest are opened first.
    fn children(&self, root: usize) -> Vec<usize> {
        let mut children = Vec::with_capacity(8);
        children.extend(self.halves(root));
        while children.len() < 8 {
            let openable = (0..children.len()).filter(|&i| self.count[children[i]] > BLOCK);
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

    fn push_block(&self, tree: &mut MeshTree, mesh: &Mesh, binary: usize) -> u32 {
        let mut triangles = Vec::with_capacity(BLOCK as usize);
        let mut open = vec![binary];
        while let Some(index) = open.pop() {
            let node = &self.binary.nodes[index];
            let first = node.first_index as usize;
            if node.is_leaf() {
                let slots = first..first + node.prim_count as usize;
                triangles.extend_from_slice(&self.binary.primitive_indices[slots]);
            } else {
                open.extend([first, first + 1]);
            }
        }
        tree.blocks.push(Block::new(mesh, &tree.middle, &triangles));
        LEAF | (tree.blocks.len() as u32 - 1)
    }
}

impl Node {
    fn set_bounds(&mut self, place: usize, bounds: &Aabb) {
        for axis in 0..3 {
            self.bounds[2 * axis][place] = bounds.min[axis];
            self.bounds[2 * axis + 1][place] = bounds.max[axis];
        }
    }
}
