//! Registration of points off planes, such as those of vegetation, along directions that planes do not determine.
//!
//! Not estimated: the uncertainty of the registration. The directions keep that of the prediction.

use super::icp::{IcpResult, deviation_from, retract};
use crate::geometry::{VoxelTable, voxel_key};
use crate::register::{Registration, RegistrationMethod, downsample};
use nalgebra::{Isometry3, Point3, Vector6};
use std::collections::VecDeque;

/// Number of scans to which the points of a scan are registered.
const SCANS: usize = 3;

/// Side of the voxels that sample the points, m, and largest distance of a pair at the end.
const VOXEL: f64 = 0.25;
const LAST_REACH: f64 = 2.0 * VOXEL;

/// Largest distance of a pair at the start, in standard deviations of the prediction, and its limits, m.
const DEVIATIONS: f64 = 3.0;
const FIRST_REACH: [f64; 2] = [2.0 * LAST_REACH, 5.0];

/// Fewest points in occupied voxels at the pose.
const FEWEST: usize = 100;

/// Distance along each direction at which the number of points in occupied voxels is compared, m.
const DISPLACEMENT: f64 = 1.0;

/// Least ratio of the numbers of points in occupied voxels at the pose and at this distance from it. Along a bare corridor, its edges
/// have a ratio of up to 1.2; vegetation has 1.5 to 11.
const CONTRAST: f64 = 1.4;

/// Points off planes of the last scans.
#[derive(Default)]
pub(super) struct RecentPoints {
    scans: VecDeque<PlacedPoints>,
}

/// Points of a scan (lidar frame, m), and its pose.
struct PlacedPoints {
    points: Vec<Point3<f64>>,
    world_from_lidar: Isometry3<f64>,
}

impl RecentPoints {
    /// Adds the points of a scan at its pose.
    pub fn add(&mut self, points: Vec<Point3<f64>>, world_from_lidar: &Isometry3<f64>) {
        if self.scans.len() == SCANS {
            self.scans.pop_front();
        }
        self.scans.push_back(PlacedPoints {
            points,
            world_from_lidar: *world_from_lidar,
        });
    }

    /// Pose at which the points of a scan fit those of the last scans. It differs from that of a registration of planes along the
    /// directions that too few pairs determine only. `sd` is the standard deviation of the prediction along them, m.
    ///
    /// The points are registered by generalised ICP (Segal et al. 2009, doi:10.15607/RSS.2009.V.021), from the registered pose and from
    /// that of the last scan: after a turn, a robot may stand or turn back. `None` where they do not determine all these directions:
    /// see [`CONTRAST`].
    pub fn align(
        &self,
        points: &[Point3<f64>],
        found: &IcpResult,
        sd: f64,
    ) -> Option<Isometry3<f64>> {
        let directions: Vec<Vector6<f64>> = found.observability.undetermined().collect();
        let along = |to: &Isometry3<f64>| {
            let step = deviation_from(&found.world_from_lidar, to, found.radius);
            let parts = directions.iter().map(|d| d * d.dot(&step));
            retract(&found.world_from_lidar, &parts.sum(), found.radius)
        };
        // Register the points from each start, and keep the part along the directions.
        let source = downsample(points, VOXEL);
        let target = downsample(&self.in_world(), VOXEL);
        let [least, largest] = FIRST_REACH;
        let reaches = [(DEVIATIONS * sd).clamp(least, largest), LAST_REACH];
        let stages = reaches.map(|reach| Registration::new(RegistrationMethod::Gicp).within(reach));
        let align = |start| {
            let found = Registration::register_in_stages(&stages, &source, &target, start).ok()?;
            Some(along(&found.target_from_source))
        };
        let last = self.scans.back()?.world_from_lidar;
        let occupied = Occupied::new(&target);
        let count = |pose: &Isometry3<f64>| occupied.count(&source, pose);
        let poses = [found.world_from_lidar, along(&last)].into_iter();
        let pose = poses.filter_map(align).max_by_key(count)?;
        // Compare the pose with displaced ones.
        let displaced = directions
            .iter()
            .flat_map(|d| [d * DISPLACEMENT, d * -DISPLACEMENT]);
        let counts = displaced.map(|step| count(&retract(&pose, &step, found.radius)));
        let [here, most] = [count(&pose), counts.max().unwrap_or_default()];
        let is_determined = here >= FEWEST && here as f64 >= CONTRAST * most as f64;
        is_determined.then_some(pose)
    }

    /// All points in the world, m.
    fn in_world(&self) -> Vec<Point3<f64>> {
        let of_scan = |scan: &PlacedPoints| {
            let pose = scan.world_from_lidar;
            let points = scan.points.iter().map(move |point| pose * point);
            points.collect::<Vec<_>>()
        };
        self.scans.iter().flat_map(of_scan).collect()
    }
}

/// Voxels with points.
struct Occupied(VoxelTable);

impl Occupied {
    /// Voxels of the points.
    fn new(points: &[Point3<f64>]) -> Self {
        let mut voxels = VoxelTable::default();
        for point in points {
            voxels.insert(voxel_key(&point.coords, VOXEL));
        }
        Self(voxels)
    }

    /// Number of the points of a scan at a pose in these voxels.
    fn count(&self, points: &[Point3<f64>], world_from_lidar: &Isometry3<f64>) -> usize {
        let is_occupied = |point: &&Point3<f64>| {
            let in_world = world_from_lidar * **point;
            self.0.find(voxel_key(&in_world.coords, VOXEL)).is_some()
        };
        points.iter().filter(is_occupied).count()
    }
}
