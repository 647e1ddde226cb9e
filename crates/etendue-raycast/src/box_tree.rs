//! Binary trees over boxes, for traversals outside of this crate.

use crate::bounding_box::BoundingBox;
use crate::bvh::rounding::outer_box;
use crate::bvh::wide_tree::CountedTree;
use obvhs::aabb::Aabb;
use rayon::prelude::*;

/// Largest number of boxes in a leaf of a [`BoxTree`].
const MOST_IN_LEAF: u32 = 8;

/// A binary bounding volume hierarchy over boxes, from which the ray caster makes its trees over triangles and over
/// objects. Traversals on other processors make their own nodes from it.
///
/// ```
/// use etendue_raycast::{BoundingBox, BoxTree, BoxTreeChild};
/// use nalgebra::Point3;
///
/// // Twenty unit cubes in a row.
/// let cube = |i: u32| BoundingBox {
///     low: Point3::new(2.0 * f64::from(i), 0.0, 0.0),
///     high: Point3::new(2.0 * f64::from(i) + 1.0, 1.0, 1.0),
/// };
/// let tree = BoxTree::new(&(0..20).map(cube).collect::<Vec<_>>(), 4).expect("there are boxes");
/// let BoxTreeChild::Node(root) = tree.root() else { panic!("twenty boxes do not fit a leaf") };
/// assert_eq!(tree.children(root).map(|(bounds, _)| bounds[1][1]), [1.0_f32.next_up(); 2]);
/// ```
pub struct BoxTree(CountedTree);

/// A child of a node of a [`BoxTree`].
#[derive(Clone, Debug, PartialEq)]
pub enum BoxTreeChild {
    /// A node, by index.
    Node(usize),
    /// A leaf: the indices of its boxes.
    Leaf(Vec<u32>),
}

impl BoxTree {
    /// Builds the tree with at most `leaf_size` boxes (clamped to 1 to 8) in a leaf, on all threads of the pool;
    /// `None` without boxes. Coordinates should be small relative to their differences: they are rounded outwards
    /// to `f32`.
    pub fn new(boxes: &[BoundingBox], leaf_size: u32) -> Option<Self> {
        if boxes.is_empty() {
            return None;
        }
        let rounded: Vec<Aabb> = boxes
            .par_iter()
            .map(|own| outer_box(&own.low.coords, &own.high.coords))
            .collect();
        let leaf_size = leaf_size.clamp(1, MOST_IN_LEAF);
        Some(Self(CountedTree::new(&rounded, leaf_size)))
    }

    /// The root: a leaf if all boxes fit one.
    pub fn root(&self) -> BoxTreeChild {
        self.child(0)
    }

    /// The children of a node, each with the least and greatest coordinates of its box, rounded outwards.
    pub fn children(&self, node: usize) -> [([[f32; 3]; 2], BoxTreeChild); 2] {
        self.0.halves(node).map(|half| {
            let bounds = self.0.bounds(half);
            let corners = [bounds.min, bounds.max].map(|corner| [corner.x, corner.y, corner.z]);
            (corners, self.child(half))
        })
    }

    fn child(&self, node: usize) -> BoxTreeChild {
        if self.0.is_leaf(node) {
            BoxTreeChild::Leaf(self.0.members(node).numbers().to_vec())
        } else {
            BoxTreeChild::Node(node)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;

    /// A thousand boxes at scattered places.
    fn boxes() -> Vec<BoundingBox> {
        let at = |i: u32, k: u32| f64::from((i * 7919 + k * 104_729) % 997) * 0.1;
        let one = |i: u32| {
            let low = Point3::new(at(i, 1), at(i, 2), at(i, 3));
            BoundingBox {
                low,
                high: low.map(|x| x + 0.3),
            }
        };
        (0..1000).map(one).collect()
    }

    #[test]
    fn every_box_is_in_one_leaf_and_within_the_boxes_of_all_nodes_above() {
        let all = boxes();
        for leaf_size in [1, 4, 8] {
            let tree = BoxTree::new(&all, leaf_size).expect("there are boxes");
            let everywhere = [[f32::NEG_INFINITY; 3], [f32::INFINITY; 3]];
            let mut open = vec![(everywhere, tree.root())];
            let mut found = vec![0; all.len()];
            while let Some((around, child)) = open.pop() {
                let contains = |low: &[f64], high: &[f64]| {
                    (0..3).all(|axis| {
                        f64::from(around[0][axis]) <= low[axis]
                            && f64::from(around[1][axis]) >= high[axis]
                    })
                };
                match child {
                    BoxTreeChild::Node(node) => open.extend(tree.children(node)),
                    BoxTreeChild::Leaf(members) => {
                        assert!(members.len() <= leaf_size as usize);
                        for member in members {
                            let own = &all[member as usize];
                            assert!(contains(
                                own.low.coords.as_slice(),
                                own.high.coords.as_slice()
                            ));
                            found[member as usize] += 1;
                        }
                    }
                }
            }
            assert!(found.iter().all(|count| *count == 1));
        }
    }

    #[test]
    fn there_is_no_tree_over_nothing() {
        assert!(BoxTree::new(&[], 4).is_none());
    }
}
