//! Known bias, learnt with each loss.

use super::drive::CorridorDrive;
use super::settings::{ExperimentError, unbiased_polynomial};
use etendue_calibrate::depth::train::{TrainingSettings, train};
use etendue_calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthMeasurement, DepthModel, PoseFreedom,
};
use etendue_physics::statistics::root_mean_square;

/// Poses of the scans that a model is learnt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearningPoses {
    /// True poses.
    True,
    /// Poses with noise, held fixed.
    Noisy,
    /// Poses with noise, estimated together with the weights.
    Learnt,
}

/// Result of one loss, compared with the truth.
#[derive(Clone, Debug)]
pub struct LossRow {
    /// Loss.
    pub loss: DepthLoss,
    /// Poses of the scans.
    pub poses: LearningPoses,
    /// Relative reduction of the loss.
    pub reduction: f64,
    /// Rms of the bias curve over the incidences used, m.
    pub curve_rms: f64,
}

/// Learns a known bias from the first stops with each loss, with true poses and with noise.
///
/// # Errors
/// If the bias cannot be learnt from these scans.
pub fn losses(drive: &CorridorDrive, truth: &DepthModel) -> Result<Vec<LossRow>, ExperimentError> {
    const LOSSES: [DepthLoss; 4] = [
        DepthLoss::MinimumEigenvalue,
        DepthLoss::NormalisedEigenvalue,
        DepthLoss::PointToPlane,
        DepthLoss::Trace,
    ];
    // Each loss at the true poses
    let count = drive.scans.len().min(STOPS_OF_LOSSES);
    let options = DepthMapOptions::strict();
    let mut rows = Vec::new();
    let map = DepthMap::build(&drive.scans[..count], &drive.truth[..count], &options)?;
    for loss in LOSSES {
        rows.push(loss_row(&map, truth, loss, LearningPoses::True)?);
    }

    // The first loss at poses with noise
    let noisy_map = DepthMap::build(&drive.scans[..count], &drive.noisy[..count], &options)?;
    for poses in [LearningPoses::Noisy, LearningPoses::Learnt] {
        rows.push(loss_row(&noisy_map, truth, LOSSES[0], poses)?);
    }
    Ok(rows)
}

/// Number of stops that [`losses`] learns from.
pub const STOPS_OF_LOSSES: usize = 8;

fn loss_row(
    map: &DepthMap,
    truth: &DepthModel,
    loss: DepthLoss,
    poses: LearningPoses,
) -> Result<LossRow, ExperimentError> {
    // Train from a model without bias
    let learnt = poses == LearningPoses::Learnt;
    let training = TrainingSettings {
        loss,
        refreshes: usize::from(learnt),
        freedom: if learnt {
            PoseFreedom::PerPose
        } else {
            PoseFreedom::Fixed
        },
        ..TrainingSettings::default()
    };
    let trained = train(
        map,
        None,
        &unbiased_polynomial(),
        &training,
        &DepthMapOptions::strict(),
    )?;

    // Compare with the truth
    let losses: Vec<f64> = trained.progress.iter().map(|p| p.loss).collect();
    Ok(LossRow {
        loss,
        poses,
        reduction: 1.0 - losses[losses.len() - 1] / losses[0],
        curve_rms: curve_rms(map, &trained.model, truth),
    })
}

/// Rms of the difference of two models over the measurements of a map, m.
pub fn curve_rms(map: &DepthMap, model: &DepthModel, truth: &DepthModel) -> f64 {
    let difference =
        |m: &DepthMeasurement| model.bias(m.depth, m.incidence) - truth.bias(m.depth, m.incidence);
    let differences: Vec<f64> = map.measurements().iter().map(difference).collect();
    root_mean_square(&differences)
}
