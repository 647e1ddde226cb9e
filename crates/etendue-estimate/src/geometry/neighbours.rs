//! Nearest-neighbour queries on a k-d tree.

use kiddo::{ImmutableKdTree, SquaredEuclidean};
use nalgebra::Vector3;
use std::num::NonZero;

/// Extent of a neighbourhood query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Neighbourhood {
    /// All points within a radius, m.
    Radius(f64),
    /// Nearest points, by count.
    Nearest(usize),
    /// Nearest points by count, within a radius (m).
    NearestWithin(usize, f64),
}

impl Neighbourhood {
    /// The neighbourhood with twice the radius, or twice the count where there is no radius.
    #[must_use]
    pub fn doubled(self) -> Self {
        match self {
            Self::Radius(radius) => Self::Radius(2.0 * radius),
            Self::Nearest(count) => Self::Nearest(2 * count),
            Self::NearestWithin(count, radius) => Self::NearestWithin(count, 2.0 * radius),
        }
    }
}

/// k-d tree over points in space.
pub struct Neighbours {
    tree: Option<ImmutableKdTree<f64, 3>>,
}

impl Neighbours {
    /// Builds the tree over finite points, m.
    pub fn new(points: &[Vector3<f64>]) -> Self {
        let arrays: Vec<[f64; 3]> = points.iter().map(|p| p.data.0[0]).collect();
        // Fails only for more than 2^32 points or for none: then there are no neighbours.
        let tree = if arrays.is_empty() {
            None
        } else {
            ImmutableKdTree::new_from_slice(&arrays).ok()
        };
        Self { tree }
    }

    /// Ascending indices of the points near a position, including a point at the position.
    pub fn near(&self, position: &Vector3<f64>, which: Neighbourhood) -> Vec<u32> {
        let mut result = match which {
            Neighbourhood::Radius(radius) => self.within(position, radius),
            Neighbourhood::Nearest(count) => self.nearest(position, count),
            Neighbourhood::NearestWithin(count, radius) => {
                self.nearest_within(position, count, radius)
            }
        };
        result.sort_unstable();
        result
    }

    /// Indices of the points within a radius (m).
    fn within(&self, position: &Vector3<f64>, radius: f64) -> Vec<u32> {
        let Some(tree) = &self.tree else {
            return Vec::new();
        };
        let result = tree
            .query(&position.data.0[0])
            .within::<SquaredEuclidean<f64>>(radius * radius)
            .unsorted()
            .execute();
        result.iter().map(|near| near.item).collect()
    }

    /// Indices of the nearest points.
    fn nearest(&self, position: &Vector3<f64>, count: usize) -> Vec<u32> {
        let (Some(tree), Some(count)) = (&self.tree, NonZero::new(count)) else {
            return Vec::new();
        };
        let result = tree
            .query(&position.data.0[0])
            .nearest_n::<SquaredEuclidean<f64>>(count)
            .execute();
        result.iter().map(|near| near.item).collect()
    }

    /// Indices of the nearest points within a radius (m).
    fn nearest_within(&self, position: &Vector3<f64>, count: usize, radius: f64) -> Vec<u32> {
        let (Some(tree), Some(count)) = (&self.tree, NonZero::new(count)) else {
            return Vec::new();
        };
        let result = tree
            .query(&position.data.0[0])
            .nearest_n::<SquaredEuclidean<f64>>(count)
            .within(radius * radius)
            .execute();
        result.iter().map(|near| near.item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_radius_a_count_and_both_select_neighbours() {
        let points: Vec<_> = (0..10)
            .map(|i| Vector3::new(f64::from(i), 0.0, 0.0))
            .collect();
        let neighbours = Neighbours::new(&points);
        let near = |which| neighbours.near(&Vector3::new(4.1, 0.0, 0.0), which);
        assert_eq!(near(Neighbourhood::Radius(1.95)), [3, 4, 5, 6]);
        assert_eq!(near(Neighbourhood::Nearest(3)), [3, 4, 5]);
        assert_eq!(near(Neighbourhood::NearestWithin(3, 1.0)), [4, 5]);
        assert!(
            Neighbours::new(&[])
                .near(&points[0], Neighbourhood::Nearest(3))
                .is_empty()
        );
    }
}
