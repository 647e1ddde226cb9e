//! Loss of a model on a validation map.

use super::gauss_newton;
use super::settings::TrainingSettings;
use super::training::{first_prior, with_prior};
use crate::depth::error::DepthError;
use crate::depth::loss::{DepthObjective, DepthUnknowns, PoseFreedom, PosePrior};
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::DepthModel;

/// Validation map for the selection of the model.
///
/// Its poses have errors that would dominate the loss of every model. The loss of a model is therefore
/// evaluated with poses that are optimised for it.
pub(super) struct ValidationMap<'a> {
    map: DepthMap,
    training: &'a TrainingSettings,
    freedom: PoseFreedom,
    /// Prior of the poses.
    prior: Option<PosePrior>,
    /// The last optimised poses.
    poses: DepthUnknowns,
}

/// Number of steps of the poses for one model, from those of the previous model.
const STEPS: usize = 10;

impl<'a> ValidationMap<'a> {
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
        let poses = DepthUnknowns::start(
            DepthModel::without_bias(),
            &freedom,
            map.world_from_lidar().len(),
        );
        let mut validation = Self {
            map: map.clone(),
            training,
            prior: first_prior(training).filter(|_| freedom != PoseFreedom::Fixed),
            freedom,
            poses,
        };
        if validation.freedom != PoseFreedom::Fixed {
            for _ in 0..training.refreshes {
                validation.refresh(options)?;
            }
        }
        Ok(validation)
    }

    /// Loss of a model with optimised poses; `None` if it cannot be evaluated.
    pub fn loss(&mut self, model: &DepthModel) -> Option<f64> {
        let corrected = self.map.corrected(model);
        let objective = self.objective(&corrected).ok()?;
        let objective = with_prior(objective, self.prior, &self.poses);
        if self.freedom == PoseFreedom::Fixed {
            return Some(objective.data_loss(&self.poses));
        }
        let reached = gauss_newton::descend(&objective, self.poses.clone(), STEPS, &mut |_, _| {});
        let loss = objective.data_loss(&reached);
        self.poses = reached;
        Some(loss)
    }

    /// Optimises the poses and recomputes the neighbourhoods.
    fn refresh(&mut self, options: &DepthMapOptions) -> Result<(), DepthError> {
        let objective = with_prior(self.objective(&self.map)?, self.prior, &self.poses);
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
