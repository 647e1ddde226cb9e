//! Point clouds with nearest-neighbour queries and normals.

use super::rigid_motion::RigidMotion;
use crate::geometry::{VoxelTable, voxel_key};
use kiddo::{ImmutableKdTree, SquaredEuclidean};
use nalgebra::{Point, SMatrix, SVector, Vector3};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZero;

/// Point cloud of `D`-dimensional points (m) with a k-d tree and, optionally, normals.
pub(super) struct SearchableCloud<const D: usize> {
    points: Vec<SVector<f64, D>>,
    tree: Option<ImmutableKdTree<f64, D>>,
    normals: Vec<SVector<f64, D>>,
    /// Number of neighbours of the planes of the normals.
    neighbours: usize,
}

impl<const D: usize> SearchableCloud<D> {
    /// SearchableCloud of the finite points among `points`, m.
    pub(super) fn new(points: &[Point<f64, D>]) -> Self {
        let finite = |p: &&Point<f64, D>| p.iter().all(|x| x.is_finite());
        Self::of(points.iter().filter(finite).map(|p| p.coords).collect())
    }

    /// Cloud of finite points, m.
    pub(super) fn of(points: Vec<SVector<f64, D>>) -> Self {
        let arrays: Vec<[f64; D]> = points.iter().map(|p| p.data.0[0]).collect();
        // Fails only for more than 2^32 points or for none: then there are no neighbours.
        let tree = if arrays.is_empty() {
            None
        } else {
            ImmutableKdTree::new_from_slice(&arrays).ok()
        };
        Self {
            points,
            tree,
            normals: Vec::new(),
            neighbours: 0,
        }
    }

    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Fits normals, unless they are known: at each point that of the plane fitted to the nearest `neighbours` points.
    pub(super) fn fit_normals<M: RigidMotion<D, K>, const K: usize>(&mut self, neighbours: usize) {
        if neighbours == self.neighbours {
            return;
        }
        let normal = |p: &SVector<f64, D>| {
            let near = self.nearest_of(p, neighbours);
            let (values, vectors) = M::eigen(&spread(near.iter().map(|&i| &self.points[i])).1);
            vectors.column(values.imin()).into_owned()
        };
        self.normals = self.points.par_iter().map(normal).collect();
        self.neighbours = neighbours;
    }

    /// Points, m.
    pub(super) fn points(&self) -> &[SVector<f64, D>] {
        &self.points
    }

    /// Unit normals, one per point; empty before [`SearchableCloud::fit_normals`].
    pub(super) fn normals(&self) -> &[SVector<f64, D>] {
        &self.normals
    }

    /// Indices and squared distances (m²) of the two nearest points; of a cloud with one point, the second is at infinity.
    pub(super) fn two_nearest(&self, to: &SVector<f64, D>) -> Option<[(usize, f64); 2]> {
        const TWO: NonZero<usize> = NonZero::new(2).expect("two is not zero");
        let tree = self.tree.as_ref()?.query(&to.data.0[0]);
        let found = tree.nearest_n::<SquaredEuclidean<f64>>(TWO).execute();
        let entry = |i: usize| found.get(i).map(|near| (near.item as usize, near.distance));
        Some([entry(0)?, entry(1).unwrap_or((0, f64::INFINITY))])
    }

    /// Indices of the `count` nearest points.
    fn nearest_of(&self, to: &SVector<f64, D>, count: usize) -> Vec<usize> {
        let (Some(tree), Some(count)) = (&self.tree, NonZero::new(count)) else {
            return Vec::new();
        };
        let found = tree
            .query(&to.data.0[0])
            .nearest_n::<SquaredEuclidean<f64>>(count)
            .execute();
        found
            .iter()
            .map(|neighbour| neighbour.item as usize)
            .collect()
    }
}

/// Mean and covariance of points.
pub(super) fn spread<'a, const D: usize>(
    points: impl Iterator<Item = &'a SVector<f64, D>> + Clone,
) -> (SVector<f64, D>, SMatrix<f64, D, D>) {
    let count = points.clone().count().max(1) as f64;
    let mean = points.clone().sum::<SVector<f64, D>>() / count;
    let outer = |p: &SVector<f64, D>| (p - mean) * (p - mean).transpose();
    (mean, points.map(outer).sum::<SMatrix<f64, D, D>>() / count)
}

/// Voxel-grid filter: the mean of the finite points in every occupied cube of side `size`, m, of points in the plane or in
/// space.
pub fn downsample<const D: usize>(points: &[Point<f64, D>], size: f64) -> Vec<Point<f64, D>> {
    const { assert!(D <= 3, "voxels have three dimensions at most") };
    let padded = |p: &Point<f64, D>| Vector3::from_fn(|i, _| if i < D { p[i] } else { 0.0 });
    let means = voxel_means(points.iter().map(padded).collect(), size);
    let mean = |mean: Vector3<f64>| Point::from(SVector::from_fn(|i, _| mean[i]));
    means.into_iter().map(mean).collect()
}

/// Means of the finite points in every occupied cube of side `size`, m, in the order of their first points. It is not
/// generic, so that it is compiled in this crate.
fn voxel_means(mut points: Vec<Vector3<f64>>, size: f64) -> Vec<Vector3<f64>> {
    points.retain(|p| p.iter().all(|x| x.is_finite()));
    let mut voxels = VoxelTable::default();
    let mut sums: Vec<(Vector3<f64>, f64)> = Vec::new();
    for point in points {
        let voxel = voxels.insert(voxel_key(&point, size)) as usize;
        if voxel == sums.len() {
            sums.push((Vector3::zeros(), 0.0));
        }
        sums[voxel].0 += point;
        sums[voxel].1 += 1.0;
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
}

/// Points by the cube of side `size` (m) that contains them, on a grid shifted by `shift` sides.
pub(super) fn grid<'a, const D: usize>(
    points: impl Iterator<Item = &'a SVector<f64, D>>,
    size: f64,
    shift: [f64; D],
) -> BTreeMap<[i64; D], Vec<&'a SVector<f64, D>>> {
    let mut cells: BTreeMap<[i64; D], Vec<&SVector<f64, D>>> = BTreeMap::new();
    let cell = |p: &SVector<f64, D>| std::array::from_fn(|i| whole(p[i] / size + shift[i]));
    for point in points {
        cells.entry(cell(point)).or_default().push(point);
    }
    cells
}

/// Index of the cell that contains a coordinate in units of the side of a cell.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a saturated cell number is still a cell"
)]
pub(super) fn whole(coordinate: f64) -> i64 {
    coordinate.floor() as i64
}
