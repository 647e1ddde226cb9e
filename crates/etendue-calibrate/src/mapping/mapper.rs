//! Scans one after the other.

use super::icp::{Icp, IcpOptions, register};
use super::map::{Scan, SurfaceMap};
use crate::depth::DepthModel;
use crate::depth::correct_scan;
use crate::depth::features::CellOptions;
use nalgebra::{Isometry3, Point3};
use std::ops::RangeInclusive;
use thiserror::Error;

/// How a map is made.
#[derive(Clone, Debug, PartialEq)]
pub struct MapperOptions {
    /// Depths that are used, m.
    pub depths: RangeInclusive<f64>,
    /// Side of the cubes of which a scan keeps one point for registration, m.
    pub scan_cube: f64,
    /// Side of the cubes of which the map keeps one point, m.
    pub map_cube: f64,
    /// How normals are found.
    pub normals: CellOptions,
    /// How a scan is registered.
    pub icp: IcpOptions,
    /// A correction that every scan gets first.
    pub correction: Option<DepthModel>,
}

impl Default for MapperOptions {
    /// Depths 1 to 50 m, cubes of 0.25 m for scans and 0.15 m for the map, no correction.
    fn default() -> Self {
        Self {
            depths: 1.0..=50.0,
            scan_cube: 0.25,
            map_cube: 0.15,
            normals: CellOptions::default(),
            icp: IcpOptions::default(),
            correction: None,
        }
    }
}

/// Why a scan cannot be mapped.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MappingError {
    /// A scan without planes.
    #[error(
        "scan {scan} has {points} points on planes, at least {needed} are needed: leave it out, or use larger cells for sparse scans"
    )]
    TooFewPoints {
        /// Number of the scan, from zero.
        scan: usize,
        /// Points with a normal.
        points: usize,
        /// Points needed.
        needed: usize,
    },
    /// A scan that does not meet the map.
    #[error(
        "scan {scan} does not overlap the map at its prior pose: give odometry, or allow pairs farther apart than {within} m"
    )]
    NoOverlap {
        /// Number of the scan, from zero.
        scan: usize,
        /// Greatest distance of a pair, m.
        within: f64,
    },
    /// A prior pose that is not a number.
    #[error("the prior pose of scan {scan} is not finite")]
    PriorNotFinite {
        /// Number of the scan, from zero.
        scan: usize,
    },
}

/// What became of a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// World from lidar.
    pub world_from_lidar: Isometry3<f64>,
    /// Its registration; none of the first scan.
    pub icp: Option<Icp>,
}

/// Least number of points of a scan that is registered.
const NEEDED: usize = 50;

/// A map in the making.
///
/// ```
/// use etendue_calibrate::mapping::{Mapper, MapperOptions};
/// use nalgebra::{Isometry3, Point3};
/// // The corner of a room, from two places.
/// let grid = (0..60).flat_map(|i| (0..60).map(move |j| (0.05 * f64::from(i), 0.05 * f64::from(j))));
/// let room: Vec<Point3<f64>> = grid
///     .flat_map(|(a, b)| [[a, b, 0.0], [a, 0.0, b], [0.0, a, b]].map(Point3::from))
///     .collect();
/// let truth = [[2.0, 2.0, 1.0], [1.8, 2.1, 1.1]].map(|[x, y, z]| Isometry3::translation(x, y, z));
/// let scan = |pose: &Isometry3<f64>| -> Vec<_> { room.iter().map(|p| pose.inverse() * p).collect() };
/// let mut mapper = Mapper::new(MapperOptions::default());
/// mapper.add(&scan(&truth[0]), Some(truth[0]))?;
/// let step = mapper.add(&scan(&truth[1]), None)?;
/// let off = step.world_from_lidar.translation.vector - truth[1].translation.vector;
/// assert!(off.norm() < 1e-3);
/// # Ok::<(), etendue_calibrate::mapping::MappingError>(())
/// ```
pub struct Mapper {
    options: MapperOptions,
    map: SurfaceMap,
    poses: Vec<Isometry3<f64>>,
}

impl Mapper {
    /// Without scans.
    pub fn new(options: MapperOptions) -> Self {
        Self {
            map: SurfaceMap::new(options.map_cube),
            options,
            poses: Vec::new(),
        }
    }

    /// Registers a scan (lidar's frame, m) from a prior pose and adds it to the map; without a
    /// prior the last motion is repeated. The first scan stands at its prior, or at the origin.
    ///
    /// # Errors
    /// Where the scan has too few points on planes, the prior is not finite, or nothing of the map
    /// is near.
    pub fn add(
        &mut self,
        scan: &[Point3<f64>],
        prior: Option<Isometry3<f64>>,
    ) -> Result<Step, MappingError> {
        let number = self.poses.len();
        let start = prior.unwrap_or_else(|| self.foreseen());
        if !start.to_matrix().iter().all(|x| x.is_finite()) {
            return Err(MappingError::PriorNotFinite { scan: number });
        }
        let thinned = self.thinned(scan);
        if thinned.points.len() < NEEDED {
            return Err(MappingError::TooFewPoints {
                scan: number,
                points: thinned.points.len(),
                needed: NEEDED,
            });
        }
        let icp = if number == 0 {
            None
        } else {
            let within = self.options.icp.within;
            let found = register(&thinned, &self.map, start, &self.options.icp);
            Some(found.ok_or(MappingError::NoOverlap {
                scan: number,
                within,
            })?)
        };
        let world_from_lidar = icp.map_or(start, |icp| icp.world_from_lidar);
        self.map.add(&thinned, &world_from_lidar);
        self.poses.push(world_from_lidar);
        Ok(Step {
            world_from_lidar,
            icp,
        })
    }

    /// The map so far.
    pub fn map(&self) -> &SurfaceMap {
        &self.map
    }

    /// The poses so far, world from lidar.
    pub fn poses(&self) -> &[Isometry3<f64>] {
        &self.poses
    }

    fn thinned(&self, scan: &[Point3<f64>]) -> Scan {
        let usable = |p: &&Point3<f64>| self.options.depths.contains(&p.coords.norm());
        let mut points: Vec<Point3<f64>> = scan.iter().filter(usable).copied().collect();
        if let Some(model) = &self.options.correction {
            points = correct_scan(&points, model, &self.options.normals).points;
        }
        Scan::thinned(&points, self.options.scan_cube, &self.options.normals)
    }

    /// The last motion repeated.
    fn foreseen(&self) -> Isometry3<f64> {
        match self.poses[..] {
            [] => Isometry3::identity(),
            [only] => only,
            [.., before, last] => last * (before.inverse() * last),
        }
    }
}
