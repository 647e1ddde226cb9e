//! Hold-out test: a profile is fitted to one part of a recording and tested on the rest.

use super::baselines::predictors;
use super::monte_carlo::{MonteCarloBand, monte_carlo_test};
use super::scores::{PredictionScores, score};
use crate::noise::beams::PanelBeams;
use crate::noise::calibrate::{NoiseCalibration, calibrate};
use crate::noise::error::NoiseError;
use crate::noise::options::CalibrationOptions;
use crate::noise::panel::PanelHint;
use crate::noise::recording::PanelRecording;

/// Scores on scans that were held out.
#[derive(Clone, Debug)]
pub struct HoldOutScores {
    /// The profile fitted to the other scans.
    pub calibration: NoiseCalibration,
    /// Names and scores: the profile first, then the baselines.
    pub scores: Vec<(&'static str, PredictionScores)>,
    /// Comparison of the held-out ranges with simulations of the recording.
    pub monte_carlo: Vec<MonteCarloBand>,
    /// Numbers of fitted and of held-out scans.
    pub scans: [usize; 2],
}

/// Number of successive scans that belong to the same part.
const BLOCK: u32 = 5;

/// Least number of scans of a recording.
const LEAST_SCANS: usize = 8;

/// Number of held-out beams of [`hold_out_quickly`].
const QUICK_BEAMS: usize = 20_000;

/// Fits a profile to every other block of five scans of each recording and scores it, and three
/// baselines fitted to the same beams, on the rest.
///
/// The plane of the panel is that of the fitted part. Only the plane of a moving panel is fitted to the
/// held-out scans, for the profile and the baselines alike.
///
/// # Errors
/// As [`calibrate`](calibrate()), and if there are too few scans.
pub fn hold_out(
    recordings: &[(&PanelRecording, PanelHint)],
    options: &CalibrationOptions,
) -> Result<HoldOutScores, NoiseError> {
    hold_out_beams(recordings, options, usize::MAX)
}

/// As [`hold_out`], with about 20,000 held-out beams at most, in blocks of scans spread over the recordings:
/// the time of the test is bounded.
///
/// # Errors
/// As [`hold_out`].
pub fn hold_out_quickly(
    recordings: &[(&PanelRecording, PanelHint)],
    options: &CalibrationOptions,
) -> Result<HoldOutScores, NoiseError> {
    hold_out_beams(recordings, options, QUICK_BEAMS)
}

fn hold_out_beams(
    recordings: &[(&PanelRecording, PanelHint)],
    options: &CalibrationOptions,
    most: usize,
) -> Result<HoldOutScores, NoiseError> {
    // Fit the profile to every other block
    let is_fitted = |scan: u32| (scan / BLOCK).is_multiple_of(2);
    for (recording, _) in recordings {
        if recording.scans < LEAST_SCANS {
            return Err(NoiseError::NoHoldOut {
                recording: recording.name.clone(),
                scans: recording.scans,
            });
        }
    }
    let fitted: Vec<(PanelRecording, PanelHint)> = recordings
        .iter()
        .map(|(recording, hint)| (recording.of_scans(is_fitted), *hint))
        .collect();
    let parts: Vec<(&PanelRecording, PanelHint)> =
        fitted.iter().map(|(r, hint)| (r, *hint)).collect();
    let calibration = calibrate(&parts, options)?;

    // Collect the held-out beams
    let mut held_out = PanelBeams::default();
    for ((recording, _), report) in recordings.iter().zip(&calibration.panels) {
        let rest = recording.of_scans(|scan| !is_fitted(scan));
        let beams = PanelBeams::of(&rest, &report.panel.in_scans(&rest));
        held_out.distance = beams.distance;
        held_out.strays += beams.strays;
        held_out.beams.extend(beams.beams);
    }
    let held_out = thinned(held_out, most);
    let fitted_scans = fitted.iter().map(|(recording, _)| recording.scans).sum();
    let all_scans: usize = recordings
        .iter()
        .map(|(recording, _)| recording.scans)
        .sum();

    // Score the profile and the baselines
    let profile = &calibration.profile;
    let fixed_pattern = profile.correlation.fixed_pattern();
    let scores = predictors(&calibration)
        .iter()
        .map(|predictor| {
            let scores = score(&held_out, predictor, &profile.steps, fixed_pattern);
            (predictor.name(), scores)
        })
        .collect();
    Ok(HoldOutScores {
        monte_carlo: monte_carlo_test(&held_out, profile),
        calibration,
        scores,
        scans: [fitted_scans, all_scans - fitted_scans],
    })
}

/// At most about `most` beams, in blocks of scans that are spread evenly.
fn thinned(mut beams: PanelBeams, most: usize) -> PanelBeams {
    let total = beams.beams.len();
    if total > most {
        let kept_blocks = |scan: u32| {
            // Held-out blocks are every other one
            let block = (scan / BLOCK / 2) as usize;
            [block, block + 1].map(|block| block * most / total)
        };
        beams.beams.retain(|beam| {
            let [before, after] = kept_blocks(beam.scan);
            after > before
        });
    }
    beams
}
