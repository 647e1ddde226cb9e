//! Wide trees: a binary tree built by obvhs, collapsed to nodes of eight boxes.

use super::node::{LEAF, Node};
use obvhs::aabb::Aabb;
use obvhs::bvh2::{Bvh2, reinsertion::ReinsertionOptimizer};
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};

/// A binary tree over boxes: built by PLOC, then optimised by reinsertion.
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
pub(crate) struct WideTree {
    pub nodes: Vec<Node>,
    /// The root, encoded like [`Node::child`]; the number of a leaf is its index in `leaves`.
    pub root: u32,
    /// Number of stack entries that a depth-first traversal can need.
    pub stack_need: usize,
    pub leaves: Vec<LeafMembers>,
}

impl WideTree {
    /// Builds the tree over at least one box, with at most `leaf_size` (up to eight) in a leaf.
    pub fn new(boxes: &[Aabb], leaf_size: u32) -> Self {
        CountedTree::new(boxes, leaf_size).collapse()
    }
}

/// A binary tree with the number of boxes below each node. A node with few of them is a leaf.
pub(crate) struct CountedTree {
    binary: Bvh2,
    /// Largest number of boxes in a leaf.
    leaf_size: u32,
    /// Number of boxes below each node.
    count: Vec<u32>,
}

impl CountedTree {
    /// Builds the tree over at least one box, with at most `leaf_size` (up to eight) in a leaf.
    pub fn new(boxes: &[Aabb], leaf_size: u32) -> Self {
        let binary = binary_tree(boxes);

        // List nodes from the root down.
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

        // Count boxes from the leaves up.
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
            leaf_size,
            count,
        }
    }

    /// Makes the wide nodes and lists the members of each leaf.
    fn collapse(&self) -> WideTree {
        let mut wide = WideTree {
            nodes: vec![],
            root: LEAF,
            stack_need: 1,
            leaves: Vec::with_capacity(self.count[0] as usize / 4),
        };

        // A small tree is a single leaf.
        if self.is_leaf(0) {
            wide.leaves.push(self.members(0));
            return wide;
        }

        // Fill nodes depth first; every child is a leaf or a new node.
        wide.root = 0;
        wide.nodes.push(Node::EMPTY);
        let mut open = vec![(0_usize, 0_usize, 1_usize)];
        while let Some((binary, at, depth)) = open.pop() {
            wide.stack_need = wide.stack_need.max(7 * depth + 1);
            for (slot, child) in self.children(binary).into_iter().enumerate() {
                let number = if self.is_leaf(child) {
                    wide.leaves.push(self.members(child));
                    LEAF | (wide.leaves.len() as u32 - 1)
                } else {
                    wide.nodes.push(Node::EMPTY);
                    open.push((child, wide.nodes.len() - 1, depth + 1));
                    wide.nodes.len() as u32 - 1
                };
                wide.nodes[at].set_bounds(slot, self.bounds(child));
                wide.nodes[at].child[slot] = number;
            }
        }
        wide
    }

    /// Up to eight binary nodes that together contain everything below `root`: the node of the largest
    /// surface area is split until there are eight.
    fn children(&self, root: usize) -> Vec<usize> {
        let mut children = Vec::with_capacity(8);
        children.extend(self.halves(root));
        while children.len() < 8 {
            let splittable = (0..children.len()).filter(|&i| !self.is_leaf(children[i]));
            let area = |i: &usize| self.area(children[*i]);
            let Some(largest) = splittable.max_by(|a, b| area(a).total_cmp(&area(b))) else {
                break;
            };
            let [first, second] = self.halves(children[largest]);
            children[largest] = first;
            children.push(second);
        }
        children
    }

    /// The children of a node.
    pub fn halves(&self, node: usize) -> [usize; 2] {
        let first = self.binary.nodes[node].first_index as usize;
        [first, first + 1]
    }

    fn area(&self, node: usize) -> f32 {
        self.bounds(node).half_area()
    }

    /// Whether the boxes below a node fit a leaf.
    pub fn is_leaf(&self, node: usize) -> bool {
        self.count[node] <= self.leaf_size
    }

    /// The box of a node.
    pub fn bounds(&self, node: usize) -> &Aabb {
        self.binary.nodes[node].aabb()
    }

    /// The boxes below a leaf.
    pub fn members(&self, root: usize) -> LeafMembers {
        let mut members = LeafMembers::default();
        self.collect(root, &mut members);
        members
    }

    fn collect(&self, index: usize, members: &mut LeafMembers) {
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

/// The members of a leaf, as indices of boxes.
#[derive(Default)]
pub(crate) struct LeafMembers {
    numbers: [u32; 8],
    count: usize,
}

impl LeafMembers {
    /// The indices.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers[..self.count]
    }
}
