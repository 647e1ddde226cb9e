//! Point clouds with nearest-neighbour queries and normals.

use super::rigid_motion::RigidMotion;
use super::tree::PointTree;
use crate::geometry::{VoxelTable, voxel_key};
use nalgebra::{Point, Point2, Point3, SMatrix, SVector, Vector3};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Point cloud of `D`-dimensional points (m) with a k-d tree and, optionally, the nearest points and the normal of each point.
pub(super) struct SearchableCloud<const D: usize> {
    points: Vec<SVector<f64, D>>,
    tree: PointTree<D>,
    normals: Vec<SVector<f64, D>>,
    /// Number of nearest points of each point, with the point itself; 0 before they are searched.
    neighbours: usize,
    /// Indices of the nearest points, point by point.
    near: Vec<u32>,
    /// Distance of the last of them, m.
    reach: Vec<f64>,
}

impl<const D: usize> SearchableCloud<D> {
    /// SearchableCloud of the finite points among `points`, m.
    pub(super) fn new(points: &[Point<f64, D>]) -> Self {
        let finite = |p: &&Point<f64, D>| p.iter().all(|x| x.is_finite());
        Self::of(points.iter().filter(finite).map(|p| p.coords).collect())
    }

    /// Cloud of finite points, m.
    pub(super) fn of(points: Vec<SVector<f64, D>>) -> Self {
        let tree = PointTree::new(&points);
        Self {
            points,
            tree,
            normals: Vec::new(),
            neighbours: 0,
            near: Vec::new(),
            reach: Vec::new(),
        }
    }

    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Fits normals, unless they are known: at each point that of the plane fitted to the nearest `neighbours` points.
    pub(super) fn fit_normals<M: RigidMotion<D, K>, const K: usize>(&mut self, neighbours: usize) {
        let count = neighbours.min(self.len());
        if count == self.neighbours {
            return;
        }
        let mut near = vec![0; count * self.len()];
        let rows = near.par_chunks_exact_mut(count.max(1));
        let plane = |(point, near): (&SVector<f64, D>, &mut [u32])| {
            let mut squares = vec![0.0; count];
            let found = self.tree.nearest(point, f64::INFINITY, near, &mut squares);
            let reach = squares[found - 1].sqrt();
            let points = near.iter().map(|&i| &self.points[i as usize]);
            (M::normal(&spread(points).1), reach)
        };
        (self.normals, self.reach) = self.points.par_iter().zip(rows).map(plane).unzip();
        self.near = near;
        self.neighbours = count;
    }

    /// Points, m.
    pub(super) fn points(&self) -> &[SVector<f64, D>] {
        &self.points
    }

    /// Unit normals, one per point; empty before [`SearchableCloud::fit_normals`].
    pub(super) fn normals(&self) -> &[SVector<f64, D>] {
        &self.normals
    }

    /// The nearest of some points, and its squared distance, m².
    pub(super) fn nearest_of(&self, candidates: &[u32], to: &SVector<f64, D>) -> (usize, f64) {
        let mut nearest = (0, f64::INFINITY);
        for &index in candidates {
            let index = index as usize;
            let squared = (to - self.points[index]).norm_squared();
            if squared < nearest.1 {
                nearest = (index, squared);
            }
        }
        nearest
    }

    /// The point nearest to a position among the neighbours of a point, where they are known and reach as far as
    /// the position.
    pub(super) fn nearest_around(&self, point: usize, to: &SVector<f64, D>) -> Option<NearPoint> {
        // All other points are farther from the point than its last neighbour.
        let reach = self.reach.get(point)?;
        let beyond = reach - (to - self.points[point]).norm();
        if beyond <= 0.0 {
            return None;
        }
        // The nearest and the second of the neighbours
        let near = &self.near[self.neighbours * point..self.neighbours * (point + 1)];
        let [mut first, mut second] = [(0, f64::INFINITY); 2];
        for &index in near {
            let index = index as usize;
            let squared = (to - self.points[index]).norm_squared();
            if squared < first.1 {
                (first, second) = ((index, squared), first);
            } else if squared < second.1 {
                second = (index, squared);
            }
        }
        Some(NearPoint {
            nearest: first.0,
            distance: first.1.sqrt(),
            others: second.1.sqrt().min(beyond),
        })
    }

    /// Tree of the points.
    pub(super) fn tree(&self) -> &PointTree<D> {
        &self.tree
    }
}

/// Point near a position.
pub(super) struct NearPoint {
    /// Index of the point.
    pub nearest: usize,
    /// Its distance, m.
    pub distance: f64,
    /// Lower bound of the distances of all other points, m. Below the distance of the point, another one can be nearer.
    pub others: f64,
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

/// Point in the plane or in space. Functions of clouds are compiled in this crate for both.
pub trait CloudPoint: Copy {
    /// The point in space, with the height zero for points in the plane.
    fn in_space(&self) -> Vector3<f64>;

    /// [`downsample`].
    fn downsample(points: &[Self], size: f64) -> Vec<Self>;

    /// [`cloud_size`].
    fn cloud_size(points: &[Self]) -> f64;
}

impl CloudPoint for Point2<f64> {
    fn in_space(&self) -> Vector3<f64> {
        Vector3::new(self.x, self.y, 0.0)
    }

    fn downsample(points: &[Self], size: f64) -> Vec<Self> {
        let means = voxel_means(points, size).into_iter();
        means.map(|mean| Self::new(mean.x, mean.y)).collect()
    }

    fn cloud_size(points: &[Self]) -> f64 {
        median_distance(points)
    }
}

impl CloudPoint for Point3<f64> {
    fn in_space(&self) -> Vector3<f64> {
        self.coords
    }

    fn downsample(points: &[Self], size: f64) -> Vec<Self> {
        let means = voxel_means(points, size).into_iter();
        means.map(Self::from).collect()
    }

    fn cloud_size(points: &[Self]) -> f64 {
        median_distance(points)
    }
}

/// Voxel-grid filter: the mean of the finite points in every occupied cube of side `size`, m.
///
/// ```
/// use etendue_estimate::register::downsample;
/// use nalgebra::Point2;
/// let points = [[0.1, 0.1], [0.3, 0.1], [1.1, 0.1]].map(Point2::from);
/// assert_eq!(downsample(&points, 0.5), [Point2::new(0.2, 0.1), points[2]]);
/// ```
pub fn downsample<P: CloudPoint>(points: &[P], size: f64) -> Vec<P> {
    P::downsample(points, size)
}

/// Median distance (m) of points from their centroid, at least 1 micrometre; 1 m for no points.
///
/// ```
/// use etendue_estimate::register::cloud_size;
/// use nalgebra::Point2;
/// let points = [[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.0, -1.0]].map(Point2::from);
/// assert_eq!(cloud_size(&points), 1.0);
/// ```
pub fn cloud_size<P: CloudPoint>(points: &[P]) -> f64 {
    P::cloud_size(points)
}

/// [`cloud_size`].
fn median_distance(points: &[impl CloudPoint]) -> f64 {
    let count = points.len().max(1) as f64;
    let sum: Vector3<f64> = points.iter().map(CloudPoint::in_space).sum();
    let centroid = sum / count;
    let squared = |point: &_| (CloudPoint::in_space(point) - centroid).norm_squared();
    let mut distances: Vec<f64> = points.iter().map(squared).collect();
    if distances.is_empty() {
        return 1.0;
    }
    let middle = distances.len() / 2;
    let (_, median, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
    median.sqrt().max(1e-6)
}

/// Means of the finite points in every occupied cube of side `size`, m, in the order of their first points.
fn voxel_means(points: &[impl CloudPoint], size: f64) -> Vec<Vector3<f64>> {
    let mut voxels = VoxelTable::default();
    let mut sums: Vec<(Vector3<f64>, f64)> = Vec::new();
    for point in points {
        let point = point.in_space();
        if !point.iter().all(|x| x.is_finite()) {
            continue;
        }
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
