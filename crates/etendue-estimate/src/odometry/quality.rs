//! Quality of the registration of a scan.

use super::icp::IcpResult;
use super::motion::MotionModel;
use super::scan::SampledScan;
use nalgebra::{Isometry3, Matrix3, Matrix6, SMatrix, SymmetricEigen, Vector3, Vector6};
use std::fmt;

/// Limits of the quality of a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QualityLimits {
    /// Smallest number of samples of a scan.
    pub samples: usize,
    /// Overlap below which a scan is lost: its pose is the prediction, and the map does not include it.
    pub lost_overlap: f64,
    /// Overlap below which a scan is doubtful.
    pub overlap: f64,
    /// Largest ratio of the residual and its expected value.
    pub residual: f64,
    /// Smallest expected residual, m: roughness of surfaces.
    pub roughness: f64,
    /// Largest standard deviation of the position along a direction that is not determined, m.
    pub position: f64,
    /// Largest standard deviation of the rotation about an axis that is not determined, rad.
    pub rotation: f64,
    /// Largest standard deviation of the position relative to the first scan, in addition to `position`, per metre
    /// of path.
    pub position_per_metre: f64,
    /// Largest standard deviation of the rotation relative to the first scan, in addition to `rotation`, rad per
    /// metre of path.
    pub rotation_per_metre: f64,
}

impl Default for QualityLimits {
    /// 50 samples, 15 % and 35 % of overlap, three times the expected residual of at least 5 mm, 0.1 m and 1 degree, and in
    /// relation to the first scan 1 % and 0.01 degrees per metre of path more.
    fn default() -> Self {
        Self {
            samples: 50,
            lost_overlap: 0.15,
            overlap: 0.35,
            residual: 3.0,
            roughness: 0.005,
            position: 0.1,
            rotation: 1_f64.to_radians(),
            position_per_metre: 0.01,
            rotation_per_metre: 0.01_f64.to_radians(),
        }
    }
}

impl QualityLimits {
    /// Whether a registered scan agrees with the map, by its overlap and its residual.
    pub(super) fn agree(&self, scan: &SampledScan, found: &IcpResult) -> bool {
        found.overlap >= self.overlap
            && found.residual <= self.residual * expected_residual(scan, self)
    }
}

/// Direction of motion that neither planes nor points off planes of a scan and the map determine. Along it, the pose keeps its
/// prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DegenerateDirection {
    /// Kind of the motion.
    pub motion: DegenerateMotion,
    /// Unit vector in lidar axes: direction of the translation, axis of the rotation.
    pub in_lidar: Vector3<f64>,
    /// The same in world axes.
    pub in_world: Vector3<f64>,
    /// Standard deviation along the direction since it was last determined, m or rad, from the observed
    /// changes of velocity.
    pub sd: f64,
    /// Number of pairs that determine the direction, weighted by the squared sine of the angle between their
    /// plane and the motion.
    pub pairs: f64,
}

/// Kind of a motion that is not determined, by its larger part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DegenerateMotion {
    /// Translation.
    Translation,
    /// Rotation about an axis through the lidar.
    Rotation,
}

/// Reason why the pose of a scan is doubtful, or the scan is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScanFlaw {
    /// Too few points on planes.
    FewPoints {
        /// Number of samples.
        samples: usize,
        /// Smallest number.
        needed: usize,
    },
    /// Too small a share of the samples agrees with the map.
    Overlap(f64),
    /// Ratio of the residual and its expected value.
    Residual(f64),
    /// The iterations did not converge.
    NotConverged,
    /// A direction is not determined within the limit.
    Degenerate(DegenerateDirection),
    /// The position relative to the first scan is less certain than the limit.
    Position(AxisDeviation),
    /// The rotation relative to the first scan is less certain than the limit.
    Rotation(AxisDeviation),
}

impl ScanFlaw {
    /// Whether this flaw is worse than another of the same kind; false for different kinds.
    ///
    /// ```
    /// use etendue_estimate::odometry::ScanFlaw;
    /// assert!(ScanFlaw::Overlap(0.1).is_worse_than(&ScanFlaw::Overlap(0.3)));
    /// assert!(!ScanFlaw::Overlap(0.1).is_worse_than(&ScanFlaw::Residual(5.0)));
    /// ```
    pub fn is_worse_than(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::FewPoints { samples: a, .. }, Self::FewPoints { samples: b, .. }) => a < b,
            (Self::Overlap(a), Self::Overlap(b)) => a < b,
            (Self::Residual(a), Self::Residual(b)) => a > b,
            (Self::Degenerate(a), Self::Degenerate(b)) => a.sd > b.sd,
            (Self::Position(a), Self::Position(b)) | (Self::Rotation(a), Self::Rotation(b)) => {
                a.sd > b.sd
            }
            _ => false,
        }
    }
}

/// Largest standard deviation of a position or a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisDeviation {
    /// Unit vector of its axis, world axes.
    pub axis: Vector3<f64>,
    /// Standard deviation along or about the axis, m or rad.
    pub sd: f64,
}

impl AxisDeviation {
    /// The largest deviation of a covariance.
    fn of(covariance: &Matrix3<f64>) -> Self {
        let eigen = SymmetricEigen::new(*covariance);
        let largest = eigen.eigenvalues.imax();
        let axis = eigen.eigenvectors.column(largest).into_owned();
        Self {
            axis: with_positive_largest(axis),
            sd: eigen.eigenvalues[largest].max(0.0).sqrt(),
        }
    }
}

/// Uncertainty of a pose relative to the first scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseUncertainty {
    /// Covariance of the translation of the lidar (m) and the rotation (rad), world axes.
    pub covariance: Matrix6<f64>,
    /// Largest standard deviation of the position, m.
    pub position: AxisDeviation,
    /// Largest standard deviation of the rotation, rad.
    pub rotation: AxisDeviation,
}

impl PoseUncertainty {
    /// Uncertainty of a covariance.
    pub(super) fn of(covariance: &Matrix6<f64>) -> Self {
        let block = |first| covariance.fixed_view::<3, 3>(first, first).into_owned();
        Self {
            covariance: *covariance,
            position: AxisDeviation::of(&block(0)),
            rotation: AxisDeviation::of(&block(3)),
        }
    }

    /// Standard deviations of the position along the axes of the world, m.
    pub fn position_sd(&self) -> Vector3<f64> {
        Vector3::from_fn(|i, _| self.covariance[(i, i)].max(0.0).sqrt())
    }

    /// Flaws by the limits after a path of a length, m.
    fn flaws(&self, limits: &QualityLimits, path: f64) -> impl Iterator<Item = ScanFlaw> {
        let position = limits.position + path * limits.position_per_metre;
        let rotation = limits.rotation + path * limits.rotation_per_metre;
        [
            (self.position.sd > position).then_some(ScanFlaw::Position(self.position)),
            (self.rotation.sd > rotation).then_some(ScanFlaw::Rotation(self.rotation)),
        ]
        .into_iter()
        .flatten()
    }
}

/// Verdict on the pose of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScanVerdict {
    /// Registered, without flaws.
    Good,
    /// Registered, with flaws.
    Doubtful,
    /// Not registered: the pose is the prediction, and the map does not include the scan.
    Lost,
}

/// Quality of the pose of a scan.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanQuality {
    /// Verdict.
    pub verdict: ScanVerdict,
    /// Reasons for a verdict other than good.
    pub flaws: Vec<ScanFlaw>,
    /// Number of samples used for registration.
    pub samples: usize,
    /// Share of the samples that agree with the map; `None` for the first scan and without registration.
    pub overlap: Option<f64>,
    /// Robust standard deviation of the distances from the planes of the map, m; `None` as above.
    pub residual: Option<f64>,
    /// Expected residual, m: the noise of the scan, and that of the map.
    pub expected_residual: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Directions that the scan and the map do not determine.
    pub degenerate: Vec<DegenerateDirection>,
    /// Uncertainty of the pose relative to the first scan.
    pub uncertainty: PoseUncertainty,
}

impl ScanQuality {
    /// Quality of the first scan, which starts the map, or of a scan with too few samples.
    pub(super) fn unregistered(scan: &SampledScan, limits: &QualityLimits) -> Self {
        let samples = scan.coarse.len();
        let few = (samples < limits.samples).then_some(ScanFlaw::FewPoints {
            samples,
            needed: limits.samples,
        });
        Self {
            verdict: if few.is_some() {
                ScanVerdict::Lost
            } else {
                ScanVerdict::Good
            },
            flaws: few.into_iter().collect(),
            samples,
            overlap: None,
            residual: None,
            expected_residual: expected_residual(scan, limits),
            iterations: 0,
            degenerate: Vec::new(),
            uncertainty: PoseUncertainty::of(&Matrix6::zeros()),
        }
    }

    /// The quality with the uncertainty of the pose after a path of a length, m.
    pub(super) fn with_uncertainty(
        mut self,
        uncertainty: &PoseUncertainty,
        limits: &QualityLimits,
        path: f64,
    ) -> Self {
        self.flaws.extend(uncertainty.flaws(limits, path));
        self.uncertainty = *uncertainty;
        if self.verdict == ScanVerdict::Good && !self.flaws.is_empty() {
            self.verdict = ScanVerdict::Doubtful;
        }
        self
    }

    /// Quality of a registered scan; `None` stands for a registration without pairs. `motion` has the
    /// uncertainty of the pose.
    pub(super) fn of(
        scan: &SampledScan,
        found: Option<&IcpResult>,
        motion: &MotionModel,
        limits: &QualityLimits,
    ) -> Self {
        let mut quality = Self::unregistered(scan, limits);
        let Some(found) = found else {
            quality.flaws.push(ScanFlaw::Overlap(0.0));
            quality.verdict = ScanVerdict::Lost;
            return quality;
        };
        // Measures
        let ratio = found.residual / quality.expected_residual;
        quality.overlap = Some(found.overlap);
        quality.residual = Some(found.residual);
        quality.iterations = found.iterations;
        quality.degenerate = degenerate_directions(found, motion);
        // Flaws
        let beyond = |direction: &&DegenerateDirection| match direction.motion {
            DegenerateMotion::Translation => direction.sd > limits.position,
            DegenerateMotion::Rotation => direction.sd > limits.rotation,
        };
        let flaws = [
            (found.overlap < limits.overlap).then_some(ScanFlaw::Overlap(found.overlap)),
            (ratio > limits.residual).then_some(ScanFlaw::Residual(ratio)),
            (!found.converged).then_some(ScanFlaw::NotConverged),
        ];
        quality.flaws.extend(flaws.into_iter().flatten());
        let undetermined = quality.degenerate.iter().filter(beyond);
        quality
            .flaws
            .extend(undetermined.map(|direction| ScanFlaw::Degenerate(*direction)));
        // Verdict
        quality.verdict = if found.overlap < limits.lost_overlap {
            ScanVerdict::Lost
        } else if quality.flaws.is_empty() {
            ScanVerdict::Good
        } else {
            ScanVerdict::Doubtful
        };
        quality
    }
}

/// Residual of a scan on a map of such scans, m.
fn expected_residual(scan: &SampledScan, limits: &QualityLimits) -> f64 {
    (2.0_f64.sqrt() * scan.noise).max(limits.roughness)
}

/// Degenerate directions, pure translations and rotations where their span contains them.
fn degenerate_directions(found: &IcpResult, motion: &MotionModel) -> Vec<DegenerateDirection> {
    let held: Vec<_> = found.observability.degenerate().collect();
    if held.is_empty() {
        return Vec::new();
    }
    // Rotate the basis of the span so that the shares of translation are extreme.
    let translations = |v: &Vector6<f64>| v.fixed_rows::<3>(0).into_owned();
    let basis: Vec<Vector6<f64>> = held.iter().map(|d| d.vector).collect();
    let mut shares = SMatrix::<f64, 6, 6>::zeros();
    for (i, a) in basis.iter().enumerate() {
        for (j, b) in basis.iter().enumerate() {
            shares[(i, j)] = translations(a).dot(&translations(b));
        }
    }
    let rotation = SymmetricEigen::new(shares).eigenvectors;
    let in_span = |column: usize| {
        let terms = basis.iter().enumerate();
        terms
            .map(|(i, v)| v * rotation[(i, column)])
            .sum::<Vector6<f64>>()
    };
    // Name each direction by its larger part.
    let pairs = held.iter().map(|d| d.clear_pairs);
    let pairs = pairs.fold(f64::INFINITY, f64::min);
    (0..6)
        .map(in_span)
        .filter(|vector| vector.norm() > 0.5)
        .map(|vector| named(&vector, &found.world_from_lidar, motion, pairs))
        .collect()
}

/// A degenerate direction from its unit vector in world axes.
fn named(
    vector: &Vector6<f64>,
    world_from_lidar: &Isometry3<f64>,
    motion: &MotionModel,
    pairs: f64,
) -> DegenerateDirection {
    let translation = vector.fixed_rows::<3>(0).into_owned();
    let rotation = vector.fixed_rows::<3>(3).into_owned();
    let is_translation = translation.norm() >= rotation.norm();
    let (kind, larger) = if is_translation {
        (DegenerateMotion::Translation, translation)
    } else {
        (DegenerateMotion::Rotation, rotation)
    };
    let covariance: Matrix3<f64> = match kind {
        DegenerateMotion::Translation => motion.translation_covariance(),
        DegenerateMotion::Rotation => motion.rotation_covariance(),
    };
    let in_world = with_positive_largest(larger.normalize());
    let in_lidar = world_from_lidar.rotation.inverse() * in_world;
    DegenerateDirection {
        motion: kind,
        in_lidar,
        in_world,
        sd: in_lidar.dot(&(covariance * in_lidar)).max(0.0).sqrt(),
        pairs,
    }
}

/// The vector or its opposite, so that the component of largest magnitude is positive.
fn with_positive_largest(vector: Vector3<f64>) -> Vector3<f64> {
    vector * vector[vector.iamax()].signum()
}

/// Text of a unit vector.
fn axis(vector: &Vector3<f64>) -> String {
    format!("({:.2}, {:.2}, {:.2})", vector.x, vector.y, vector.z)
}

impl fmt::Display for DegenerateDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let world = axis(&self.in_world);
        let lidar = axis(&self.in_lidar);
        match self.motion {
            DegenerateMotion::Translation => write!(
                f,
                "the position along {world} in the world, {lidar} in the lidar frame, is not \
                 determined: standard deviation {:.3} m",
                self.sd
            ),
            DegenerateMotion::Rotation => write!(
                f,
                "the rotation about {world} in the world, {lidar} in the lidar frame, is not \
                 determined: standard deviation {:.2} degrees",
                self.sd.to_degrees()
            ),
        }
    }
}

impl fmt::Display for ScanFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewPoints { samples, needed } => {
                write!(f, "{samples} samples on planes, {needed} are needed")
            }
            Self::Overlap(share) => write!(f, "overlap {:.0} %", share * 100.0),
            Self::Residual(ratio) => write!(f, "residual {ratio:.1} times the expected one"),
            Self::NotConverged => write!(f, "not converged"),
            Self::Degenerate(direction) => write!(f, "{direction}"),
            Self::Position(along) => write!(
                f,
                "the position along {} in the world has a standard deviation of {:.3} m since the \
                 first scan",
                axis(&along.axis),
                along.sd
            ),
            Self::Rotation(about) => write!(
                f,
                "the rotation about {} in the world has a standard deviation of {:.2} degrees since \
                 the first scan",
                axis(&about.axis),
                about.sd.to_degrees()
            ),
        }
    }
}
