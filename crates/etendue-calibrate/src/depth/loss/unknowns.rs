//! Unknowns: weights of the model and corrections of the poses.

use crate::depth::{DepthError, DepthModel};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// Free pose corrections: $\hat T_k = T_k\\,\delta T$ with $\delta T$ in SE(3).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PoseFreedom {
    /// None.
    #[default]
    Fixed,
    /// Each pose separately, except the first, which fixes the gauge.
    PerPose,
    /// All by one correction: the mounting of the lidar. A correction along an axis that
    /// all poses share is not observable and stays zero.
    Common,
    /// All poses of a sequence by one; the number of the sequence for every pose, from zero. The
    /// first sequence fixes the gauge.
    PerSequence(Vec<usize>),
}

impl PoseFreedom {
    /// How many corrections are free.
    pub fn count(&self, poses: usize) -> usize {
        match self {
            Self::Fixed => 0,
            Self::PerPose => poses.saturating_sub(1),
            Self::Common => 1,
            Self::PerSequence(sequences) => sequences.iter().max().copied().unwrap_or(0),
        }
    }

    /// Which correction moves a pose.
    pub(super) fn correction(&self, pose: usize) -> Option<usize> {
        match self {
            Self::Fixed => None,
            Self::PerPose => pose.checked_sub(1),
            Self::Common => Some(0),
            Self::PerSequence(sequences) => sequences[pose].checked_sub(1),
        }
    }

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
    /// Corrections $\delta T$, one a free correction.
    pub corrections: Vec<Isometry3<f64>>,
}

impl DepthUnknowns {
    /// A model, and no pose moved.
    pub fn start(model: DepthModel, freedom: &PoseFreedom, poses: usize) -> Self {
        Self {
            model,
            corrections: vec![Isometry3::identity(); freedom.count(poses)],
        }
    }

    /// How many numbers can change: the weights, then six a correction.
    pub fn dimension(&self) -> usize {
        self.model.weight_count() + 6 * self.corrections.len()
    }

    /// After a step: weights add; a correction is followed by a translation (m) and a turn about
    /// an axis by its length (rad), both in the lidar's frame.
    ///
    /// # Panics
    /// Where the step is shorter than [`DepthUnknowns::dimension`].
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
            model: self.model.reweighted(&sums),
            corrections: corrections
                .map(|(c, twist)| c * small_motion(twist))
                .collect(),
        }
    }
}

fn small_motion(twist: &[f64]) -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::new(twist[0], twist[1], twist[2]),
        UnitQuaternion::from_scaled_axis(Vector3::new(twist[3], twist[4], twist[5])),
    )
}
