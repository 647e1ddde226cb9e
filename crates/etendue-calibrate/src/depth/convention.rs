//! Poses in another convention than world from lidar.

use etendue_estimate::geometry::{Neighbourhood, Neighbours, one_per_voxel};
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use std::fmt;

/// What a pose may mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoseConvention {
    /// $x_{world} = T x_{lidar}$, lidar x forward, y left, z up: what this library takes.
    #[default]
    WorldFromLidar,
    /// The inverse, $x_{lidar} = T x_{world}$.
    LidarFromWorld,
    /// World from lidar in a camera's axes: x right, y down, z forward (KITTI's ground truth).
    Camera,
    /// The inverse in a camera's axes.
    CameraInverse,
}

impl PoseConvention {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::WorldFromLidar,
        Self::LidarFromWorld,
        Self::Camera,
        Self::CameraInverse,
    ];

    /// World from lidar, of a pose in this convention.
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
            Self::Camera => "world from lidar in a camera's axes (x right, y down, z forward)",
            Self::CameraInverse => "lidar from world in a camera's axes",
        })
    }
}

fn camera_from_lidar() -> Isometry3<f64> {
    let matrix = Matrix3::new(0.0, -1.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0);
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix));
    Isometry3::from_parts(Translation3::identity(), turn)
}

/// Pairs of scans that are looked at, and points of each.
const PAIRS: usize = 8;
const POINTS: usize = 500;
/// Cubes of which a scan keeps one point, m.
const VOXEL: f64 = 0.2;
/// Distances are capped here: what does not overlap says nothing, m.
const CAP: f64 = 1.0;
/// Another convention is likelier where the mean distance is less than this share of it as given...
const SHARE: f64 = 0.75;
/// ... and less by this, m.
const GAIN: f64 = 0.02;

/// The convention in which scans (lidar's frame, m) fit on each other, if as given they do not:
/// each scan is put onto the next, and the mean distance to the nearest point tells. `None` where
/// the poses are well as they are, and where no convention helps.
pub fn likely_convention(
    scans: &[Vec<Point3<f64>>],
    poses: &[Isometry3<f64>],
) -> Option<PoseConvention> {
    let count = scans.len().min(poses.len());
    let step = count.saturating_sub(1).div_ceil(PAIRS).max(1);
    let firsts = (0..count.saturating_sub(1)).step_by(step);
    let mut apart = [0.0; 4];
    for first in firsts {
        let (here, there) = (sparse(&scans[first]), sparse(&scans[first + 1]));
        let neighbours = Neighbours::new(&here);
        for (sum, convention) in apart.iter_mut().zip(PoseConvention::ALL) {
            let [a, b] = [first, first + 1].map(|k| convention.world_from_lidar(&poses[k]));
            *sum += far_apart(&neighbours, &here, &there, &(a.inverse() * b));
        }
    }
    let given = apart[0];
    let (best, least) = PoseConvention::ALL
        .into_iter()
        .zip(apart)
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let pairs = count.saturating_sub(1).div_ceil(step).max(1) as f64;
    (least < SHARE * given && given - least > GAIN * pairs).then_some(best)
}

fn sparse(scan: &[Point3<f64>]) -> Vec<Vector3<f64>> {
    let usable = |p: &Vector3<f64>| p.iter().all(|x| x.is_finite()) && p.norm() > 1.0;
    let finite: Vec<_> = scan.iter().map(|p| p.coords).filter(usable).collect();
    let chosen = one_per_voxel(&finite, VOXEL);
    chosen.iter().map(|&i| finite[i as usize]).collect()
}

/// Mean capped distance of some moved points from their nearest.
fn far_apart(
    neighbours: &Neighbours,
    here: &[Vector3<f64>],
    there: &[Vector3<f64>],
    motion: &Isometry3<f64>,
) -> f64 {
    let step = there.len().div_ceil(POINTS).max(1);
    let chosen = there.iter().step_by(step);
    let count = chosen.len().max(1) as f64;
    let distance = |p: &Vector3<f64>| {
        let moved = (motion * Point3::from(*p)).coords;
        let near = neighbours.near(&moved, Neighbourhood::Nearest(1));
        near.first()
            .map_or(CAP, |&i| (here[i as usize] - moved).norm().min(CAP))
    };
    chosen.map(distance).sum::<f64>() / count
}
