//! Unknowns: weights of the model and corrections of the poses.

use crate::depth::error::DepthError;
use crate::depth::model::DepthModel;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// Free corrections of the poses: $\hat T_k = T_k\\,\delta T$ with $\delta T$ in SE(3).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PoseFreedom {
    /// No corrections.
    #[default]
    Fixed,
    /// One correction per pose, except for the first, which fixes the gauge.
    PerPose,
    /// One correction for all poses: the mounting of the lidar. A correction along an axis that all poses
    /// have in common is not observable and remains zero.
    Common,
    /// One correction per sequence; the index of the sequence for every pose. The first sequence fixes the
    /// gauge.
    PerSequence(Vec<usize>),
}

impl PoseFreedom {
    /// Number of free corrections.
    pub fn count(&self, poses: usize) -> usize {
        match self {
            Self::Fixed => 0,
            Self::PerPose => poses.saturating_sub(1),
            Self::Common => 1,
            Self::PerSequence(sequences) => sequences.iter().max().copied().unwrap_or(0),
        }
    }

    /// The same freedom for a part of the scans.
    pub(in crate::depth) fn of_scans(&self, scans: &[usize]) -> Self {
        match self {
            Self::PerSequence(sequences) => {
                Self::PerSequence(scans.iter().map(|&scan| sequences[scan]).collect())
            }
            other => other.clone(),
        }
    }

    /// Index of the correction of a pose.
    pub(in crate::depth) fn correction(&self, pose: usize) -> Option<usize> {
        match self {
            Self::Fixed => None,
            Self::PerPose => pose.checked_sub(1),
            Self::Common => Some(0),
            Self::PerSequence(sequences) => sequences[pose].checked_sub(1),
        }
    }

    /// Checks that every pose has a sequence.
    pub(super) fn check(&self, poses: usize) -> Result<(), DepthError> {
        match self {
            Self::PerSequence(given) if given.len() != poses => Err(DepthError::SequenceCount {
                sequences: given.len(),
                poses,
            }),
            _ => Ok(()),
        }
    }
}

/// Weights and pose corrections.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthUnknowns {
    /// The model with its weights.
    pub model: DepthModel,
    /// Corrections $\delta T$.
    pub corrections: Vec<Isometry3<f64>>,
}

impl DepthUnknowns {
    /// Unknowns of a model without pose corrections.
    pub fn start(model: DepthModel, freedom: &PoseFreedom, poses: usize) -> Self {
        Self {
            model,
            corrections: vec![Isometry3::identity(); freedom.count(poses)],
        }
    }

    /// Number of unknowns: the weights, then six per correction.
    pub fn dimension(&self) -> usize {
        self.model.weight_count() + 6 * self.corrections.len()
    }

    /// The unknowns after a step: weights are added and limited to physical values ([`DepthModel::bounded`]); a correction is composed with a translation (m) and a
    /// rotation vector (rad), both in the lidar frame.
    ///
    /// # Panics
    /// If the step is shorter than [`DepthUnknowns::dimension`].
    #[must_use]
    pub fn moved(&self, step: &[f64]) -> Self {
        let (weights, twists) = step.split_at(self.model.weight_count());
        let sums: Vec<f64> = self
            .model
            .weights()
            .iter()
            .zip(weights)
            .map(|(w, s)| w + s)
            .collect();
        let corrections = self.corrections.iter().zip(twists.chunks_exact(6));
        Self {
            model: self.model.reweighted(&sums).bounded(),
            corrections: corrections
                .map(|(c, twist)| c * small_motion(twist))
                .collect(),
        }
    }
}

/// Rigid motion of a translation and a rotation vector.
fn small_motion(twist: &[f64]) -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::new(twist[0], twist[1], twist[2]),
        UnitQuaternion::from_scaled_axis(Vector3::new(twist[3], twist[4], twist[5])),
    )
}
