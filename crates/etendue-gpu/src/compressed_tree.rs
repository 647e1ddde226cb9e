//! Compressed trees: nodes of 80 bytes with eight boxes, quantised to eight bits and rounded outwards.
//!
//! A node is five vectors of four words:
//!
//! | words | content |
//! |---|---|
//! | 0 to 2 | least corner of the node's box, `f32` |
//! | 3 | biased exponents of the quantisation steps of x, y and z, one byte each; inner children by bit |
//! | 4, 5 | index of the first inner child; index of the first member of the leaves |
//! | 6, 7 | members of the leaf in each slot: index relative to the first times four, plus the number less one |
//! | 8 to 13 | least coordinates of the children in steps: x of slots 0 to 3, of 4 to 7, then y, then z |
//! | 14 to 19 | greatest coordinates |
//!
//! Inner children follow each other in the order of their slots. Slots are numbered by octant, so that a ray finds
//! near children before far ones. The idea is that of Ylitie, Karras and Laine (2017), "Efficient incoherent ray
//! traversal on GPUs through compressed wide BVHs", doi:10.1145/3105762.3105773; the layout is our own.

use etendue_raycast::{BoxTree, BoxTreeChild};

/// Words of a node.
pub(crate) const NODE_WORDS: usize = 20;

/// A node.
pub(crate) type Node = [u32; NODE_WORDS];

/// Largest number of members of a leaf.
pub(crate) const LEAF_SIZE: u32 = 4;

/// A box: least and greatest coordinates.
type Bounds = [[f32; 3]; 2];

/// A compressed tree. Its indices are relative to its own first node and member.
pub(crate) struct CompressedTree {
    /// The nodes, the root first.
    pub nodes: Vec<Node>,
    /// The members of the leaves, as indices of boxes.
    pub members: Vec<u32>,
    /// Number of levels.
    pub depth: usize,
}

impl CompressedTree {
    /// Compresses a tree whose boxes are within `bounds`.
    pub fn new(tree: &BoxTree, bounds: Bounds) -> Self {
        let mut compressed = Self {
            nodes: vec![EMPTY],
            members: vec![],
            depth: 1,
        };
        // A root that is a leaf becomes the only child of a node.
        let children = match tree.root() {
            leaf @ BoxTreeChild::Leaf(_) => vec![(bounds, leaf)],
            BoxTreeChild::Node(root) => tree.children(root).collect(),
        };
        let mut open = vec![(0, children, 1)];
        while let Some((at, children, depth)) = open.pop() {
            compressed.depth = compressed.depth.max(depth);
            for (node, below) in compressed.fill(at, &children) {
                open.push((node, tree.children(below).collect(), depth + 1));
            }
        }
        compressed
    }

    /// Writes a node; returns the nodes to be written below it, with their numbers in the tree.
    fn fill(&mut self, at: usize, children: &[(Bounds, BoxTreeChild)]) -> Vec<(usize, usize)> {
        let around = children.iter().map(|(bounds, _)| *bounds).reduce(union);
        let around = around.unwrap_or([[0.0; 3]; 2]);
        let grid = Grid::around(&around);
        let mut node = EMPTY;
        node[..3].copy_from_slice(&around[0].map(f32::to_bits));
        node[3] = grid.exponents();
        node[4] = index(self.nodes.len());
        node[5] = index(self.members.len());
        let first_member = self.members.len();
        let mut below = vec![];
        for (slot, child) in slots(&around, children).into_iter().enumerate() {
            let Some((bounds, child)) = child.map(|child| children[child]) else {
                continue;
            };
            grid.write(&mut node, slot, &bounds);
            match child {
                BoxTreeChild::Node(number) => {
                    node[3] |= 1 << (24 + slot);
                    below.push((self.nodes.len(), number));
                    self.nodes.push(EMPTY);
                }
                BoxTreeChild::Leaf(members) => {
                    let first = index(self.members.len() - first_member);
                    let code = first << 2 | (index(members.len()) - 1);
                    node[6 + slot / 4] |= code << (8 * (slot % 4));
                    self.members.extend(members);
                }
            }
        }
        self.nodes[at] = node;
        below
    }
}

/// A node without children: the greatest coordinates are below the least ones.
const EMPTY: Node = {
    let mut node = [0; NODE_WORDS];
    let mut word = 8;
    while word < 14 {
        node[word] = u32::MAX;
        word += 1;
    }
    node
};

/// An index in the type of the shaders.
fn index(number: usize) -> u32 {
    u32::try_from(number).expect("meshes have fewer than 2^29 triangles")
}

fn union(a: Bounds, b: Bounds) -> Bounds {
    let part = |side: usize, of: fn(f32, f32) -> f32| [0, 1, 2].map(|k| of(a[side][k], b[side][k]));
    [part(0, f32::min), part(1, f32::max)]
}

/// The quantisation of the boxes of a node.
struct Grid {
    origin: [f32; 3],
    /// Biased exponents of the steps.
    exponent: [u32; 3],
}

impl Grid {
    /// The finest grid with steps of powers of two that covers a box.
    fn around(bounds: &Bounds) -> Self {
        let exponent = [0, 1, 2].map(|axis| {
            let extent = f64::from(bounds[1][axis]) - f64::from(bounds[0][axis]);
            (1..255)
                .find(|exponent| extent <= 255.0 * step(*exponent))
                .unwrap_or(254)
        });
        Self {
            origin: bounds[0],
            exponent,
        }
    }

    fn exponents(&self) -> u32 {
        let [x, y, z] = self.exponent;
        x | y << 8 | z << 16
    }

    /// Writes the box of a slot, rounded outwards.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a byte"
    )]
    fn write(&self, node: &mut Node, slot: usize, bounds: &Bounds) {
        for (axis, (low, high)) in bounds[0].iter().zip(&bounds[1]).enumerate() {
            let origin = f64::from(self.origin[axis]);
            let steps = |x: f32| (f64::from(x) - origin) / step(self.exponent[axis]);
            let low = steps(*low).floor().clamp(0.0, 255.0) as u32;
            let high = steps(*high).ceil().clamp(0.0, 255.0) as u32;
            let shift = 8 * (slot % 4);
            let word = 8 + 2 * axis + slot / 4;
            node[word] = node[word] & !(255 << shift) | low << shift;
            node[word + 6] |= high << shift;
        }
    }
}

/// The step of a biased exponent of `f32`.
fn step(exponent: u32) -> f64 {
    f64::from(f32::from_bits(exponent << 23))
}

/// The child in each slot. Bit `axis` of a slot is set on the side of greater coordinates; the pairs of child and slot
/// that agree best are taken first.
fn slots(around: &Bounds, children: &[(Bounds, BoxTreeChild)]) -> [Option<usize>; 8] {
    // Agreement of every child with every slot.
    let middle = |bounds: &Bounds, axis: usize| bounds[0][axis] + bounds[1][axis];
    let mut pairs = vec![];
    for (child, (bounds, _)) in children.iter().enumerate() {
        let offset = [0, 1, 2].map(|axis| middle(bounds, axis) - middle(around, axis));
        for slot in 0..8_usize {
            let side = |axis: usize| if slot >> axis & 1 == 1 { 1.0 } else { -1.0 };
            let agreement: f32 = (0..3).map(|axis| side(axis) * offset[axis]).sum();
            pairs.push((agreement, child, slot));
        }
    }

    // The best pairs first.
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut taken = vec![false; children.len()];
    let mut assigned = [None; 8];
    for (_, child, slot) in pairs {
        if !taken[child] && assigned[slot].is_none() {
            taken[child] = true;
            assigned[slot] = Some(child);
        }
    }
    assigned
}

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

    /// The box of a slot as the shader decodes it, in full precision; `None` for an empty slot.
    fn decoded(node: &Node, slot: usize) -> Option<[[f64; 3]; 2]> {
        let byte = |word: usize| f64::from(node[word + slot / 4] >> (8 * (slot % 4)) & 255);
        let side = |first: usize| {
            [0, 1, 2].map(|axis| {
                let exponent = node[3] >> (8 * axis) & 255;
                f64::from(f32::from_bits(node[axis])) + byte(first + 2 * axis) * step(exponent)
            })
        };
        let [low, high] = [side(8), side(14)];
        (byte(8) <= byte(14)).then_some([low, high])
    }

    /// Every box is a member of one leaf, and within the decoded boxes above it.
    #[test]
    fn decoded_boxes_contain_their_members() {
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
            let compressed = CompressedTree::new(&tree, bounds);
            let mut found = vec![0; all.len()];
            let mut open = vec![(0_usize, vec![], 1)];
            while let Some((at, above, depth)) = open.pop() {
                assert!(depth <= compressed.depth);
                let node = &compressed.nodes[at];
                let mut inner = node[4] as usize;
                for slot in 0..8 {
                    let Some(own) = decoded(node, slot) else {
                        continue;
                    };
                    let mut above: Vec<[[f64; 3]; 2]> = above.clone();
                    above.push(own);
                    if node[3] >> (24 + slot) & 1 == 1 {
                        open.push((inner, above, depth + 1));
                        inner += 1;
                        continue;
                    }
                    let code = node[6 + slot / 4] >> (8 * (slot % 4)) & 255;
                    let first = node[5] + (code >> 2);
                    for member in first..=first + (code & 3) {
                        let number = compressed.members[member as usize] as usize;
                        found[number] += 1;
                        for [low, high] in &above {
                            for axis in 0..3 {
                                assert!(low[axis] <= all[number].low[axis]);
                                assert!(high[axis] >= all[number].high[axis]);
                            }
                        }
                    }
                }
            }
            assert!(found.iter().all(|times| *times == 1), "{count}: {found:?}");
        }
    }
}
