//! Scan-to-map odometry.

use super::freedom::MotionFreedom;
use super::icp::{IcpOptions, IcpResult, PointPairs, deviation_from, register};
use super::map::SurfaceMap;
use super::motion::{MotionModel, Prediction, RegisteredDirections, deskew};
use super::off_planes::RecentPoints;
use super::quality::{PoseUncertainty, QualityLimits, ScanQuality, ScanVerdict};
use super::replicates::TrajectoryReplicates;
use super::scan::{LidarScan, SampleVoxels, SampledScan};
use super::sensor_bias::{CORRECTION_ERRORS, CorrectionErrors};
use crate::geometry::CellOptions;
use nalgebra::{Isometry3, Matrix6, Point3};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use thiserror::Error;

/// Settings of a [`Mapper`].
#[derive(Clone, Debug, PartialEq)]
pub struct MapperOptions {
    /// Range of depths that is used, m.
    pub depths: RangeInclusive<f64>,
    /// Smallest side of the voxels by which scans are sampled for registration, m. Scans of large places
    /// have larger voxels, for 6000 samples.
    pub scan_voxel: f64,
    /// Side of the voxels of the map, with one point each, m.
    pub map_voxel: f64,
    /// Settings of the plane fits for normals.
    pub normals: CellOptions,
    /// Settings of the registration.
    pub icp: IcpOptions,
    /// Limits of the quality of a scan.
    pub limits: QualityLimits,
}

impl Default for MapperOptions {
    /// Depths of 1 to 50 m, voxels of at least 0.25 m for scans and of 0.15 m for the map.
    fn default() -> Self {
        Self {
            depths: 1.0..=50.0,
            scan_voxel: 0.25,
            map_voxel: 0.15,
            normals: CellOptions::default(),
            icp: IcpOptions::default(),
            limits: QualityLimits::default(),
        }
    }
}

impl MapperOptions {
    /// Settings for the scans of a level planar lidar on a level floor: depths of 0.3 to 50 m, voxels of 5 cm for scans and map,
    /// scans of 25 samples or more.
    pub fn planar() -> Self {
        let default = Self::default();
        Self {
            depths: 0.3..=50.0,
            scan_voxel: 0.05,
            map_voxel: 0.05,
            normals: default.normals,
            icp: IcpOptions {
                freedom: MotionFreedom::Plane,
                ..default.icp
            },
            limits: QualityLimits {
                samples: 25,
                ..default.limits
            },
        }
    }
}

/// Errors of mapping a scan.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MappingError {
    /// A prior pose is not finite.
    #[error("the prior pose of scan {scan} is not finite: give finite numbers, or no prior")]
    PriorNotFinite {
        /// Number of the scan, from zero.
        scan: usize,
    },
    /// The times of a scan are not one finite number per point.
    #[error(
        "scan {scan} has {points} points and {times} times, {finite} of them finite: give one finite time per point, or none"
    )]
    PointTimes {
        /// Number of the scan, from zero.
        scan: usize,
        /// Number of points.
        points: usize,
        /// Number of times.
        times: usize,
        /// Number of finite times.
        finite: usize,
    },
}

/// Result of adding a scan.
#[derive(Clone, Debug, PartialEq)]
pub struct MapperStep {
    /// Estimated pose of the lidar.
    pub world_from_lidar: Isometry3<f64>,
    /// Quality of the pose, with its uncertainty.
    pub quality: ScanQuality,
}

/// Scan-to-map odometry: a map and the poses of the scans in it.
///
/// A scan that does not overlap the map has its predicted pose and the verdict
/// [`Lost`](ScanVerdict::Lost); the next scans are registered as before.
///
/// ```
/// use etendue_estimate::odometry::{Mapper, MapperOptions, ScanVerdict};
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
/// assert_eq!(step.quality.verdict, ScanVerdict::Good);
/// # Ok::<(), etendue_estimate::odometry::MappingError>(())
/// ```
pub struct Mapper<'a> {
    options: MapperOptions,
    correction: Option<Box<ScanCorrection<'a>>>,
    correction_errors: Option<Box<CorrectionErrors<'a>>>,
    motion: MotionModel,
    map: SurfaceMap,
    recent: RecentPoints,
    poses: Vec<Isometry3<f64>>,
    /// Length of the path so far, m.
    path: f64,
    replicates: TrajectoryReplicates,
    /// The first scan if it has times, until the second is registered.
    first: Option<FirstScan>,
}

/// Copy of the first scan.
struct FirstScan {
    points: Vec<Point3<f64>>,
    point_times: Vec<f64>,
    stamp: Option<f64>,
    /// Pose at the stamp.
    prior: Option<Isometry3<f64>>,
}

impl FirstScan {
    /// Copy of a scan with times.
    fn of(scan: &LidarScan, prior: Option<Isometry3<f64>>) -> Option<Self> {
        let times = scan.times()?;
        Some(Self {
            points: scan.points.to_vec(),
            point_times: times.to_vec(),
            stamp: scan.stamp,
            prior: prior.or(Some(Isometry3::identity())),
        })
    }

    fn scan(&self) -> LidarScan<'_> {
        LidarScan {
            points: &self.points,
            point_times: Some(&self.point_times),
            stamp: self.stamp,
        }
    }
}

/// Largest decrease of the overlap of planes where points off planes determine the pose.
const LESS_OVERLAP: f64 = 0.05;

/// Effective number of patches below which points off planes do not replace what few planes determine: a moving object has one or two.
const BROAD: f64 = 3.0;

/// Standard deviation of a prediction from which points off planes are registered, m. That of their registration is 10 to 40 mm.
const BY_POINTS: f64 = 0.02;

/// Function from the measured points of a scan (lidar frame, m) to corrected ones.
type ScanCorrection<'a> = dyn Fn(&[Point3<f64>]) -> Vec<Point3<f64>> + 'a;

impl<'a> Mapper<'a> {
    /// Mapper with an empty map.
    pub fn new(options: MapperOptions) -> Self {
        Self {
            map: SurfaceMap::new(options.map_voxel),
            recent: RecentPoints::default(),
            motion: MotionModel::new(options.icp.freedom),
            replicates: TrajectoryReplicates::new(options.icp.freedom),
            options,
            correction: None,
            correction_errors: None,
            poses: Vec::new(),
            path: 0.0,
            first: None,
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

    /// The mapper with the independent errors of its correction: the covariances of the poses contain their effects.
    #[must_use]
    pub fn with_correction_errors(
        mut self,
        errors: impl Fn(f64, f64) -> [f64; CORRECTION_ERRORS] + 'a,
    ) -> Self {
        self.correction_errors = Some(Box::new(errors));
        self
    }

    /// Registers a scan from a prior pose and adds it to the map.
    ///
    /// Without a prior, the pose is predicted by constant velocity. The first scan is at its prior,
    /// or at the identity.
    ///
    /// # Errors
    /// If the prior is not finite, or the times are not one finite number per point.
    pub fn add<'s>(
        &mut self,
        scan: impl Into<LidarScan<'s>>,
        prior: Option<Isometry3<f64>>,
    ) -> Result<MapperStep, MappingError> {
        let scan = scan.into();
        self.check(&scan, prior)?;
        let prior = prior.map(|prior| self.possible(&prior));
        let step = self.add_once(&scan, prior);
        if self.poses.len() == 1 {
            self.first = FirstScan::of(&scan, prior);
            return Ok(step);
        }
        // The velocity of the first scan is known from the second: deskew it, and register the second again.
        match self.first.take() {
            Some(first) if step.quality.verdict != ScanVerdict::Lost => {
                self.map = SurfaceMap::new(self.options.map_voxel);
                self.recent = RecentPoints::default();
                self.motion.restart();
                self.poses.clear();
                self.path = 0.0;
                self.replicates = TrajectoryReplicates::new(self.options.icp.freedom);
                self.add_once(&first.scan(), first.prior);
                Ok(self.add_once(&scan, prior))
            }
            _ => Ok(step),
        }
    }

    /// Registers a scan and adds it to the map.
    fn add_once(&mut self, scan: &LidarScan, prior: Option<Isometry3<f64>>) -> MapperStep {
        // Predict the pose at the mean time, and register the scan.
        let middle = scan.mean_time();
        let prior = prior.map(|pose| self.motion.extrapolated(&pose, middle));
        let prediction = self.motion.predict(scan.stamp.map(|s| s + middle), prior);
        let mut sampled = self.sampled(scan, middle);
        let found = self.registered(&sampled, &prediction);
        let world_from_middle = self.update_motion(&sampled, &prediction, found.as_ref());
        // State the uncertainty and the quality of the pose.
        let change = scan.times().map(|_| self.motion.change_covariance());
        let change = change.unwrap_or_default();
        let uncertainty =
            self.uncertainty(&prediction, &world_from_middle, found.as_ref(), &change);
        let quality = self.quality(&sampled, found.as_ref()).with_uncertainty(
            &uncertainty,
            &self.options.limits,
            self.path,
        );
        // Extend the map, the trajectory and the path.
        self.extend_map(&mut sampled, &world_from_middle, quality.verdict);
        let world_from_lidar = self.motion.extrapolated(&world_from_middle, -middle);
        let position = |pose: &Isometry3<f64>| pose.translation.vector;
        if let Some(last) = self.poses.last() {
            self.path += (position(&world_from_lidar) - position(last)).norm();
        }
        self.poses.push(world_from_lidar);
        MapperStep {
            world_from_lidar,
            quality,
        }
    }

    /// The map of the scans added so far.
    pub fn map(&self) -> &SurfaceMap {
        &self.map
    }

    /// Poses of the scans added so far, world from lidar.
    pub fn poses(&self) -> &[Isometry3<f64>] {
        &self.poses
    }

    /// The nearest pose to a prior that the lidar can have: at the height of the first.
    fn possible(&self, prior: &Isometry3<f64>) -> Isometry3<f64> {
        let first = self.poses.first().unwrap_or(prior);
        self.options.icp.freedom.nearest(prior, first.translation.z)
    }

    /// Checks that a prior is finite, and that the times are one finite number per point.
    fn check(&self, scan: &LidarScan, prior: Option<Isometry3<f64>>) -> Result<(), MappingError> {
        let number = self.poses.len();
        let is_finite = |pose: Isometry3<f64>| pose.to_matrix().iter().all(|x| x.is_finite());
        if !prior.is_none_or(is_finite) {
            return Err(MappingError::PriorNotFinite { scan: number });
        }
        let Some(times) = scan.times() else {
            return Ok(());
        };
        let [points, times, finite] = [
            scan.points.len(),
            times.len(),
            times.iter().filter(|time| time.is_finite()).count(),
        ];
        if times == points && finite == points {
            return Ok(());
        }
        Err(MappingError::PointTimes {
            scan: number,
            points,
            times,
            finite,
        })
    }

    /// Cropped, corrected and sampled scan, in the frame of the lidar at the time `middle` (s after the
    /// stamp).
    fn sampled(&self, scan: &LidarScan, middle: f64) -> SampledScan {
        let depths = self.options.depths.clone();
        let is_planar = self.options.icp.freedom == MotionFreedom::Plane;
        let is_raw = self.correction.is_none() && scan.times().is_none() && !is_planar;
        let (points, depths) = if is_raw {
            (Cow::Borrowed(scan.points), depths)
        } else {
            let prepared = self.prepared(scan, middle);
            (Cow::Owned(prepared), 0.0..=f64::INFINITY)
        };
        // Sample at two resolutions.
        let voxels = SampleVoxels {
            fine: self.map.voxel(),
            coarse: self.options.scan_voxel,
        };
        let sampled = match self.options.icp.freedom {
            MotionFreedom::Space => SampledScan::new,
            MotionFreedom::Plane => SampledScan::of_walls,
        };
        sampled(&points, &depths, voxels, &self.options.normals)
    }

    /// Cropped and corrected points, in the frame of the lidar at the time `middle` (s after the stamp).
    fn prepared(&self, scan: &LidarScan, middle: f64) -> Vec<Point3<f64>> {
        // Crop, with the times.
        let usable = |p: &Point3<f64>| self.options.depths.contains(&p.coords.norm());
        let used = |i: &usize| usable(&scan.points[*i]);
        let used: Vec<usize> = (0..scan.points.len()).filter(used).collect();
        let mut points: Vec<Point3<f64>> = used.iter().map(|&i| scan.points[i]).collect();
        // Correct the depths.
        if let Some(correction) = &self.correction {
            points = correction(&points);
        }
        // Remove the motion during the scan.
        if let Some(times) = scan.times() {
            let times: Vec<f64> = used.iter().map(|&i| times[i] - middle).collect();
            points = deskew(&points, &times, &self.motion.velocity());
        }
        points
    }

    /// Registration of a scan onto the map; `None` where there is no map, or no overlap.
    fn registered(&self, scan: &SampledScan, prediction: &Prediction) -> Option<IcpResult> {
        if self.map.is_empty() {
            return None;
        }
        let found = self.registered_by_planes(scan, prediction)?;
        let by_points = self.registered_by_points(scan, prediction, &found);
        Some(by_points.unwrap_or(found))
    }

    /// Registration of the samples on planes.
    fn registered_by_planes(
        &self,
        scan: &SampledScan,
        prediction: &Prediction,
    ) -> Option<IcpResult> {
        let start = &prediction.world_from_lidar;
        let none = PointPairs::default();
        let options = &self.options.icp;
        let with = |covariance| register(scan, &self.map, start, &covariance, &none, options);
        let found = with(prediction.covariance(scan.radius));
        // A change of the motion that the earlier ones do not let expect: search as for an unknown motion
        let limits = &self.options.limits;
        if found.as_ref().is_some_and(|icp| limits.agree(scan, icp)) {
            return found;
        }
        let wide = with(self.motion.unknown_motion(scan.radius));
        let overlap = |icp: &Option<IcpResult>| icp.as_ref().map_or(0.0, |icp| icp.overlap);
        if overlap(&wide) > overlap(&found) {
            wide
        } else {
            found
        }
    }

    /// Registration of planes together with points off planes, where the prediction is uncertain along a direction that few planes
    /// determine. `None` elsewhere, and where the points do not determine it either, or the planes agree less at the pose that the points
    /// have, or planes determine it and the points are those of an object.
    fn registered_by_points(
        &self,
        scan: &SampledScan,
        prediction: &Prediction,
        found: &IcpResult,
    ) -> Option<IcpResult> {
        // Planar scans do not determine the height and the tilt of a registration in space.
        if self.options.icp.freedom == MotionFreedom::Plane {
            return None;
        }
        // Largest standard deviation of the prediction along the directions, m
        let covariance = prediction.covariance(scan.radius);
        let weak = || found.observability.weak();
        let variances = weak().map(|d| d.vector.dot(&(covariance * d.vector)));
        let sd = variances.reduce(f64::max)?.sqrt();
        if sd < BY_POINTS {
            return None;
        }
        // Register the points, and from there the planes and the points together.
        let errors = self.correction_errors.as_deref();
        let points = self.recent.align(&scan.off_planes, found, sd, errors)?;
        let start = &points.world_from_lidar;
        let change = self.motion.unknown_change(scan.radius);
        let options = &self.options.icp;
        let other = register(scan, &self.map, start, &change, &points, options)?;
        // Compare it with that of the planes.
        let is_by_planes = weak().any(|d| !d.degenerate);
        let is_object = is_by_planes && other.observability.patches() < BROAD;
        if is_object || other.overlap < found.overlap - LESS_OVERLAP {
            return None;
        }
        let pose = &other.world_from_lidar;
        Some(IcpResult {
            from_prediction: deviation_from(&prediction.world_from_lidar, pose, scan.radius),
            overlap: other.overlap.max(points.overlap),
            ..other
        })
    }

    /// Pose of a scan: the registered one, or the predicted one where the scan is lost.
    fn update_motion(
        &mut self,
        scan: &SampledScan,
        prediction: &Prediction,
        found: Option<&IcpResult>,
    ) -> Isometry3<f64> {
        let accepted = found.filter(|icp| icp.overlap >= self.options.limits.lost_overlap);
        let pose = accepted.map_or(prediction.world_from_lidar, |icp| icp.world_from_lidar);
        let directions = accepted.map(|icp| RegisteredDirections {
            observability: &icp.observability,
            residual: icp.residual,
            radius: scan.radius,
        });
        self.motion.set(&pose, prediction, directions.as_ref());
        pose
    }

    /// Uncertainty of the pose of a scan, relative to the first. `change` has the second moments of the change of the motion per
    /// scan, by which deskewed scans are wrong.
    fn uncertainty(
        &mut self,
        prediction: &Prediction,
        world_from_lidar: &Isometry3<f64>,
        found: Option<&IcpResult>,
        change: &Matrix6<f64>,
    ) -> PoseUncertainty {
        let accepted = found.filter(|icp| icp.overlap >= self.options.limits.lost_overlap);
        let replicates = &mut self.replicates;
        PoseUncertainty::of(&replicates.add(
            prediction,
            world_from_lidar,
            accepted,
            change,
            self.correction_errors.as_deref(),
        ))
    }

    /// Inserts a scan that is not lost.
    fn extend_map(
        &mut self,
        scan: &mut SampledScan,
        world_from_lidar: &Isometry3<f64>,
        verdict: ScanVerdict,
    ) {
        if verdict == ScanVerdict::Lost {
            return;
        }
        let number = u32::try_from(self.poses.len()).unwrap_or(u32::MAX);
        let errors = self.correction_errors.as_deref();
        self.map.insert(scan, world_from_lidar, number, errors);
        let points = std::mem::take(&mut scan.off_planes);
        self.recent.add(points, world_from_lidar, number);
    }

    /// Quality of the pose of a scan; the first scan with enough points starts the map.
    fn quality(&self, scan: &SampledScan, found: Option<&IcpResult>) -> ScanQuality {
        let limits = &self.options.limits;
        if self.map.is_empty() {
            ScanQuality::unregistered(scan, limits)
        } else {
            ScanQuality::of(scan, found, &self.motion, limits)
        }
    }
}
