//! Hold-out by time: the effect of a model on scans that it was not trained on.
//!
//! The scans are divided into contiguous blocks. Each block in turn is held out: a model is trained on the
//! other scans, and the thickness of the map of the block is compared without correction and with this model.
//! The poses of the block are estimated in all cases, with the same prior, and the neighbourhoods are those
//! that pass the mask in any case, so that none is preferred.
//!
//! A thinner map is no proof of the shape: two powers of the incidence fit the bias beyond 75 degrees at the cost of
//! a wrong one below. On the scans outside the block a bias of free shape ([`super::shape`]) is therefore trained
//! after the model, and the block is compared a third time, corrected by both. A model of the right shape leaves
//! little for the free shape to improve. Displacements of whole walls, which the scans do not determine, have
//! no influence on this comparison.

use super::clusters::ratio_deviation;
use super::covariance::cube_of;
use super::gauss_newton;
use super::settings::TrainingSettings;
use super::shape::remaining_bias;
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
    /// Tables of the blocks, each trained on the other scans corrected by the model.
    pub(super) tables: Vec<DepthModel>,
    /// Number of neighbourhoods of all blocks.
    pub neighbourhoods: usize,
    /// Mean least eigenvalue of the neighbourhoods without correction, m².
    pub loss_before: f64,
    /// The same with the model of each block, m².
    pub loss_after: f64,
    /// The same with the model and the table of each block, m².
    pub loss_free: f64,
    /// Standard deviation of the relative decrease of the loss, from the differences between blocks of scans and
    /// between cubes of the map, the larger of the two.
    pub improvement_sd: f64,
    /// Standard deviation of the missed share, in the same way; without meaning where the model does not improve
    /// the blocks.
    pub missed_sd: f64,
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

    /// Share of the decrease of the loss with a bias of free shape that the model misses, from 0 for a model of the
    /// right shape to 1; `None` unless the model improves the blocks.
    pub fn missed(&self) -> Option<f64> {
        let least = self.loss_after.min(self.loss_free);
        self.is_improved()
            .then(|| (self.loss_after - least) / (self.loss_before - least))
    }

    /// Whether a bias of free shape improves the blocks by more than the model does: the model misses over a
    /// third of the decrease.
    pub fn is_wrong_shape(&self) -> bool {
        self.missed().is_some_and(|missed| missed > LARGEST_MISSED)
    }

    /// Decrease of the loss by a bias of free shape that the model misses with 97.5 % confidence, m².
    pub(super) fn missed_decrease(&self) -> f64 {
        let least = self.loss_after.min(self.loss_free);
        self.missed().map_or(0.0, |missed| {
            let certain = (missed - 1.96 * self.missed_sd).max(0.0);
            certain * (self.loss_before - least)
        })
    }
}

/// Largest share of the decrease that a model of the right shape misses. In simulated drives right models miss up to
/// 14 %, wrong ones that lower the loss at least 47 % (docs/depth-correction.md).
const LARGEST_MISSED: f64 = 1.0 / 3.0;
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
    /// Without correction, with the model, and with the table after the model.
    losses: [f64; 3],
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
    let mut tables = Vec::new();
    let mut terms = Vec::new();
    for block in blocks(scans) {
        let others: Vec<usize> = (0..scans).filter(|scan| !block.contains(scan)).collect();
        let of_others = TrainingSettings {
            freedom: training.freedom.of_scans(&others),
            ..training.clone()
        };
        let others = map.of_scans(&others, options)?;
        let trained = train(&others, None, start, &of_others, options)?;
        let table = remaining_bias(&others, &trained, &of_others, options)?;
        let prior = trained.poses.map(|change| change.prior);
        let held_out = HeldOutBlock {
            map,
            block,
            freedom: &training.freedom,
            prior,
            options,
        };
        terms.extend(held_out.terms(&trained.model, &table)?);
        models.push(trained.model);
        tables.push(table);
    }

    // Mean losses and the uncertainties of their ratios
    let count = terms.len() as f64;
    let mean = |of: usize| terms.iter().map(|term| term.losses[of]).sum::<f64>() / count;
    let ratio_sd = |ratio: &dyn Fn([f64; 3]) -> [f64; 2]| {
        let by_part = terms.iter().map(|term| (term.part, ratio(term.losses)));
        let by_cube = terms.iter().map(|term| (term.cube, ratio(term.losses)));
        ratio_deviation(by_part).max(ratio_deviation(by_cube))
    };
    let least = if mean(2) < mean(1) { 2 } else { 1 };
    Ok(HoldOut {
        models,
        tables,
        neighbourhoods: terms.len(),
        loss_before: mean(0),
        loss_after: mean(1),
        loss_free: mean(2),
        improvement_sd: ratio_sd(&|[before, after, _]| [before - after, before]),
        missed_sd: ratio_sd(&|losses| [losses[1] - losses[2], losses[0] - losses[least]]),
    })
}

/// A held-out block of scans.
struct HeldOutBlock<'a> {
    /// Map of all scans.
    map: &'a DepthMap,
    block: Range<usize>,
    /// Free poses of the training.
    freedom: &'a PoseFreedom,
    /// Their prior, if any.
    prior: Option<PosePrior>,
    options: &'a DepthMapOptions,
}

impl HeldOutBlock<'_> {
    /// Losses of the neighbourhoods without correction, with a model, and with a table after the model.
    fn terms(
        &self,
        model: &DepthModel,
        table: &DepthModel,
    ) -> Result<Vec<HeldOutTerm>, DepthError> {
        // Maps of the block as measured and corrected
        let mut options = self.options.clone();
        options.mask.viewpoint_variance *= VIEWPOINT_FACTOR;
        let scans: Vec<usize> = self.block.clone().collect();
        let measured = self.map.of_scans(&scans, &options)?;
        let corrected = measured.corrected(model);
        let free = corrected.corrected(table);
        let maps = [measured, corrected, free];

        // Neighbourhoods that pass the mask in any case, with the poses of each
        let mut points = Vec::new();
        for map in &maps {
            points.push(self.free_map(map)?.points());
        }
        let [measured, ..] = &maps;
        let selected = measured.selected_in_any(&points, &options)?;

        // Losses of these neighbourhoods
        let mut losses = Vec::new();
        for map in maps {
            let map = map.with_neighbourhoods_of(&selected);
            losses.push(self.free_map(&map)?.losses());
        }
        let part_length = self.block.len().div_ceil(PARTS).max(1);
        let term = |(number, members): (usize, &Vec<u32>)| {
            let centre = members[0] as usize;
            let scan = self.block.start + selected.measurements()[centre].pose;
            HeldOutTerm {
                part: scan / part_length,
                cube: cube_of(&points[0][centre]),
                losses: [0, 1, 2].map(|case| losses[case][number]),
            }
        };
        let neighbourhoods = selected.neighbourhoods().iter().enumerate();
        Ok(neighbourhoods.map(term).collect())
    }

    /// A map of the block with estimated poses.
    fn free_map<'a>(&self, map: &'a DepthMap) -> Result<PosedMap<'a>, DepthError> {
        // Objective with the prior of the poses
        let scans: Vec<usize> = self.block.clone().collect();
        let freedom = self.freedom.of_scans(&scans);
        let start = DepthUnknowns::start(DepthModel::without_bias(), &freedom, scans.len());
        let loss = DepthLoss::MinimumEigenvalue;
        let objective = DepthObjective::new(map, loss, RobustLoss::None, freedom.clone())?;
        let objective = with_prior(objective, self.prior, &start);

        // Poses of the least loss
        let poses = if freedom == PoseFreedom::Fixed {
            start
        } else {
            gauss_newton::descend(&objective, start, STEPS, &mut |_, _| {})
        };
        Ok(PosedMap { objective, poses })
    }
}

/// Map of a block with estimated poses.
struct PosedMap<'a> {
    objective: DepthObjective<'a>,
    poses: DepthUnknowns,
}

impl PosedMap<'_> {
    /// Positions of the measurements, m.
    fn points(&self) -> Vec<Vector3<f64>> {
        self.objective.points(&self.poses)
    }

    /// Loss of each neighbourhood, m².
    fn losses(&self) -> Vec<f64> {
        self.objective.term_losses(&self.poses)
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
