//! Scans: as measured, and sampled for registration.

use super::beams::BeamGrid;
use crate::geometry::{
    BlockTable, CELLS, CellOptions, CellPlane, CellPlanes, KEY_CHUNK, VoxelKeys, VoxelTable,
    place_of, voxel_key,
};
use nalgebra::{Isometry3, Point3, Vector3};
use std::ops::RangeInclusive;

/// Scan of a lidar.
#[derive(Clone, Copy, Debug)]
pub struct LidarScan<'a> {
    /// Points in the lidar frame at the times of their beams, m; points that are not finite are left
    /// out.
    pub points: &'a [Point3<f64>],
    /// Time of each point relative to `stamp`, s, one finite number per point, used only with a stamp; `None` if the lidar does
    /// not move during a scan.
    pub point_times: Option<&'a [f64]>,
    /// Time of the pose of the scan, s; `None` if unknown: scans are then one unit of time apart.
    pub stamp: Option<f64>,
}

impl<'a> From<&'a [Point3<f64>]> for LidarScan<'a> {
    fn from(points: &'a [Point3<f64>]) -> Self {
        Self {
            points,
            point_times: None,
            stamp: None,
        }
    }
}

impl<'a> From<&'a Vec<Point3<f64>>> for LidarScan<'a> {
    fn from(points: &'a Vec<Point3<f64>>) -> Self {
        points.as_slice().into()
    }
}

impl LidarScan<'_> {
    /// Mean time of the points relative to the stamp, s; 0 without times.
    ///
    /// Scans are deskewed to this time. Then an error of the velocity cancels in the pose. At the start of
    /// a scan it would displace the pose, and with it the next velocity: the errors would alternate from
    /// scan to scan without decay.
    pub(super) fn mean_time(&self) -> f64 {
        let times = self.times().unwrap_or_default();
        times.iter().sum::<f64>() / times.len().max(1) as f64
    }

    /// Times of the points, if the scan has a stamp.
    pub(super) fn times(&self) -> Option<&[f64]> {
        self.stamp.and(self.point_times)
    }
}

/// Point of a surface with its normal (surface element).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surfel {
    /// Position, m.
    pub position: Vector3<f64>,
    /// Unit normal, oriented towards the sensor.
    pub normal: Vector3<f64>,
}

impl Surfel {
    /// The surfel after a rigid motion.
    pub(super) fn moved(&self, motion: &Isometry3<f64>) -> Self {
        Self {
            position: (motion * Point3::from(self.position)).coords,
            normal: motion.rotation * self.normal,
        }
    }
}

/// Sides of the voxels by which a scan is sampled, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SampleVoxels {
    /// For the map.
    pub fine: f64,
    /// For registration: at least this side, larger for more than [`MAX_SAMPLES`] samples.
    pub coarse: f64,
}

/// Largest number of samples for registration.
const MAX_SAMPLES: usize = 6000;

/// Factor on the side of voxels that give too many samples.
const COARSER: f64 = std::f64::consts::SQRT_2;

/// Points on planes of a scan, sampled at two resolutions, in the lidar frame.
pub(super) struct SampledScan {
    /// Samples for the map.
    pub fine: Vec<Surfel>,
    /// Samples for registration.
    pub coarse: Vec<Surfel>,
    /// Standard deviation of the distances of the points from the planes of their neighbours, m.
    pub noise: f64,
    /// Root mean square distance of the coarse samples from the lidar, m.
    pub radius: f64,
    /// Points that are not on planes.
    pub off_planes: PointsOffPlanes,
}

/// Points of a scan that are not on planes, in the lidar frame.
#[derive(Default)]
pub(super) struct PointsOffPlanes {
    /// Points among others that are neither coplanar nor on a line.
    pub dense: Vec<Point3<f64>>,
    /// Points on a single line, or far apart. The pattern of the beams, which moves with the lidar, can look like structure here.
    pub sparse: Vec<Point3<f64>>,
}

impl PointsOffPlanes {
    /// All points.
    pub fn all(&self) -> impl Iterator<Item = &Point3<f64>> {
        self.dense.iter().chain(&self.sparse)
    }
}

/// Largest standard deviation of the points of a plane, in standard deviations of the noise of the scan. Thicker
/// planes contain an edge.
const THICKNESS: f64 = 2.0;

/// Smallest standard deviation of the points of a plane along its shorter axis, in standard deviations of the
/// noise of the ranges, which incident beams spread along the plane by the sine of the angle of incidence. The noise
/// of the points of one scan line defines a plane that contains the beams.
const WIDTH: f64 = 10.0;

/// Smallest standard deviation of the noise that limits the thickness of planes, and of residuals that weigh pairs, m: roughness of surfaces.
pub(super) const ROUGHNESS: f64 = 0.005;

/// One of this number of points is used for the noise.
const NOISE_STEP: usize = 7;

/// Largest number of points per voxel whose planes are tried.
const TRIES: u8 = 3;

/// Largest angle between a beam of a planar scan and its copy, rad: less than the largest one between adjacent beams.
const COPY_ANGLE: f64 = 0.048;

/// Largest height of the first copy, in sides of the cells of plane fits.
const COPY_HEIGHT: f64 = 1.0 / 3.0;

impl SampledScan {
    /// First point at one of the depths (m) with a plane in every voxel, at both resolutions. Adjacent beams confirm the plane, and it
    /// is as thin as the noise of the scan permits.
    pub fn new(
        points: &[Point3<f64>],
        depths: &RangeInclusive<f64>,
        voxels: SampleVoxels,
        cells: &CellOptions,
    ) -> Self {
        Self::of_first(points.len(), points, depths, voxels, cells)
    }

    /// Samples of a planar scan, whose points are those of vertical walls: planes are fitted to the points and to copies
    /// of them above and below.
    pub fn of_walls(
        points: &[Point3<f64>],
        depths: &RangeInclusive<f64>,
        voxels: SampleVoxels,
        cells: &CellOptions,
    ) -> Self {
        let mut walls = points.to_vec();
        for copy in [-2.0, -1.0, 1.0, 2.0] {
            walls.extend(points.iter().map(|point| {
                let angle = COPY_ANGLE * point.coords.xy().norm();
                let height = copy * angle.min(COPY_HEIGHT * cells.cell);
                point + Vector3::z() * height
            }));
        }
        Self::of_first(points.len(), &walls, depths, voxels, cells)
    }

    /// Samples among the first `count` points.
    fn of_first(
        count: usize,
        points: &[Point3<f64>],
        depths: &RangeInclusive<f64>,
        voxels: SampleVoxels,
        cells: &CellOptions,
    ) -> Self {
        // Fit planes to the points at the depths, and estimate the noise from them.
        let [nearest, farthest] = [depths.start(), depths.end()].map(|depth| depth * depth);
        let used = numbers_where(points.len(), |i| {
            let square = points[i].coords.norm_squared();
            nearest <= square && square <= farthest
        });
        let position = |i: usize| points[used[i] as usize].coords;
        let planes = CellPlanes::new(used.len(), position, cells);
        let on_planes = numbers_where(used.len(), |i| planes.at(i).is_some());
        let offset = |&i: &u32| {
            let plane = planes.at(i as usize)?;
            Some(plane.normal.dot(&(position(i as usize) - plane.mean)).abs())
        };
        let offsets = on_planes.iter().step_by(NOISE_STEP).filter_map(offset);
        let noise = robust_sd(&mut offsets.collect::<Vec<_>>());
        // Sample the points on planes that are thin and wide for the noise, and that adjacent beams confirm.
        let beams = BeamGrid::new(points, &used);
        let mut fine = Vec::new();
        let mut voxel_tries: BlockTable<[u8; CELLS]> = BlockTable::default();
        let mut keys = VoxelKeys::new(voxels.fine);
        let candidates = used.partition_point(|&number| (number as usize) < count);
        let last = on_planes.partition_point(|&i| (i as usize) < candidates);
        for chunk in on_planes[..last].chunks(KEY_CHUNK) {
            keys.compute(chunk.iter().map(|&i| position(i as usize)));
            for (number, &i) in chunk.iter().enumerate() {
                let key = keys.key(number);
                let tries = &mut voxel_tries.insert(key, || [0; CELLS])[place_of(key)];
                let Some(plane) = planes.at(i as usize).filter(|_| *tries < TRIES) else {
                    continue;
                };
                let point = keys.point(number);
                let plane = PointPlane::of(&point, plane);
                // A voxel with an edge has no samples.
                if plane.thickness > THICKNESS * noise.max(ROUGHNESS) {
                    *tries = TRIES;
                    continue;
                }
                *tries += 1;
                if plane.width < WIDTH * noise.max(ROUGHNESS) * plane.slant {
                    continue;
                }
                if beams.confirms(&point, &plane.normal, plane.thickness) {
                    *tries = TRIES;
                    fine.push(Surfel {
                        position: point,
                        normal: plane.normal,
                    });
                }
            }
        }
        let points_of = |numbers: Vec<u32>| {
            let points = numbers.into_iter().map(|i| position(i as usize).into());
            points.collect()
        };
        let is_sparse = |i| planes.at(i).is_none() && !planes.is_edge(i);
        let off_planes = PointsOffPlanes {
            dense: points_of(numbers_where(candidates, |i| planes.is_edge(i))),
            sparse: points_of(numbers_where(candidates, is_sparse)),
        };
        // Sample again, coarsely.
        let mut coarse = coarsened(&fine, voxels.coarse);
        let mut side = voxels.coarse;
        while coarse.len() > MAX_SAMPLES {
            side *= COARSER;
            coarse = coarsened(&fine, side);
        }
        let squares: f64 = coarse.iter().map(|s| s.position.norm_squared()).sum();
        Self {
            noise,
            radius: (squares / coarse.len().max(1) as f64).sqrt(),
            fine,
            coarse,
            off_planes,
        }
    }
}

/// Ascending numbers below `count` that pass a test. The loop has no branches that depend on it.
fn numbers_where(count: usize, test: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut numbers = vec![0; count];
    let mut found = 0;
    for (i, number) in (0..count).zip(0..) {
        numbers[found] = number;
        found += usize::from(test(i));
    }
    numbers.truncate(found);
    numbers
}

/// Plane at a point of a scan.
#[derive(Clone, Copy)]
struct PointPlane {
    /// Unit normal, oriented towards the lidar.
    normal: Vector3<f64>,
    /// Standard deviations of the points of the plane along the normal, and along the shorter axis in the plane, m.
    thickness: f64,
    width: f64,
    /// Sine of the angle of incidence.
    slant: f64,
}

impl PointPlane {
    /// The plane of a cell at one of its points, lidar frame.
    fn of(point: &Vector3<f64>, plane: &CellPlane) -> Self {
        let normal = plane.normal;
        let along = normal.dot(point) / point.norm();
        let [thickness, width, _] = plane.values.map(|value| value.max(0.0).sqrt());
        Self {
            normal: if along > 0.0 { -normal } else { normal },
            thickness,
            width,
            slant: (1.0 - along * along).max(0.0).sqrt(),
        }
    }
}

/// First surfel in every voxel of side `side`, m.
fn coarsened(surfels: &[Surfel], side: f64) -> Vec<Surfel> {
    let mut occupied = VoxelTable::with_capacity(surfels.len());
    let first = |surfel: &&Surfel| is_new(&mut occupied, &surfel.position, side);
    surfels.iter().filter(first).copied().collect()
}

/// Inserts the voxel of a point; whether it was free.
fn is_new(occupied: &mut VoxelTable, point: &Vector3<f64>, size: f64) -> bool {
    let before = occupied.len();
    occupied.insert(voxel_key(point, size)) as usize == before
}

/// Standard deviation of a normal distribution with the median of these absolute deviations; 0 for
/// none.
pub(super) fn robust_sd(absolute: &mut [f64]) -> f64 {
    if absolute.is_empty() {
        return 0.0;
    }
    let middle = absolute.len() / 2;
    let (_, median, _) = absolute.select_nth_unstable_by(middle, f64::total_cmp);
    *median / NORMAL_QUARTILE
}

/// Median absolute deviation of the standard normal distribution.
const NORMAL_QUARTILE: f64 = 0.674_489_750_196_082;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_is_sampled_at_two_resolutions_and_its_noise_is_found() {
        use etendue_physics::{Purpose, Stream};
        let mut draw = Stream::new(1, 0, 0, 0, Purpose::ReceiverNoise);
        let mut depth = || 2.0 + 0.01 * draw.normal();
        let wall: Vec<_> = (0..10_000)
            .map(|i| {
                let along = f64::from(i % 100) * 0.02;
                Point3::new(along, depth(), f64::from(i / 100) * 0.02)
            })
            .collect();
        let voxels = SampleVoxels {
            fine: 0.1,
            coarse: 0.4,
        };
        let scan = SampledScan::new(&wall, &(0.1..=50.0), voxels, &CellOptions::default());
        // 20 x 20 and 5 x 5 voxels, twice where the wall crosses the border of voxels at 2 m.
        assert!(
            (400..=800).contains(&scan.fine.len()),
            "{}",
            scan.fine.len()
        );
        assert!(
            (25..=50).contains(&scan.coarse.len()),
            "{}",
            scan.coarse.len()
        );
        // Measured: 9.9 mm.
        assert!((scan.noise - 0.01).abs() < 1e-3, "{}", scan.noise);
    }
}
