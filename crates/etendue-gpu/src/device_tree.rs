//! Binary trees in the form of the shaders.
//!
//! A node has the boxes of its two children, in four vectors of four words:
//!
//! | words | content |
//! |---|---|
//! | 0 to 2, 8 to 10 | least corner of the box of the first and second child, `f32` |
//! | 3, 11 | the child: index of its node; for a leaf [`LEAF`], eight times the index of its first member, and their number |
//! | 4 to 6, 12 to 14 | greatest corner |
//! | 7, 15 | 0 |
//!
//! Eight-wide nodes with boxes of eight bits, as those of Ylitie, Karras and Laine (2017), doi:10.1145/3105762.3105773,
//! take less memory, but coherent rays take longer for their arithmetic than for the memory (BENCHMARKS.md).

use crate::geometry::index;
use etendue_raycast::{BoxTree, BoxTreeChild};

/// Words of a node.
pub(crate) const NODE_WORDS: usize = 16;

/// A node.
pub(crate) type Node = [u32; NODE_WORDS];

/// Largest number of members of a leaf.
pub(crate) const LEAF_SIZE: u32 = 4;

/// Bit of a child that is a leaf.
const LEAF: u32 = 1 << 31;

/// A box: least and greatest coordinates.
type Bounds = [[f32; 3]; 2];

/// A tree for a device. Its indices are relative to its own first node and member.
pub(crate) struct DeviceTree {
    /// The nodes, the root first.
    pub nodes: Vec<Node>,
    /// The members of the leaves, as indices of boxes.
    pub members: Vec<u32>,
    /// Number of levels of nodes.
    pub depth: usize,
}

impl DeviceTree {
    /// The form of a tree whose boxes are within `bounds`.
    pub fn new(tree: &BoxTree, bounds: Bounds) -> Self {
        let mut own = Self {
            nodes: vec![EMPTY],
            members: vec![],
            depth: 1,
        };
        // A root that is a leaf becomes the only child of a node.
        let root = match tree.root() {
            leaf @ BoxTreeChild::Leaf(_) => {
                own.write(0, 0, &bounds, leaf);
                return own;
            }
            BoxTreeChild::Node(root) => root,
        };

        // Depth first: a node and those below its first child are near each other in memory.
        let mut open = vec![(0, root, 1)];
        while let Some((at, node, depth)) = open.pop() {
            own.depth = own.depth.max(depth);
            for (side, (bounds, child)) in tree.children(node).into_iter().enumerate() {
                if let Some((at, below)) = own.write(at, side, &bounds, child) {
                    open.push((at, below, depth + 1));
                }
            }
        }
        own
    }

    /// Writes a child of a node. Returns the node to be written for it, with its number in the tree.
    fn write(
        &mut self,
        at: usize,
        side: usize,
        bounds: &Bounds,
        child: BoxTreeChild,
    ) -> Option<(usize, usize)> {
        let (code, below) = match child {
            BoxTreeChild::Node(number) => {
                self.nodes.push(EMPTY);
                let new = self.nodes.len() - 1;
                (index(new), Some((new, number)))
            }
            BoxTreeChild::Leaf(members) => {
                let first = index(self.members.len());
                self.members.extend(&members);
                (LEAF | first << 3 | index(members.len()), None)
            }
        };
        let words = &mut self.nodes[at][8 * side..8 * side + 8];
        words[..3].copy_from_slice(&bounds[0].map(f32::to_bits));
        words[3] = code;
        words[4..7].copy_from_slice(&bounds[1].map(f32::to_bits));
        below
    }
}

/// A node behind others: its indices grow by those of the nodes and members before.
pub(crate) fn shifted(mut node: Node, nodes: u32, members: u32) -> Node {
    for child in [3, 11] {
        node[child] += if node[child] & LEAF == 0 {
            nodes
        } else {
            members << 3
        };
    }
    node
}

/// A node without children: boxes that no ray enters.
pub(crate) const EMPTY: Node = {
    let [far, near] = [1e30_f32.to_bits(), (-1e30_f32).to_bits()];
    let no_child = LEAF;
    [
        far, far, far, no_child, near, near, near, 0, far, far, far, no_child, near, near, near, 0,
    ]
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::below;
    use etendue_raycast::BoundingBox;
    use nalgebra::Point3;

    fn boxes(count: u32, size: f64) -> Vec<BoundingBox> {
        let at = |i: u32, k: u32| f64::from((i * 7919 + k * 104_729) % 9973) * 0.01 * size;
        let one = |i: u32| {
            let low = Point3::new(at(i, 1), at(i, 2), at(i, 3));
            BoundingBox {
                low,
                high: low + nalgebra::Vector3::new(0.3 * size, 0.0, at(i, 4) * 0.01),
            }
        };
        (0..count).map(one).collect()
    }

    /// Every box is a member of one leaf, and within the boxes above it.
    #[test]
    fn boxes_contain_their_members() {
        for (count, size) in [(1, 1.0), (3, 1e-3), (9, 1.0), (3000, 1.0), (3000, 1e4)] {
            let all = boxes(count, size);
            let around = all
                .iter()
                .copied()
                .reduce(|a, b| a.union(&b))
                .expect("some");
            let bounds = [
                around.low.map(below).coords.into(),
                around.high.map(|x| -below(-x)).coords.into(),
            ];
            let tree = BoxTree::new(&all, LEAF_SIZE).expect("some");
            let own = DeviceTree::new(&tree, bounds);
            let mut found = vec![0; all.len()];
            let mut open = vec![(0_usize, vec![], 1)];
            while let Some((at, above, depth)) = open.pop() {
                assert!(depth <= own.depth);
                for words in own.nodes[at].chunks(8) {
                    let corner =
                        |first: usize| [0, 1, 2].map(|axis| f32::from_bits(words[first + axis]));
                    let box_of_child = [corner(0), corner(4)];
                    if box_of_child[0][0] > box_of_child[1][0] {
                        continue;
                    }
                    let mut above: Vec<[[f32; 3]; 2]> = above.clone();
                    above.push(box_of_child);
                    if words[3] & LEAF == 0 {
                        open.push((words[3] as usize, above, depth + 1));
                        continue;
                    }
                    let (first, count) = ((words[3] & !LEAF) >> 3, words[3] & 7);
                    for member in first..first + count {
                        let number = own.members[member as usize] as usize;
                        found[number] += 1;
                        for [low, high] in &above {
                            for axis in 0..3 {
                                assert!(f64::from(low[axis]) <= all[number].low[axis]);
                                assert!(f64::from(high[axis]) >= all[number].high[axis]);
                            }
                        }
                    }
                }
            }
            assert!(found.iter().all(|times| *times == 1), "{count}: {found:?}");
        }
    }
}
