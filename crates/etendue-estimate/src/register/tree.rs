//! k-d tree with the points of its leaves in sequence.
//!
//! The pairs of an iteration are most of the time of a registration. With the tree of the crate kiddo, which the rest of this
//! crate has, point-to-plane registration of the clouds "car" and "flat" of BENCHMARKS.md takes 1.2 times as long.

use nalgebra::SVector;
use std::ops::Range;

/// Balanced k-d tree (Friedman, Bentley, Finkel 1977, doi:10.1145/355744.355745) over `D`-dimensional points, m. Node $i$ has the
/// children $2i$ and $2i+1$, each with half of its points.
pub(super) struct PointTree<const D: usize> {
    /// Split of each inner node, from node 1.
    splits: Vec<Split>,
    /// Points, leaf by leaf.
    points: Vec<SVector<f64, D>>,
    /// Their indices in the cloud.
    indices: Vec<u32>,
}

/// Plane across an axis that separates the children of a node.
#[derive(Clone, Copy, Default)]
struct Split {
    axis: usize,
    /// Coordinate, m: at least those of the first child, at most those of the second.
    at: f64,
}

/// Largest number of points of a leaf.
const LEAF: usize = 12;

impl<const D: usize> PointTree<D> {
    /// Tree over finite points; those beyond the largest `u32` are left out.
    pub(super) fn new(points: &[SVector<f64, D>]) -> Self {
        let mut order: Vec<(SVector<f64, D>, u32)> = points.iter().copied().zip(0..).collect();
        let mut leaves = 1;
        while order.len() > leaves * LEAF {
            leaves *= 2;
        }
        let mut splits = vec![Split::default(); leaves];
        divide(&mut order, 1, &mut splits);
        let (points, indices) = order.into_iter().unzip();
        Self {
            splits,
            points,
            indices,
        }
    }

    /// Fills in the indices of the points nearest to a position, the nearest first, and their squared distances, m², below a
    /// limit. Returns the number found.
    pub(super) fn nearest(
        &self,
        to: &SVector<f64, D>,
        limit: f64,
        indices: &mut [u32],
        squares: &mut [f64],
    ) -> usize {
        let mut found = Found {
            indices,
            squares,
            count: 0,
            limit,
        };
        self.visit(1, 0..self.points.len(), to, &mut [0.0; D], 0.0, &mut found);
        found.count
    }

    /// Visits the points of a node at the squared distance `squared` from the position, with the distances `offsets` along the axes.
    fn visit(
        &self,
        node: usize,
        range: Range<usize>,
        to: &SVector<f64, D>,
        offsets: &mut [f64; D],
        squared: f64,
        found: &mut Found,
    ) {
        // Leaf
        let Some(split) = self.splits.get(node) else {
            for i in range {
                let squared = (to - self.points[i]).norm_squared();
                if squared < found.limit {
                    found.insert(self.indices[i], squared);
                }
            }
            return;
        };
        // The child of the position, and the other one where it is near
        let middle = usize::midpoint(range.start, range.end);
        let across = to[split.axis] - split.at;
        let (first, second) = (
            (2 * node, range.start..middle),
            (2 * node + 1, middle..range.end),
        );
        let (near, far) = if across < 0.0 {
            (first, second)
        } else {
            (second, first)
        };
        self.visit(near.0, near.1, to, offsets, squared, found);
        let before = std::mem::replace(&mut offsets[split.axis], across);
        let squared = squared - before * before + across * across;
        if squared < found.limit {
            self.visit(far.0, far.1, to, offsets, squared, found);
        }
        offsets[split.axis] = before;
    }
}

/// Sorts points into the leaves below a node, and sets its splits.
fn divide<const D: usize>(
    points: &mut [(SVector<f64, D>, u32)],
    node: usize,
    splits: &mut [Split],
) {
    if node >= splits.len() {
        return;
    }
    // The longest axis
    let [mut low, mut high] = [points[0].0; 2];
    for (point, _) in &*points {
        low = low.inf(point);
        high = high.sup(point);
    }
    let axis = (high - low).imax();
    // Its median
    let middle = points.len() / 2;
    let order = |a: &(SVector<f64, D>, u32), b: &(SVector<f64, D>, u32)| {
        a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1))
    };
    points.select_nth_unstable_by(middle, order);
    splits[node] = Split {
        axis,
        at: points[middle].0[axis],
    };
    let (first, second) = points.split_at_mut(middle);
    divide(first, 2 * node, splits);
    divide(second, 2 * node + 1, splits);
}

/// Nearest points so far, by distance.
struct Found<'a> {
    indices: &'a mut [u32],
    squares: &'a mut [f64],
    count: usize,
    /// Squared distance below which a point is among the nearest, m².
    limit: f64,
}

impl Found<'_> {
    /// Inserts a point nearer than the limit.
    fn insert(&mut self, index: u32, squared: f64) {
        let size = self.indices.len();
        let mut at = self.count.min(size - 1);
        while at > 0 && self.squares[at - 1] > squared {
            self.squares[at] = self.squares[at - 1];
            self.indices[at] = self.indices[at - 1];
            at -= 1;
        }
        self.squares[at] = squared;
        self.indices[at] = index;
        self.count = size.min(self.count + 1);
        if self.count == size {
            self.limit = self.limit.min(self.squares[size - 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::{Purpose, Stream};

    /// Clouds of all sizes around that of a leaf, with equal points, and queries inside and outside.
    #[test]
    fn the_nearest_points_are_those_of_an_exhaustive_search() {
        let mut draw = Stream::new(5, 0, 0, 0, Purpose::Search);
        for count in [0, 1, 2, 11, 12, 13, 25, 100, 1000] {
            let mut point = |size: f64| SVector::<f64, 3>::from_fn(|_, _| size * draw.uniform());
            let mut points: Vec<_> = (0..count).map(|_| point(1.0)).collect();
            points.extend_from_within(..count / 3);
            let tree = PointTree::new(&points);
            for _ in 0..50 {
                let query = point(1.5);
                let mut all: Vec<f64> = points.iter().map(|p| (p - query).norm_squared()).collect();
                all.sort_by(f64::total_cmp);
                for (size, limit) in [(1, f64::INFINITY), (8, f64::INFINITY), (8, 0.05)] {
                    let (mut indices, mut squares) = (vec![0; size], vec![0.0; size]);
                    let found = tree.nearest(&query, limit, &mut indices, &mut squares);
                    let expected = all.iter().filter(|s| **s < limit).take(size);
                    assert_eq!(squares[..found], expected.copied().collect::<Vec<_>>());
                    indices.truncate(found);
                    for (index, squared) in indices.iter().zip(&squares) {
                        assert_eq!((points[*index as usize] - query).norm_squared(), *squared);
                    }
                    indices.sort_unstable();
                    indices.dedup();
                    assert_eq!(indices.len(), found);
                }
            }
        }
    }
}
