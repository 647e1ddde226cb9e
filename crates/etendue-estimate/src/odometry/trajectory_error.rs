//! Absolute and relative errors of an estimated trajectory.

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use thiserror::Error;

/// Alignment of an estimated trajectory to the reference before the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrajectoryAlignment {
    /// No alignment.
    None,
    /// The first pose of the estimate is moved onto the first pose of the reference.
    #[default]
    Origin,
    /// Rigid motion that minimises the squared distances of the positions (Umeyama 1991,
    /// doi:10.1109/34.88573).
    Umeyama,
}

/// Spacing of the pose pairs of relative errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairSpacing {
    /// Number of poses.
    Poses(usize),
    /// Path length along the estimate, m.
    Path(f64),
}

/// Errors of poses or of relative motions, one element per pose or pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseErrors {
    /// Length of the translation, m.
    pub translation: Vec<f64>,
    /// Angle of the rotation, rad.
    pub rotation: Vec<f64>,
}

impl PoseErrors {
    /// Translation and rotation of error motions.
    fn of(errors: impl Iterator<Item = Isometry3<f64>>) -> Self {
        let each = errors.map(|m| (m.translation.vector.norm(), m.rotation.angle()));
        let (translation, rotation) = each.unzip();
        Self {
            translation,
            rotation,
        }
    }
}

/// Errors of a trajectory comparison.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TrajectoryComparisonError {
    /// The numbers of poses differ.
    #[error(
        "the reference has {reference} poses, the estimate {estimate}: give one pose per scan in both"
    )]
    Count {
        /// Number of poses of the reference.
        reference: usize,
        /// Number of poses of the estimate.
        estimate: usize,
    },
    /// Too few poses.
    #[error("there are {count} poses, at least {needed} are needed")]
    TooFew {
        /// Number of poses.
        count: usize,
        /// Minimum number of poses.
        needed: usize,
    },
    /// No pair of poses has the spacing.
    #[error("no two poses are {0:?} apart: choose a shorter spacing")]
    NoPair(PairSpacing),
    /// All positions of a trajectory coincide.
    #[error("the positions do not span a line: they cannot be aligned")]
    CoincidentPositions,
}

/// Trajectory: poses of the scans, in order.
type Poses<'a> = &'a [Isometry3<f64>];

/// Absolute pose errors $T_{ref}^{-1} T_{est}$ after alignment: the APE of `evo_ape`, with the
/// relations `trans_part` and `angle_rad`.
///
/// # Errors
/// Where the numbers of poses differ or are zero, or the trajectories cannot be aligned.
pub fn absolute_error(
    reference: Poses,
    estimate: Poses,
    alignment: TrajectoryAlignment,
) -> Result<PoseErrors, TrajectoryComparisonError> {
    check(reference, estimate, 1)?;
    let motion = match alignment {
        TrajectoryAlignment::None => Isometry3::identity(),
        TrajectoryAlignment::Origin => reference[0] * estimate[0].inverse(),
        TrajectoryAlignment::Umeyama => umeyama(reference, estimate)?,
    };
    let pairs = reference.iter().zip(estimate);
    Ok(PoseErrors::of(
        pairs.map(|(r, e)| r.inverse() * (motion * e)),
    ))
}

/// Relative pose errors $(R_i^{-1} R_j)^{-1} (E_i^{-1} E_j)$ of the motions between poses $i$ and
/// $j$: the RPE of `evo_rpe`, with consecutive pairs.
///
/// # Errors
/// Where the numbers of poses differ or are less than two, or no pair has the spacing.
pub fn relative_error(
    reference: Poses,
    estimate: Poses,
    spacing: PairSpacing,
) -> Result<PoseErrors, TrajectoryComparisonError> {
    check(reference, estimate, 2)?;
    let ends = pair_ends(estimate, spacing);
    if ends.len() < 2 {
        return Err(TrajectoryComparisonError::NoPair(spacing));
    }
    let motion = |poses: Poses, i: usize, j: usize| poses[i].inverse() * poses[j];
    let pairs = ends.windows(2).map(|pair| {
        let i = pair[0];
        let j = pair[1];
        motion(reference, i, j).inverse() * motion(estimate, i, j)
    });
    Ok(PoseErrors::of(pairs))
}

/// Rigid motion of the estimate that minimises the squared distances between the positions of estimate
/// and reference (Umeyama 1991, doi:10.1109/34.88573, without scale).
///
/// # Errors
/// Where there are fewer than three poses, or all positions coincide.
pub fn umeyama(
    reference: Poses,
    estimate: Poses,
) -> Result<Isometry3<f64>, TrajectoryComparisonError> {
    check(reference, estimate, 3)?;
    // Centre both trajectories.
    let centroid = |poses: Poses| {
        let positions = poses.iter().map(|p| p.translation.vector);
        positions.sum::<Vector3<f64>>() / poses.len() as f64
    };
    let to = centroid(reference);
    let from = centroid(estimate);
    // Rotation from the singular value decomposition of the cross-covariance.
    let outer = |(r, e): (&Isometry3<f64>, &Isometry3<f64>)| {
        (r.translation.vector - to) * (e.translation.vector - from).transpose()
    };
    let covariance: Matrix3<f64> = reference.iter().zip(estimate).map(outer).sum();
    let svd = covariance.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Err(TrajectoryComparisonError::CoincidentPositions);
    };
    if svd.singular_values[0] <= f64::EPSILON {
        return Err(TrajectoryComparisonError::CoincidentPositions);
    }
    let handedness = (u.determinant() * v_t.determinant()).signum();
    let flip = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, handedness));
    let rotation = Rotation3::from_matrix_unchecked(u * flip * v_t);
    let rotation = UnitQuaternion::from_rotation_matrix(&rotation);
    let translation = to - (rotation * Point3::from(from)).coords;
    Ok(Isometry3::from_parts(
        Translation3::from(translation),
        rotation,
    ))
}

/// Indices of the poses at which pairs begin and end.
fn pair_ends(poses: Poses, spacing: PairSpacing) -> Vec<usize> {
    match spacing {
        PairSpacing::Poses(count) => (0..poses.len()).step_by(count.max(1)).collect(),
        PairSpacing::Path(length) => {
            let mut ends = vec![0];
            let mut path = 0.0;
            for (i, pair) in (1..).zip(poses.windows(2)) {
                path += (pair[1].translation.vector - pair[0].translation.vector).norm();
                if path >= length {
                    ends.push(i);
                    path = 0.0;
                }
            }
            ends
        }
    }
}

/// Checks that the numbers of poses are equal and at least `needed`.
fn check(
    reference: Poses,
    estimate: Poses,
    needed: usize,
) -> Result<(), TrajectoryComparisonError> {
    let count = reference.len();
    let other = estimate.len();
    if count != other {
        return Err(TrajectoryComparisonError::Count {
            reference: count,
            estimate: other,
        });
    }
    if count < needed {
        return Err(TrajectoryComparisonError::TooFew { count, needed });
    }
    Ok(())
}
