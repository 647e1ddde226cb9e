//! Loss of a model on a validation map.

use super::gauss_newton;
use super::settings::TrainingSettings;
use crate::depth::error::DepthError;
use crate::depth::loss::{DepthObjective, DepthUnknowns, PoseFreedom};
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::{DepthModel, PolynomialBias};

/// Validation map for the selection of the model.
///
/// Its poses have errors that would dominate the loss of every model. The loss of a model is therefore
/// evaluated with poses that are optimised for it.
pub(super) struct HeldOut<'a> {
    map: DepthMap,
    training: &'a TrainingSettings,
    freedom: PoseFreedom,
    /// The last optimised poses.
    poses: DepthUnknowns,
}

/// Number of steps of the poses for one model, from those of the previous model.
const STEPS: usize = 10;

impl<'a> HeldOut<'a> {
    /// Validation map with neighbourhoods refreshed as often as in the training, with poses optimised without
    /// a model.
    pub fn new(
        map: &DepthMap,
        training: &'a TrainingSettings,
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        let freedom = match training.freedom {
            // Other sequences have no poses in common
            PoseFreedom::Fixed | PoseFreedom::PerSequence(_) => PoseFreedom::Fixed,
            PoseFreedom::PerPose => PoseFreedom::PerPose,
            PoseFreedom::Common => PoseFreedom::Common,
        };
        let poses = DepthUnknowns::start(zero_bias(), &freedom, map.world_from_lidar().len());
        let mut held_out = Self {
            map: map.clone(),
            training,
            freedom,
            poses,
        };
        if held_out.freedom != PoseFreedom::Fixed {
            for _ in 0..training.refreshes {
                held_out.refresh(options)?;
            }
        }
        Ok(held_out)
    }

    /// Loss of a model with optimised poses; `None` if it cannot be evaluated.
    pub fn loss(&mut self, model: &DepthModel) -> Option<f64> {
        let corrected = self.map.corrected(model);
        let objective = self.objective(&corrected).ok()?;
        if self.freedom == PoseFreedom::Fixed {
            return Some(objective.value(&self.poses));
        }
        let reached = gauss_newton::descend(&objective, self.poses.clone(), STEPS, &mut |_, _| {});
        let loss = objective.value(&reached);
        self.poses = reached;
        Some(loss)
    }

    /// Optimises the poses and recomputes the neighbourhoods.
    fn refresh(&mut self, options: &DepthMapOptions) -> Result<(), DepthError> {
        let objective = self.objective(&self.map)?;
        let start = self.poses.clone();
        let reached =
            gauss_newton::descend(&objective, start, self.training.iterations, &mut |_, _| {});
        let points = objective.points(&reached);
        self.map = self.map.refreshed(&points, options)?;
        self.poses = reached;
        Ok(())
    }

    fn objective<'m>(&self, map: &'m DepthMap) -> Result<DepthObjective<'m>, DepthError> {
        let TrainingSettings { loss, robust, .. } = *self.training;
        DepthObjective::new(map, loss, robust, self.freedom.clone())
    }
}

/// A model without bias and without weights.
fn zero_bias() -> DepthModel {
    DepthModel::Polynomial(PolynomialBias {
        exponents: Vec::new(),
        weights: Vec::new(),
        scaled: false,
    })
}
