//! Scan-to-map odometry.

use super::icp::{IcpOptions, IcpResult, register};
use super::map::{SampledScan, SurfaceMap};
use crate::geometry::CellOptions;
use nalgebra::{Isometry3, Point3};
use std::ops::RangeInclusive;
use thiserror::Error;

/// Settings of a [`Mapper`].
#[derive(Clone, Debug, PartialEq)]
pub struct MapperOptions {
    /// Range of depths that is used, m.
    pub depths: RangeInclusive<f64>,
    /// Side of the voxels by which scans are sampled for registration, m.
    pub scan_voxel: f64,
    /// Side of the voxels of the map, with one point each, m.
    pub map_voxel: f64,
    /// Settings of the plane fits for normals.
    pub normals: CellOptions,
    /// Settings of the registration.
    pub icp: IcpOptions,
}

impl Default for MapperOptions {
    /// Depths of 1 to 50 m, voxels of 0.25 m for scans and 0.15 m for the map.
    fn default() -> Self {
        Self {
            depths: 1.0..=50.0,
            scan_voxel: 0.25,
            map_voxel: 0.15,
            normals: CellOptions::default(),
            icp: IcpOptions::default(),
        }
    }
}

/// Errors of mapping a scan.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MappingError {
    /// A scan has too few points on planes.
    #[error(
        "scan {scan} has {points} points on planes, at least {needed} are needed: omit the scan, or use larger cells for sparse scans"
    )]
    TooFewPoints {
        /// Number of the scan, from zero.
        scan: usize,
        /// Number of points with a normal.
        points: usize,
        /// Minimum number of points.
        needed: usize,
    },
    /// A scan does not overlap the map.
    #[error(
        "scan {scan} does not overlap the map at its prior pose: give odometry, or allow pairs farther apart than {max_distance} m"
    )]
    NoOverlap {
        /// Number of the scan, from zero.
        scan: usize,
        /// Greatest distance of a pair, m.
        max_distance: f64,
    },
    /// A prior pose is not finite.
    #[error("the prior pose of scan {scan} is not finite")]
    PriorNotFinite {
        /// Number of the scan, from zero.
        scan: usize,
    },
}

/// Result of adding a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapperStep {
    /// Estimated pose of the lidar.
    pub world_from_lidar: Isometry3<f64>,
    /// Registration onto the map; `None` for the first scan.
    pub icp: Option<IcpResult>,
}

/// Minimum number of sampled points of a scan.
const MIN_POINTS: usize = 50;

/// Scan-to-map odometry: a map and the poses of the scans in it.
///
/// ```
/// use etendue_estimate::odometry::{Mapper, MapperOptions};
/// use nalgebra::{Isometry3, Point3};
/// // The corner of a room, from two poses.
/// let grid = (0..60).flat_map(|i| (0..60).map(move |j| (0.05 * f64::from(i), 0.05 * f64::from(j))));
/// let room: Vec<Point3<f64>> = grid
///     .flat_map(|(a, b)| [[a, b, 0.0], [a, 0.0, b], [0.0, a, b]].map(Point3::from))
///     .collect();
/// let truth = [[2.0, 2.0, 1.0], [1.8, 2.1, 1.1]].map(|[x, y, z]| Isometry3::translation(x, y, z));
/// let scan = |pose: &Isometry3<f64>| -> Vec<_> { room.iter().map(|p| pose.inverse() * p).collect() };
/// let mut mapper = Mapper::new(MapperOptions::default());
/// mapper.add(&scan(&truth[0]), Some(truth[0]))?;
/// let step = mapper.add(&scan(&truth[1]), None)?;
/// let error = step.world_from_lidar.translation.vector - truth[1].translation.vector;
/// assert!(error.norm() < 1e-3);
/// # Ok::<(), etendue_estimate::odometry::MappingError>(())
/// ```
pub struct Mapper<'a> {
    options: MapperOptions,
    correction: Option<Box<ScanCorrection<'a>>>,
    map: SurfaceMap,
    poses: Vec<Isometry3<f64>>,
}

/// Function from the measured points of a scan (lidar frame, m) to corrected ones.
type ScanCorrection<'a> = dyn Fn(&[Point3<f64>]) -> Vec<Point3<f64>> + 'a;

impl<'a> Mapper<'a> {
    /// Mapper with an empty map.
    pub fn new(options: MapperOptions) -> Self {
        Self {
            map: SurfaceMap::new(options.map_voxel),
            options,
            correction: None,
            poses: Vec::new(),
        }
    }

    /// The mapper with a correction that is applied to every scan (lidar frame, m) after the points
    /// outside [`MapperOptions::depths`] are removed.
    #[must_use]
    pub fn with_correction(
        mut self,
        correction: impl Fn(&[Point3<f64>]) -> Vec<Point3<f64>> + 'a,
    ) -> Self {
        self.correction = Some(Box::new(correction));
        self
    }

    /// Registers a scan (lidar frame, m) from a prior pose and adds it to the map.
    ///
    /// Without a prior, the pose is predicted by constant velocity. The first scan is at its prior,
    /// or at the identity.
    ///
    /// # Errors
    /// Where the scan has too few points on planes, the prior is not finite, or the scan does not
    /// overlap the map.
    pub fn add(
        &mut self,
        scan: &[Point3<f64>],
        prior: Option<Isometry3<f64>>,
    ) -> Result<MapperStep, MappingError> {
        // Predict the pose.
        let number = self.poses.len();
        let start = prior.unwrap_or_else(|| self.predicted_pose());
        if !start.to_matrix().iter().all(|x| x.is_finite()) {
            return Err(MappingError::PriorNotFinite { scan: number });
        }
        // Crop, correct and sample the scan.
        let sampled = self.sampled(scan);
        if sampled.points.len() < MIN_POINTS {
            return Err(MappingError::TooFewPoints {
                scan: number,
                points: sampled.points.len(),
                needed: MIN_POINTS,
            });
        }
        // Register it onto the map.
        let icp = if number == 0 {
            None
        } else {
            let max_distance = self.options.icp.max_distance;
            let result = register(&sampled, &self.map, start, &self.options.icp);
            Some(result.ok_or(MappingError::NoOverlap {
                scan: number,
                max_distance,
            })?)
        };
        // Extend the map.
        let world_from_lidar = icp.map_or(start, |icp| icp.world_from_lidar);
        self.map.insert(&sampled, &world_from_lidar);
        self.poses.push(world_from_lidar);
        Ok(MapperStep {
            world_from_lidar,
            icp,
        })
    }

    /// The map of the scans added so far.
    pub fn map(&self) -> &SurfaceMap {
        &self.map
    }

    /// Poses of the scans added so far, world from lidar.
    pub fn poses(&self) -> &[Isometry3<f64>] {
        &self.poses
    }

    /// Cropped, corrected and sampled scan.
    fn sampled(&self, scan: &[Point3<f64>]) -> SampledScan {
        let usable = |p: &&Point3<f64>| self.options.depths.contains(&p.coords.norm());
        let mut points: Vec<Point3<f64>> = scan.iter().filter(usable).copied().collect();
        if let Some(correction) = &self.correction {
            points = correction(&points);
        }
        SampledScan::new(&points, self.options.scan_voxel, &self.options.normals)
    }

    /// Constant-velocity prediction of the next pose.
    fn predicted_pose(&self) -> Isometry3<f64> {
        match self.poses[..] {
            [] => Isometry3::identity(),
            [only] => only,
            [.., before, last] => last * (before.inverse() * last),
        }
    }
}
