//! How far a trajectory is off another.

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use thiserror::Error;

/// What is done to an estimate before it is held against the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// Nothing.
    None,
    /// Its first pose is put onto the reference's.
    #[default]
    Origin,
    /// Moved rigidly for the least squares of the positions (Umeyama 1991,
    /// doi:10.1109/34.88573).
    Umeyama,
}

/// How far apart the poses of a pair are, of whose motions the error is relative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// So many poses.
    Poses(usize),
    /// So many metres along the estimate, one pair after the other.
    Path(f64),
}

/// Errors of poses or of motions.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors {
    /// Of positions, m.
    pub translation: Vec<f64>,
    /// Of orientations: angle of the rotation between them, rad.
    pub rotation: Vec<f64>,
}

impl Errors {
    fn of(motions: impl Iterator<Item = Isometry3<f64>>) -> Self {
        let each = motions.map(|m| (m.translation.vector.norm(), m.rotation.angle()));
        let (translation, rotation) = each.unzip();
        Self {
            translation,
            rotation,
        }
    }
}

/// Root mean square; NaN of none.
pub fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}

/// Mean; NaN of none.
pub fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Why two trajectories cannot be compared.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TrajectoryErrorProblem {
    /// They have not equally many poses.
    #[error(
        "the reference has {reference} poses, the estimate {estimate}: give one of each a scan"
    )]
    Count {
        /// Poses of the reference.
        reference: usize,
        /// Poses of the estimate.
        estimate: usize,
    },
    /// Too few poses.
    #[error("there are {count} poses, at least {needed} are needed")]
    TooFew {
        /// How many.
        count: usize,
        /// Needed.
        needed: usize,
    },
    /// No pair is as far apart.
    #[error("no two poses are {0:?} apart: ask for a shorter distance")]
    NoPair(Spacing),
    /// All positions of one trajectory are the same.
    #[error("the positions do not span a line: they cannot be aligned")]
    OnePlace,
}

type Poses<'a> = &'a [Isometry3<f64>];

/// Absolute errors of every pose, $T_{ref}^{-1} T_{est}$ after alignment: what `evo_ape` calls APE
/// (its relations `trans_part` and `angle_rad`).
///
/// # Errors
/// Where the trajectories have different or no poses, or cannot be aligned.
pub fn absolute_error(
    reference: Poses,
    estimate: Poses,
    alignment: Alignment,
) -> Result<Errors, TrajectoryErrorProblem> {
    check(reference, estimate, 1)?;
    let by = match alignment {
        Alignment::None => Isometry3::identity(),
        Alignment::Origin => reference[0] * estimate[0].inverse(),
        Alignment::Umeyama => umeyama(reference, estimate)?,
    };
    let pairs = reference.iter().zip(estimate);
    Ok(Errors::of(pairs.map(|(r, e)| r.inverse() * (by * e))))
}

/// Relative errors $(R_i^{-1} R_j)^{-1} (E_i^{-1} E_j)$ of the motions between poses $i$ and $j$:
/// what `evo_rpe` calls RPE, with pairs one after the other.
///
/// # Errors
/// Where the trajectories have different or fewer than two poses, or no pair is as far apart.
pub fn relative_error(
    reference: Poses,
    estimate: Poses,
    spacing: Spacing,
) -> Result<Errors, TrajectoryErrorProblem> {
    check(reference, estimate, 2)?;
    let stops = stops(estimate, spacing);
    if stops.len() < 2 {
        return Err(TrajectoryErrorProblem::NoPair(spacing));
    }
    let motion = |poses: Poses, i: usize, j: usize| poses[i].inverse() * poses[j];
    let pairs = stops.windows(2).map(|pair| {
        let (i, j) = (pair[0], pair[1]);
        motion(reference, i, j).inverse() * motion(estimate, i, j)
    });
    Ok(Errors::of(pairs))
}

/// Moves the estimate onto the reference with the least squares of the positions.
///
/// # Errors
/// Where there are fewer than three poses, or their positions are all the same.
pub fn umeyama(
    reference: Poses,
    estimate: Poses,
) -> Result<Isometry3<f64>, TrajectoryErrorProblem> {
    check(reference, estimate, 3)?;
    let middle = |poses: Poses| {
        poses
            .iter()
            .map(|p| p.translation.vector)
            .sum::<Vector3<f64>>()
            / poses.len() as f64
    };
    let (to, from) = (middle(reference), middle(estimate));
    let outer = |(r, e): (&Isometry3<f64>, &Isometry3<f64>)| {
        (r.translation.vector - to) * (e.translation.vector - from).transpose()
    };
    let covariance: Matrix3<f64> = reference.iter().zip(estimate).map(outer).sum();
    let svd = covariance.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return Err(TrajectoryErrorProblem::OnePlace);
    };
    if svd.singular_values[0] <= f64::EPSILON {
        return Err(TrajectoryErrorProblem::OnePlace);
    }
    let handed = (u.determinant() * v_t.determinant()).signum();
    let flip = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, handed));
    let turn = Rotation3::from_matrix_unchecked(u * flip * v_t);
    let turn = UnitQuaternion::from_rotation_matrix(&turn);
    let shift = to - (turn * Point3::from(from)).coords;
    Ok(Isometry3::from_parts(Translation3::from(shift), turn))
}

/// The poses that pairs begin and end at.
fn stops(poses: Poses, spacing: Spacing) -> Vec<usize> {
    match spacing {
        Spacing::Poses(count) => (0..poses.len()).step_by(count.max(1)).collect(),
        Spacing::Path(length) => {
            let mut stops = vec![0];
            let mut path = 0.0;
            for (i, pair) in (1..).zip(poses.windows(2)) {
                path += (pair[1].translation.vector - pair[0].translation.vector).norm();
                if path >= length {
                    stops.push(i);
                    path = 0.0;
                }
            }
            stops
        }
    }
}

fn check(reference: Poses, estimate: Poses, needed: usize) -> Result<(), TrajectoryErrorProblem> {
    let (count, other) = (reference.len(), estimate.len());
    if count != other {
        return Err(TrajectoryErrorProblem::Count {
            reference: count,
            estimate: other,
        });
    }
    if count < needed {
        return Err(TrajectoryErrorProblem::TooFew { count, needed });
    }
    Ok(())
}
