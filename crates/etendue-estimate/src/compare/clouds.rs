//! Nearest-neighbour distances between two point clouds.

use kiddo::{ImmutableKdTree, SquaredEuclidean};
use nalgebra::Point3;

/// Comparison of two point clouds by nearest-neighbour distances, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloudComparison {
    /// Mean distance of the points of the first cloud from the nearest point of the second, m.
    pub first_to_second: f64,
    /// Mean distance of the points of the second cloud from the nearest point of the first, m.
    pub second_to_first: f64,
    /// Chamfer distance: the sum of both means, m.
    pub chamfer: f64,
    /// Density-aware Chamfer distance in [0, 1], with distances in units of the tolerance (Wu et al.
    /// 2021, "Density-aware Chamfer distance as a comprehensive metric for point cloud completion",
    /// eq. 6).
    pub density_aware_chamfer: f64,
    /// Median distance of the points of the first cloud from the nearest point of the second, m.
    pub median: f64,
    /// Hausdorff distance: the largest distance in either direction, m.
    pub largest: f64,
    /// Fraction of the points of the second cloud within the tolerance of the first.
    pub precision: f64,
    /// Fraction of the points of the first cloud within the tolerance of the second.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f_score: f64,
}

/// Nearest point of a cloud for every point of another.
struct Nearest {
    /// Distances, m.
    distances: Vec<f64>,
    /// Indices of the nearest points.
    items: Vec<usize>,
}

/// Compares two point clouds; points within `tolerance` (m) count as equal. `None` where a cloud has no
/// finite point.
///
/// ```
/// use etendue_estimate::compare::compare_clouds;
/// use nalgebra::{Point3, Vector3};
/// let grid: Vec<_> = (0..100).map(|i| Point3::new(f64::from(i % 10), f64::from(i / 10), 0.0)).collect();
/// let moved: Vec<_> = grid.iter().map(|p| p + Vector3::z() * 0.05).collect();
/// let found = compare_clouds(&grid, &moved, 0.1).unwrap();
/// assert!((found.chamfer - 0.1).abs() < 1e-12);
/// assert_eq!(found.f_score, 1.0);
/// assert_eq!(compare_clouds(&grid, &moved, 0.01).unwrap().f_score, 0.0);
/// ```
pub fn compare_clouds(
    first: &[Point3<f64>],
    second: &[Point3<f64>],
    tolerance: f64,
) -> Option<CloudComparison> {
    // Find the nearest neighbours in both directions.
    let [first, second] = [first, second].map(finite);
    let forward = nearest(&first, &second)?;
    let backward = nearest(&second, &first)?;
    // Precision and recall.
    let mean = |distances: &[f64]| distances.iter().sum::<f64>() / distances.len() as f64;
    let within = |distances: &[f64]| {
        let close = distances.iter().filter(|d| **d <= tolerance).count();
        close as f64 / distances.len() as f64
    };
    let precision = within(&backward.distances);
    let recall = within(&forward.distances);
    // Chamfer, density-aware Chamfer and Hausdorff distances.
    let first_to_second = mean(&forward.distances);
    let second_to_first = mean(&backward.distances);
    let density_aware_chamfer = 0.5
        * (density_aware(&forward, second.len(), tolerance)
            + density_aware(&backward, first.len(), tolerance));
    let all = forward.distances.iter().chain(&backward.distances);
    let mut sorted = forward.distances.clone();
    sorted.sort_by(f64::total_cmp);
    Some(CloudComparison {
        first_to_second,
        second_to_first,
        chamfer: first_to_second + second_to_first,
        density_aware_chamfer,
        median: sorted[sorted.len() / 2],
        largest: all.fold(0.0, |most: f64, d| most.max(*d)),
        precision,
        recall,
        f_score: if precision + recall > 0.0 {
            2.0 * precision * recall / (precision + recall)
        } else {
            0.0
        },
    })
}

/// Coordinates of the finite points.
fn finite(points: &[Point3<f64>]) -> Vec<[f64; 3]> {
    let points = points.iter().map(|p| [p.x, p.y, p.z]);
    points.filter(|p| p.iter().all(|x| x.is_finite())).collect()
}

/// Nearest neighbours in `to` of the points `from`; `None` where either is empty.
fn nearest(from: &[[f64; 3]], to: &[[f64; 3]]) -> Option<Nearest> {
    if from.is_empty() || to.is_empty() {
        return None;
    }
    let tree = ImmutableKdTree::<f64, 3>::new_from_slice(to).ok()?;
    let mut found = Nearest {
        distances: Vec::with_capacity(from.len()),
        items: Vec::with_capacity(from.len()),
    };
    for point in from {
        let near = tree
            .query(point)
            .nearest_one::<SquaredEuclidean<f64>>()
            .execute();
        found.distances.push(near.distance.sqrt());
        found.items.push(near.item as usize);
    }
    Some(found)
}

/// One direction of the density-aware Chamfer distance, $\frac1n\sum_x 1 - \min(1, \frac{\max(1,
/// n/m)}{n_y}) e^{-d/s}$, of $n$ points to a cloud of $m$ = `other` points, with $n_y$ the number of
/// points that share the nearest point $y$ and $s$ = `scale` (m).
fn density_aware(nearest: &Nearest, other: usize, scale: f64) -> f64 {
    let mut shared = vec![0_u32; other];
    for item in &nearest.items {
        shared[*item] += 1;
    }
    let count = nearest.distances.len() as f64;
    let share = (count / other as f64).max(1.0);
    let pairs = nearest.distances.iter().zip(&nearest.items);
    let sum: f64 = pairs
        .map(|(d, item)| 1.0 - (share / f64::from(shared[*item])).min(1.0) * (-d / scale).exp())
        .sum();
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(count: u32, offset: f64) -> Vec<Point3<f64>> {
        (0..count)
            .map(|i| Point3::new(f64::from(i), offset, 0.0))
            .collect()
    }

    #[test]
    fn equal_clouds_have_no_distance() {
        let found = compare_clouds(&line(50, 0.0), &line(50, 0.0), 0.1).expect("points");
        assert_eq!(
            (found.chamfer, found.largest, found.f_score),
            (0.0, 0.0, 1.0)
        );
        assert_eq!(found.density_aware_chamfer, 0.0);
    }

    #[test]
    fn missing_points_lower_the_recall_and_false_ones_the_precision() {
        let whole = line(100, 0.0);
        let found = compare_clouds(&whole, &whole[..60], 0.1).expect("points");
        assert_eq!((found.precision, found.recall), (1.0, 0.6));
        let found = compare_clouds(&whole[..60], &whole, 0.1).expect("points");
        assert_eq!((found.precision, found.recall), (0.6, 1.0));
        assert_eq!(found.largest, 40.0);
    }

    #[test]
    fn clustered_points_differ_from_evenly_spaced_ones() {
        let heaped: Vec<_> = (0..100)
            .map(|i| Point3::new(f64::from(i % 5), 0.0, 0.0))
            .collect();
        let even = line(5, 0.0);
        let found = compare_clouds(&heaped, &even, 0.1).expect("points");
        assert_eq!(found.chamfer, 0.0);
        let twice: Vec<_> = heaped.iter().chain(&line(1, 0.0)).copied().collect();
        assert!(
            compare_clouds(&twice, &even, 0.1)
                .expect("points")
                .density_aware_chamfer
                > 0.0
        );
    }

    #[test]
    fn empty_clouds_are_not_compared() {
        assert!(compare_clouds(&[], &line(3, 0.0), 0.1).is_none());
    }
}
