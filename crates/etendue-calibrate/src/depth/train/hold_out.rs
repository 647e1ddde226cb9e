//! Hold-out by time: the effect of a model on scans that it was not trained on.
//!
//! The scans are divided into contiguous blocks. Each block in turn is held out: a model is trained on the
//! other scans, and the thickness of the map of the block is compared without correction and with this model.
//! The poses of the block are estimated in both cases, with the same prior, and the neighbourhoods are those
//! that pass the mask in either case, so that neither is preferred.

use super::clusters::ratio_deviation;
use super::covariance::cube_of;
use super::gauss_newton;
use super::settings::TrainingSettings;
use super::training::{train, with_prior};
use crate::depth::error::DepthError;
use crate::depth::loss::{
    DepthLoss, DepthObjective, DepthUnknowns, PoseFreedom, PosePrior, RobustLoss,
};
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::DepthModel;
use nalgebra::Vector3;
use std::ops::Range;

/// Thickness of the held-out blocks without and with a correction.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldOut {
    /// Models of the blocks, each trained on the other scans.
    pub models: Vec<DepthModel>,
    /// Number of neighbourhoods of all blocks.
    pub neighbourhoods: usize,
    /// Mean least eigenvalue of the neighbourhoods without correction, m².
    pub loss_before: f64,
    /// The same with the model of each block, m².
    pub loss_after: f64,
    /// Standard deviation of the relative decrease of the loss, from the differences between blocks of scans and
    /// between cubes of the map, the larger of the two.
    pub improvement_sd: f64,
}

impl HoldOut {
    /// Relative decrease of the loss.
    pub fn improvement(&self) -> f64 {
        1.0 - self.loss_after / self.loss_before
    }

    /// Whether the decrease is above zero with 97.5 % confidence.
    pub fn is_improved(&self) -> bool {
        self.improvement() > 1.96 * self.improvement_sd
    }
}

/// Least number of scans of a block.
const LEAST_BLOCK: usize = 3;
/// Number of blocks of long drives.
const BLOCKS: usize = 4;
/// Number of parts of a block whose differences give the uncertainty.
const PARTS: usize = 4;
/// Factor of the required variance of the viewpoints: a block has fewer viewpoints than the drive.
const VIEWPOINT_FACTOR: f64 = 0.25;
/// Greatest number of steps of the poses of a block.
const STEPS: usize = 20;

/// Contiguous blocks of scans: four of at least four scans, else two; none if a block had fewer than three
/// scans.
pub(super) fn blocks(scans: usize) -> Vec<Range<usize>> {
    let count = if scans >= BLOCKS * (LEAST_BLOCK + 1) {
        BLOCKS
    } else {
        2
    };
    if scans < count * LEAST_BLOCK {
        return Vec::new();
    }
    (0..count)
        .map(|block| block * scans / count..(block + 1) * scans / count)
        .collect()
}

/// Least number of scans for a hold-out.
pub(super) const LEAST_SCANS: usize = 2 * LEAST_BLOCK;

/// Losses of one held-out neighbourhood.
struct HeldOutTerm {
    /// Part of the drive.
    part: usize,
    /// Cube of the map.
    cube: [i64; 3],
    before: f64,
    after: f64,
}

/// Trains on the scans outside each block, and compares the blocks without and with correction.
pub(super) fn hold_out(
    map: &DepthMap,
    start: &DepthModel,
    training: &TrainingSettings,
    options: &DepthMapOptions,
) -> Result<HoldOut, DepthError> {
    // Losses of all blocks
    let scans = map.world_from_lidar().len();
    let mut models = Vec::new();
    let mut terms = Vec::new();
    for block in blocks(scans) {
        let others: Vec<usize> = (0..scans).filter(|scan| !block.contains(scan)).collect();
        let of_others = TrainingSettings {
            freedom: training.freedom.of_scans(&others),
            ..training.clone()
        };
        let trained = train(
            &map.of_scans(&others, options)?,
            None,
            start,
            &of_others,
            options,
        )?;
        let prior = trained.poses.map(|change| change.prior);
        terms.extend(block_terms(
            map,
            block,
            &trained.model,
            prior,
            training,
            options,
        )?);
        models.push(trained.model);
    }

    // Mean losses and the uncertainty of their ratio
    let count = terms.len() as f64;
    let mean = |of: fn(&HeldOutTerm) -> f64| terms.iter().map(of).sum::<f64>() / count;
    let change = |term: &HeldOutTerm| [term.before - term.after, term.before];
    let by_part = ratio_deviation(terms.iter().map(|term| (term.part, change(term))));
    let by_cube = ratio_deviation(terms.iter().map(|term| (term.cube, change(term))));
    Ok(HoldOut {
        models,
        neighbourhoods: terms.len(),
        loss_before: mean(|term| term.before),
        loss_after: mean(|term| term.after),
        improvement_sd: by_part.max(by_cube),
    })
}

/// Losses of the neighbourhoods of a block without correction and with a model.
fn block_terms(
    map: &DepthMap,
    block: Range<usize>,
    model: &DepthModel,
    prior: Option<PosePrior>,
    training: &TrainingSettings,
    options: &DepthMapOptions,
) -> Result<Vec<HeldOutTerm>, DepthError> {
    // Map of the block as measured
    let mut options = options.clone();
    options.mask.viewpoint_variance *= VIEWPOINT_FACTOR;
    let scans: Vec<usize> = block.clone().collect();
    let measured = map.of_scans(&scans, &options)?;
    let corrected = measured.corrected(model);
    let freedom = training.freedom.of_scans(&scans);

    // Neighbourhoods that pass the mask in either case, with the poses of each
    let block_map = |map| BlockMap {
        map,
        freedom: freedom.clone(),
        prior,
    };
    let before = block_map(measured).points()?;
    let after = block_map(corrected.clone()).points()?;
    let measured = map
        .of_scans(&scans, &options)?
        .selected_in_either(&before, &after, &options)?;
    let corrected = corrected.with_neighbourhoods_of(&measured);

    // Losses of these neighbourhoods
    let before_losses = block_map(measured.clone()).losses()?;
    let after_losses = block_map(corrected).losses()?;
    let part_length = block.len().div_ceil(PARTS).max(1);
    let losses = before_losses.into_iter().zip(after_losses);
    let term = |(members, (before_loss, after_loss)): (&Vec<u32>, (f64, f64))| {
        let centre = members[0] as usize;
        let scan = block.start + measured.measurements()[centre].pose;
        HeldOutTerm {
            part: scan / part_length,
            cube: cube_of(&before[centre]),
            before: before_loss,
            after: after_loss,
        }
    };
    Ok(measured
        .neighbourhoods()
        .iter()
        .zip(losses)
        .map(term)
        .collect())
}

/// Map of a block with free poses.
struct BlockMap {
    map: DepthMap,
    freedom: PoseFreedom,
    prior: Option<PosePrior>,
}

impl BlockMap {
    /// Positions of the measurements with estimated poses, m.
    fn points(&self) -> Result<Vec<Vector3<f64>>, DepthError> {
        let objective = self.objective()?;
        Ok(objective.points(&self.poses(&objective)))
    }

    /// Loss of each neighbourhood with estimated poses, m².
    fn losses(&self) -> Result<Vec<f64>, DepthError> {
        let objective = self.objective()?;
        Ok(objective.term_losses(&self.poses(&objective)))
    }

    fn objective(&self) -> Result<DepthObjective<'_>, DepthError> {
        let loss = DepthLoss::MinimumEigenvalue;
        let objective =
            DepthObjective::new(&self.map, loss, RobustLoss::None, self.freedom.clone())?;
        Ok(with_prior(objective, self.prior, &self.start()))
    }

    fn start(&self) -> DepthUnknowns {
        let poses = self.map.world_from_lidar().len();
        DepthUnknowns::start(DepthModel::without_bias(), &self.freedom, poses)
    }

    /// Estimated poses of the block.
    fn poses(&self, objective: &DepthObjective<'_>) -> DepthUnknowns {
        if self.freedom == PoseFreedom::Fixed {
            return self.start();
        }
        gauss_newton::descend(objective, self.start(), STEPS, &mut |_, _| {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_contiguous_and_cover_all_scans() {
        assert!(blocks(5).is_empty());
        for (scans, count) in [(6, 2), (15, 2), (16, 4), (67, 4)] {
            let found = blocks(scans);
            assert_eq!(found.len(), count);
            assert!(found.iter().all(|block| block.len() >= LEAST_BLOCK));
            let all: Vec<usize> = found.into_iter().flatten().collect();
            assert_eq!(all, (0..scans).collect::<Vec<_>>());
        }
    }
}
