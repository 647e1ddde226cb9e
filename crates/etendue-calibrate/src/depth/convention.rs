//! Conventions of poses, and detection of the convention of given poses.

use etendue_estimate::geometry::{Neighbourhood, Neighbours, one_per_voxel};
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use std::fmt;

/// Convention of a pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoseConvention {
    /// $x_{world} = T x_{lidar}$, lidar x forward, y left, z up: the convention of this library.
    #[default]
    WorldFromLidar,
    /// The inverse, $x_{lidar} = T x_{world}$.
    LidarFromWorld,
    /// World from lidar in camera axes: x right, y down, z forward (ground truth of KITTI).
    Camera,
    /// The inverse in camera axes.
    CameraInverse,
}

impl PoseConvention {
    /// All conventions.
    pub const ALL: [Self; 4] = [
        Self::WorldFromLidar,
        Self::LidarFromWorld,
        Self::Camera,
        Self::CameraInverse,
    ];

    /// World-from-lidar pose of a pose in this convention.
    pub fn world_from_lidar(self, pose: &Isometry3<f64>) -> Isometry3<f64> {
        let axes = camera_from_lidar();
        match self {
            Self::WorldFromLidar => *pose,
            Self::LidarFromWorld => pose.inverse(),
            Self::Camera => axes.inverse() * pose * axes,
            Self::CameraInverse => axes.inverse() * pose.inverse() * axes,
        }
    }
}

impl fmt::Display for PoseConvention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WorldFromLidar => "world from lidar",
            Self::LidarFromWorld => "lidar from world (the inverse)",
            Self::Camera => "world from lidar in camera axes (x right, y down, z forward)",
            Self::CameraInverse => "lidar from world in camera axes",
        })
    }
}

fn camera_from_lidar() -> Isometry3<f64> {
    let matrix = Matrix3::new(0.0, -1.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0);
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix));
    Isometry3::from_parts(Translation3::identity(), turn)
}

/// Greatest number of compared pairs of scans.
const PAIRS: usize = 8;
/// Greatest number of compared points per pair.
const POINTS: usize = 500;
/// Edge length of the voxels, each with one point per scan, m.
const VOXEL: f64 = 0.2;
/// Least distance of a point from the lidar, m.
const NEAREST: f64 = 1.0;
/// Limit of point distances, m: bounds the effect of regions that do not overlap.
const DISTANCE_LIMIT: f64 = 1.0;
/// Greatest mean distance in another convention relative to that as given.
const GREATEST_RATIO: f64 = 0.75;
/// Least improvement of the mean distance, m.
const LEAST_IMPROVEMENT: f64 = 0.02;

/// Pairs of successive scans that are spread over a sequence of any length.
#[derive(Clone, Debug, Default)]
pub struct ScanPairs {
    /// Number of scans that were added.
    scans: usize,
    /// Binary logarithm of the distance of the first scans of two pairs.
    level: u32,
    /// Index of the first scan of each pair, and some points of both (lidar frame, m).
    pairs: Vec<(usize, [Vec<Vector3<f64>>; 2])>,
    /// First scan of the next pair.
    first: Option<Vec<Vector3<f64>>>,
}

impl ScanPairs {
    /// Pairs of scans (lidar frame, m).
    pub fn of(scans: &[Vec<Point3<f64>>]) -> Self {
        let mut pairs = Self::default();
        for scan in scans {
            pairs.add(scan);
        }
        pairs
    }

    /// Adds the next scan (lidar frame, m).
    pub fn add(&mut self, scan: &[Point3<f64>]) {
        let number = self.scans;
        self.scans += 1;
        // Complete a pair, and keep half of the pairs if there are too many
        if let Some(first) = self.first.take() {
            self.pairs.push((number - 1, [first, downsample(scan)]));
            if self.pairs.len() > PAIRS {
                self.level += 1;
                let step = 1_usize << self.level;
                self.pairs.retain(|(first, _)| first.is_multiple_of(step));
            }
        }
        // Begin the next
        let is_first = number.is_multiple_of(1 << self.level);
        self.first = is_first.then(|| downsample(scan));
    }

    /// The convention in which the scans are consistent, if they are not with the poses as given, one per scan. Each first
    /// scan is aligned with the next by the poses; the criterion is the mean distance to the nearest point. `None` if
    /// the poses are consistent as given, or no convention improves them.
    pub fn likely_convention(&self, poses: &[Isometry3<f64>]) -> Option<PoseConvention> {
        // Sum the distances of successive scans in each convention
        let mut distances = [0.0; 4];
        let with_poses = self
            .pairs
            .iter()
            .filter(|(first, _)| first + 1 < poses.len());
        for (first, [target, source]) in with_poses {
            let neighbours = Neighbours::new(target);
            for (sum, convention) in distances.iter_mut().zip(PoseConvention::ALL) {
                let [a, b] = [*first, first + 1].map(|k| convention.world_from_lidar(&poses[k]));
                *sum += mean_distance(&neighbours, target, source, &(a.inverse() * b));
            }
        }

        // Accept the best convention if it is a clear improvement
        let given = distances[0];
        let (best, least) = PoseConvention::ALL
            .into_iter()
            .zip(distances)
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        let pairs = self.pairs.len().max(1) as f64;
        let is_better = least < GREATEST_RATIO * given && given - least > LEAST_IMPROVEMENT * pairs;
        is_better.then_some(best)
    }
}

/// One point per voxel of a scan, without points near the lidar.
fn downsample(scan: &[Point3<f64>]) -> Vec<Vector3<f64>> {
    let usable = |p: &Vector3<f64>| p.iter().all(|x| x.is_finite()) && p.norm() > NEAREST;
    let finite: Vec<_> = scan.iter().map(|p| p.coords).filter(usable).collect();
    let chosen = one_per_voxel(&finite, VOXEL);
    chosen.iter().map(|&i| finite[i as usize]).collect()
}

/// Mean limited distance of transformed source points from their nearest target points, m.
fn mean_distance(
    neighbours: &Neighbours,
    target: &[Vector3<f64>],
    source: &[Vector3<f64>],
    target_from_source: &Isometry3<f64>,
) -> f64 {
    let step = source.len().div_ceil(POINTS).max(1);
    let chosen = source.iter().step_by(step);
    let count = chosen.len().max(1) as f64;
    let distance = |p: &Vector3<f64>| {
        let point = (target_from_source * Point3::from(*p)).coords;
        let nearest = neighbours.near(&point, Neighbourhood::Nearest(1));
        nearest.first().map_or(DISTANCE_LIMIT, |&i| {
            let distance = (target[i as usize] - point).norm();
            distance.min(DISTANCE_LIMIT)
        })
    };
    chosen.map(distance).sum::<f64>() / count
}
