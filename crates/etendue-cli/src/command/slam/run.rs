//! Mapping of a sequence, and the drift of its trajectory.

use crate::failure::Failure;
use etendue::calibrate::depth::{correct_scan, correction_errors};
use etendue::config::depth_model::LearntModel;
use etendue::estimate::odometry::{
    LidarScan, Mapper, MapperOptions, MotionFreedom, PairSpacing, ScanQuality, TrajectoryAlignment,
    absolute_error, relative_error,
};
use etendue::physics::statistics::{mean, median, root_mean_square};
use etendue::physics::{Purpose, Stream};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// Prior of the pose of each scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prior<'a> {
    /// Constant velocity: repeats the last motion.
    Motion,
    /// Motions of these poses with noise of the given standard deviations (m, rad).
    Odometry(&'a [Isometry3<f64>], [f64; 2]),
}

/// Result of mapping.
pub struct Mapped {
    /// Pose of each scan, world from lidar.
    pub poses: Vec<Isometry3<f64>>,
    /// Quality of the pose of each scan.
    pub scans: Vec<ScanQuality>,
    /// Whether the lidar moves in a plane.
    pub planar: bool,
    /// Points of the map, m.
    pub points: Vec<Vector3<f64>>,
    /// Median time per scan, s.
    pub seconds: f64,
}

/// Mapping of scans in their order, from the first pose of the prior.
pub struct Mapping<'a> {
    mapper: Mapper<'a>,
    prior: Prior<'a>,
    is_planar: bool,
    /// Quality of the pose of each scan.
    scans: Vec<ScanQuality>,
    /// Time of each scan, s.
    seconds: Vec<f64>,
}

impl<'a> Mapping<'a> {
    /// A mapping without scans, with a depth correction and its errors if there are some.
    pub fn new(
        prior: Prior<'a>,
        correction: Option<&'a LearntModel>,
        options: &'a MapperOptions,
    ) -> Self {
        let mut mapper = Mapper::new(options.clone());
        if let Some(LearntModel { model, learnt, .. }) = correction {
            let normals = &options.normals;
            mapper = mapper.with_correction(|scan| correct_scan(scan, model, normals).points);
            if let Some(learnt) = learnt {
                let errors = correction_errors(model, &learnt.covariance, learnt.depth);
                mapper = mapper.with_correction_errors(errors);
            }
        }
        Self {
            mapper,
            prior,
            is_planar: options.icp.freedom == MotionFreedom::Plane,
            scans: Vec::new(),
            seconds: Vec::new(),
        }
    }

    /// Number of scans so far.
    pub fn count(&self) -> usize {
        self.scans.len()
    }

    /// Registers the next scan with the map.
    pub fn add(&mut self, scan: LidarScan) -> Result<(), Failure> {
        let start = Instant::now();
        let prior = prior_of(self.prior, self.count(), self.mapper.poses());
        let step = self.mapper.add(scan, prior)?;
        self.seconds.push(start.elapsed().as_secs_f64());
        self.scans.push(step.quality);
        Ok(())
    }

    /// Map, trajectory and statistics.
    pub fn finish(mut self) -> Mapped {
        Mapped {
            poses: self.mapper.poses().to_vec(),
            scans: self.scans,
            planar: self.is_planar,
            points: self.mapper.map().surfels().map(|s| s.position).collect(),
            seconds: median(&mut self.seconds).unwrap_or(0.0),
        }
    }
}

/// Prior of a scan from the poses so far.
fn prior_of(prior: Prior, number: usize, so_far: &[Isometry3<f64>]) -> Option<Isometry3<f64>> {
    let Prior::Odometry(poses, [position, angle]) = prior else {
        return None;
    };
    let Some(last) = so_far.last() else {
        return Some(poses[0]);
    };
    let motion = poses[number - 1].inverse() * poses[number];
    let address = u32::try_from(number).unwrap_or(u32::MAX);
    let mut draw = Stream::new(0, 0, address, 0, Purpose::Search);
    let mut vector = |sd: f64| Vector3::from_fn(|_, _| sd * draw.normal());
    let noise = Isometry3::from_parts(
        Translation3::from(vector(position)),
        UnitQuaternion::from_scaled_axis(vector(angle)),
    );
    Some(last * motion * noise)
}

/// Errors of a trajectory.
#[derive(Clone, Debug, Serialize)]
pub struct Drift {
    /// Root mean square position error after rigid alignment (ATE), m.
    pub ate_rms_m: Option<f64>,
    /// Mean position error with the first poses aligned, m.
    pub mean_translation_m: f64,
    /// Mean orientation error with the first poses aligned, degrees.
    pub mean_rotation_deg: f64,
    /// Root mean square of the position errors along the axes of the world, in their stated standard deviations.
    pub error_over_sd_rms: Option<f64>,
    /// Relative pose errors (RPE) over path lengths.
    pub relative: Vec<Relative>,
}

/// Relative pose errors over a path length.
#[derive(Clone, Debug, Serialize)]
pub struct Relative {
    /// Path length, m.
    pub path_m: f64,
    /// Number of pairs of poses.
    pub pairs: usize,
    /// Root mean square translation error, m.
    pub translation_rms_m: f64,
    /// Mean rotation error, degrees.
    pub rotation_mean_deg: f64,
}

/// Path lengths of the relative errors, m.
const PATHS: [f64; 5] = [1.0, 5.0, 10.0, 50.0, 100.0];

/// Errors of the trajectory of a mapped sequence.
pub fn drift(reference: &[Isometry3<f64>], mapped: &Mapped) -> Result<Drift, Failure> {
    let estimate = &mapped.poses;
    let absolute = absolute_error(reference, estimate, TrajectoryAlignment::Origin)?;
    let aligned = absolute_error(reference, estimate, TrajectoryAlignment::Umeyama);
    let relative = PATHS.iter().filter_map(|&path| {
        let errors = relative_error(reference, estimate, PairSpacing::Path(path)).ok()?;
        Some(Relative {
            path_m: path,
            pairs: errors.translation.len(),
            translation_rms_m: root_mean_square(&errors.translation),
            rotation_mean_deg: mean(&errors.rotation).to_degrees(),
        })
    });
    Ok(Drift {
        ate_rms_m: aligned
            .ok()
            .map(|errors| root_mean_square(&errors.translation)),
        mean_translation_m: mean(&absolute.translation),
        mean_rotation_deg: mean(&absolute.rotation).to_degrees(),
        error_over_sd_rms: error_over_sd(reference, mapped),
        relative: relative.collect(),
    })
}

/// Root mean square of the position errors along the axes of the world, with the first poses aligned, in their
/// standard deviations; `None` without any.
fn error_over_sd(reference: &[Isometry3<f64>], mapped: &Mapped) -> Option<f64> {
    let estimate = &mapped.poses;
    let world_from_reference = estimate.first()? * reference.first()?.inverse();
    let errors = reference.iter().zip(estimate).map(|(truth, pose)| {
        pose.translation.vector - (world_from_reference * truth).translation.vector
    });
    let ratios = errors.zip(&mapped.scans).flat_map(|(error, scan)| {
        let sd = scan.uncertainty.position_sd();
        [0, 1, 2].map(|axis| error[axis] / sd[axis])
    });
    let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
    (!ratios.is_empty()).then(|| root_mean_square(&ratios))
}

impl Drift {
    /// Lines of text about the errors.
    pub fn text(&self, name: &str) -> String {
        let ate = self.ate_rms_m.map_or(String::new(), |ate| {
            format!(", ATE (aligned) {:.1} mm rms", ate * 1e3)
        });
        let mut text = format!(
            "{name}: mean error {:.1} mm and {:.3} degrees{ate}\n",
            self.mean_translation_m * 1e3,
            self.mean_rotation_deg
        );
        if let Some(ratio) = self.error_over_sd_rms {
            let _ = writeln!(
                text,
                "  position errors are {ratio:.1} times the stated standard deviations (rms)"
            );
        }
        for r in &self.relative {
            let _ = writeln!(
                text,
                "  over {:>3} m of path ({} pairs): {:.1} mm rms, {:.3} degrees",
                r.path_m,
                r.pairs,
                r.translation_rms_m * 1e3,
                r.rotation_mean_deg
            );
        }
        text
    }
}
