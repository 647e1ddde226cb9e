//! The loss of a model on a map that it was not learnt from.

use super::gauss_newton;
use super::settings::TrainingSettings;
use crate::depth::{
    DepthError, DepthMap, DepthModel, DepthObjective, DepthUnknowns, DepthMapOptions, PolynomialBias,
    PoseFreedom,
};

/// A map that chooses.
///
/// Its poses are as wrong as those that are learnt from. Taken as they are, they decide its loss,
/// whatever the model: each model is judged with the poses that fit it best.
pub(super) struct HeldOut<'a> {
    map: DepthMap,
    training: &'a TrainingSettings,
    freedom: PoseFreedom,
    /// Where the poses were found last.
    poses: DepthUnknowns,
}

/// Steps of the poses under one model, from where they were under the last.
const STEPS: usize = 10;

impl<'a> HeldOut<'a> {
    /// Of a map whose neighbourhoods are taken anew as often as those of the training, with the
    /// poses that suit no model.
    pub fn new(
        map: &DepthMap,
        training: &'a TrainingSettings,
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        let freedom = match training.freedom {
            // Sequences do not touch each other.
            PoseFreedom::Fixed | PoseFreedom::PerSequence(_) => PoseFreedom::Fixed,
            PoseFreedom::PerPose => PoseFreedom::PerPose,
            PoseFreedom::Common => PoseFreedom::Common,
        };
        let poses = DepthUnknowns::start(nothing(), &freedom, map.world_from_lidar().len());
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

    /// The loss under a model.
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

/// Takes nothing off, and has nothing to learn.
fn nothing() -> DepthModel {
    DepthModel::Polynomial(PolynomialBias {
        exponents: Vec::new(),
        weights: Vec::new(),
        scaled: false,
    })
}
