//! A known bias, learnt with each loss.

use super::drive::Drive;
use super::settings::{ExperimentError, unbiased_polynomial};
use etendue_calibrate::depth::train::{TrainingSettings, train};
use etendue_calibrate::depth::{DepthLoss, DepthMap, DepthModel, DepthMapOptions, PoseFreedom};
use etendue_physics::statistics::root_mean_square;

/// LearningPoses to learn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearningPoses {
    /// The true ones.
    True,
    /// Noisy ones, taken as they are.
    Noisy,
    /// Noisy ones, learnt with the weights.
    Learnt,
}

/// One way of learning, beside the truth.
#[derive(Clone, Debug)]
pub struct LossRow {
    /// The loss.
    pub loss: DepthLoss,
    /// Which poses were learnt with.
    pub poses: LearningPoses,
    /// Share by which the loss fell.
    pub fell: f64,
    /// Rms of the bias curve over the incidences used, m.
    pub curve_rms: f64,
}

/// Learns a known bias of the first stops with each loss, with true poses and with noisy ones.
///
/// # Errors
/// Where the bias cannot be learnt from them.
pub fn losses(drive: &Drive, truth: &DepthModel) -> Result<Vec<LossRow>, ExperimentError> {
    const LOSSES: [DepthLoss; 4] = [
        DepthLoss::MinimumEigenvalue,
        DepthLoss::NormalisedEigenvalue,
        DepthLoss::PointToPlane,
        DepthLoss::Trace,
    ];
    let count = drive.scans.len().min(STOPS_OF_LOSSES);
    let options = DepthMapOptions::strict();
    let mut rows = Vec::new();
    let right = DepthMap::build(&drive.scans[..count], &drive.truth[..count], &options)?;
    for loss in LOSSES {
        rows.push(loss_row(&right, truth, loss, LearningPoses::True)?);
    }
    let off = DepthMap::build(&drive.scans[..count], &drive.noisy[..count], &options)?;
    for poses in [LearningPoses::Noisy, LearningPoses::Learnt] {
        rows.push(loss_row(&off, truth, LOSSES[0], poses)?);
    }
    Ok(rows)
}

/// Stops that [`losses`] learns from.
pub const STOPS_OF_LOSSES: usize = 8;

fn loss_row(
    map: &DepthMap,
    truth: &DepthModel,
    loss: DepthLoss,
    poses: LearningPoses,
) -> Result<LossRow, ExperimentError> {
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
    let losses: Vec<f64> = trained.progress.iter().map(|p| p.loss).collect();
    Ok(LossRow {
        loss,
        poses,
        fell: 1.0 - losses[losses.len() - 1] / losses[0],
        curve_rms: curve_rms(map, &trained.model, truth),
    })
}

/// Rms of the difference of two models over the measurements of a map, m.
pub fn curve_rms(map: &DepthMap, model: &DepthModel, truth: &DepthModel) -> f64 {
    let off = |m: &etendue_calibrate::depth::DepthMeasurement| {
        model.bias(m.depth, m.incidence) - truth.bias(m.depth, m.incidence)
    };
    let each: Vec<f64> = map.measurements().iter().map(off).collect();
    root_mean_square(&each)
}
