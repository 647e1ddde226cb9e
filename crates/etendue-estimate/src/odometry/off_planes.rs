//! Registration of points off planes, such as those of vegetation, along directions that few planes determine.

use super::icp::{IcpResult, PlanePair, PointPairs, deviation_from, retract};
use super::map::SurfelOrigin;
use super::replicates::group_of;
use super::scan::{PointsOffPlanes, ROUGHNESS, robust_sd};
use super::sensor_bias::{CorrectionErrors, displacements};
use crate::geometry::{VoxelTable, voxel_key};
use crate::register::{CloudPair, Registration, RegistrationMethod, WhitenedPair, downsample};
use nalgebra::{Isometry3, Point3, Vector6};
use std::collections::VecDeque;

/// Number of scans to which the points of a scan are registered.
const SCANS: usize = 3;

/// Side of the voxels that sample the points, m.
const VOXEL: f64 = 0.15;

/// Side of the voxels that sample the dense points for their registration, m.
const DENSE_VOXEL: f64 = 0.2;

/// Side of the voxels in which points of a scan and of the last scans are compared, m.
const OCCUPIED: f64 = 0.25;

/// Largest distance of a pair in the last stage of the registration of dense points, m.
const DENSE_REACH: f64 = 0.5;

/// Largest distance of a pair in the registration of all points, m.
const LAST_REACH: f64 = 0.3;

/// Largest distance of a pair at the start, in standard deviations of the prediction.
const DEVIATIONS: f64 = 3.0;

/// Limits of that distance, m.
const FIRST_REACH: [f64; 2] = [1.0, 5.0];

/// Distance along each direction at which the number of points in occupied voxels is compared, m.
const DISPLACEMENT: f64 = 1.0;

/// Least ratio of the numbers of points in occupied voxels at the pose and at this distance from it. Along a bare corridor, its edges
/// have a ratio of up to 1.2; vegetation has 1.5 to 25.
const CONTRAST: f64 = 1.4;

/// Least excess of the number at the pose over [`CONTRAST`] times the other, in standard deviations of independent counts.
const SIGNIFICANCE: f64 = 3.0;

/// Weight of a pair of points relative to that of a plane with the same residual: residuals of neighbours among leaves are alike. Planes
/// remain decisive along the directions that they determine.
const WEIGHT: f64 = 0.1;

/// Points off planes of the last scans.
#[derive(Default)]
pub(super) struct RecentPoints {
    scans: VecDeque<PlacedPoints>,
}

/// Points of a scan (lidar frame, m), its pose and its number.
struct PlacedPoints {
    points: PointsOffPlanes,
    world_from_lidar: Isometry3<f64>,
    number: u32,
}

impl RecentPoints {
    /// Adds the points of the scan with a number at its pose.
    pub fn add(&mut self, points: PointsOffPlanes, world_from_lidar: &Isometry3<f64>, number: u32) {
        if self.scans.len() == SCANS {
            self.scans.pop_front();
        }
        self.scans.push_back(PlacedPoints {
            points,
            world_from_lidar: *world_from_lidar,
            number,
        });
    }

    /// Pairs of the points of a scan and those of the last scans, at the pose where they fit. It differs from that of a registration of
    /// planes only along the directions that too few pairs determine. `sd` is the standard deviation of the prediction along them, m, and
    /// `correction` has the errors of the correction of the ranges.
    ///
    /// The points are registered by generalised ICP (Segal et al. 2009, doi:10.15607/RSS.2009.V.021): first the dense points, from the
    /// registered pose and from that of the last scan, since a robot may stand or turn back after a turn, then all points. `None` where
    /// the dense points do not determine all these directions: see [`CONTRAST`].
    pub fn align(
        &self,
        points: &PointsOffPlanes,
        found: &IcpResult,
        sd: f64,
        correction: Option<&CorrectionErrors>,
    ) -> Option<PointPairs> {
        let weak = found.observability.weak();
        let directions: Vec<Vector6<f64>> = weak.map(|d| d.vector).collect();
        let along = |to: &Isometry3<f64>| {
            let step = deviation_from(&found.world_from_lidar, to, found.radius);
            let parts = directions.iter().map(|d| d * d.dot(&step));
            retract(&found.world_from_lidar, &parts.sum(), found.radius)
        };
        let align = |clouds: &mut CloudPair<3>, reaches: &[f64], start| {
            let stage = |&reach| Registration::new(RegistrationMethod::Gicp).within(reach);
            let stages: Vec<_> = reaches.iter().map(stage).collect();
            let found = clouds.register(&stages, start).ok()?;
            Some(along(&found.target_from_source))
        };
        // Register the dense points from each start, and keep the part along the directions.
        let last = self.scans.back()?;
        let source = sampled(points.dense.iter().copied());
        let target = sampled(self.in_world(|points| points.dense.iter()));
        let [least, largest] = FIRST_REACH;
        let reaches = [(DEVIATIONS * sd).clamp(least, largest), DENSE_REACH];
        let [coarse_source, coarse_target] =
            [&source, &target].map(|points| downsample(points, DENSE_VOXEL));
        let mut clouds = CloudPair::new(&coarse_source, &coarse_target);
        let occupied = Occupied::new(&target);
        let count = |pose: &Isometry3<f64>| occupied.count(&source, pose);
        let starts = [found.world_from_lidar, along(&last.world_from_lidar)];
        let poses = starts.map(|start| align(&mut clouds, &reaches, start));
        let pose = poses.into_iter().flatten().max_by_key(count)?;
        // Compare the pose with displaced ones.
        let displaced = directions
            .iter()
            .flat_map(|d| [d * DISPLACEMENT, d * -DISPLACEMENT]);
        let counts = displaced.map(|step| count(&retract(&pose, &step, found.radius)));
        let here = count(&pose);
        if !stands_out(here, counts.max()?) {
            return None;
        }
        // Register all points from there.
        let all = sampled(points.all().copied());
        let mut clouds = CloudPair::new(&all, &sampled(self.in_world(PointsOffPlanes::all)));
        let pose = align(&mut clouds, &[LAST_REACH], pose)?;
        let pairs = clouds.whitened_pairs(&pose, LAST_REACH);
        Some(PointPairs {
            pairs: last.plane_pairs(&pairs, &pose, found.residual, correction),
            world_from_lidar: pose,
            overlap: here as f64 / source.len() as f64,
        })
    }

    /// Selected points of the scans in the world, m.
    fn in_world<'a, I: Iterator<Item = &'a Point3<f64>>>(
        &'a self,
        select: impl Fn(&'a PointsOffPlanes) -> I,
    ) -> impl Iterator<Item = Point3<f64>> {
        self.scans.iter().flat_map(move |scan| {
            let pose = scan.world_from_lidar;
            select(&scan.points).map(move |point| pose * point)
        })
    }
}

impl PlacedPoints {
    /// Pairs of points of a scan at a pose and points in the world, each as three pairs with planes whose normals are the rows of its
    /// whitening matrix: the residuals are the same. The weights are relative to those of planes, whose residual is `of_planes` (m).
    ///
    /// The points in the world are those of the last scans. All of them have the errors of the pose of this scan.
    fn plane_pairs(
        &self,
        pairs: &[WhitenedPair],
        world_from_lidar: &Isometry3<f64>,
        of_planes: f64,
        correction: Option<&CorrectionErrors>,
    ) -> Vec<PlanePair> {
        // Weigh the pairs by their residuals.
        let residual = |pair: &WhitenedPair| {
            let source = world_from_lidar * Point3::from(pair.source);
            pair.whitening * (source.coords - pair.target)
        };
        let mut residuals: Vec<f64> = pairs
            .iter()
            .flat_map(|pair| <[f64; 3]>::from(residual(pair).abs()))
            .collect();
        let [of_planes, of_points] =
            [of_planes, robust_sd(&mut residuals)].map(|sd| sd.max(ROUGHNESS));
        let weight = WEIGHT * (of_planes / of_points).powi(2);
        // Make a pair with a plane of each row.
        let from = self.world_from_lidar.translation.vector;
        let rows = |pair: &WhitenedPair| {
            let offset = world_from_lidar.rotation * pair.source;
            let residuals = residual(pair);
            let (target, whitening) = (pair.target, pair.whitening);
            (0..3).map(move |row| {
                let across = whitening.row(row).transpose();
                let length = across.norm();
                let normal = across / length;
                PlanePair {
                    offset,
                    normal,
                    distance: residuals[row] / length,
                    weight: weight * length * length,
                    origin: SurfelOrigin {
                        scan: self.number,
                        group: group_of(&target),
                        displaced: displacements(&normal, &(target - from), correction),
                    },
                }
            })
        };
        pairs.iter().flat_map(rows).collect()
    }
}

/// Whether more points are in occupied voxels at a pose than at any other one, by [`CONTRAST`] and [`SIGNIFICANCE`].
fn stands_out(here: usize, most: usize) -> bool {
    let [here, most] = [here, most].map(|count| count as f64);
    let excess = here - CONTRAST * most;
    excess > 0.0 && excess * excess >= SIGNIFICANCE.powi(2) * (here + CONTRAST.powi(2) * most)
}

/// Points sampled in voxels of side [`VOXEL`].
fn sampled(points: impl Iterator<Item = Point3<f64>>) -> Vec<Point3<f64>> {
    downsample(&points.collect::<Vec<_>>(), VOXEL)
}

/// Voxels with points.
struct Occupied(VoxelTable);

impl Occupied {
    /// Voxels of the points.
    fn new(points: &[Point3<f64>]) -> Self {
        let mut voxels = VoxelTable::default();
        for point in points {
            voxels.insert(voxel_key(&point.coords, OCCUPIED));
        }
        Self(voxels)
    }

    /// Number of the points of a scan at a pose in these voxels.
    fn count(&self, points: &[Point3<f64>], world_from_lidar: &Isometry3<f64>) -> usize {
        let is_occupied = |point: &&Point3<f64>| {
            let in_world = world_from_lidar * **point;
            self.0.find(voxel_key(&in_world.coords, OCCUPIED)).is_some()
        };
        points.iter().filter(is_occupied).count()
    }
}
