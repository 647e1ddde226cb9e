//! Fitted on one part of a recording, tested on the rest.

use super::baselines::{of_scans, predictors};
use super::monte_carlo::{MonteCarloBand, monte_carlo_test};
use super::scores::{Scores, score};
use crate::noise::{Calibration, CalibrationOptions, NoiseError, PanelHint, Recording, calibrate};

/// Scores on scans that were held out.
#[derive(Clone, Debug)]
pub struct HoldOut {
    /// The profile fitted to the other scans.
    pub calibration: Calibration,
    /// Names and scores: the profile first, then the baselines.
    pub scores: Vec<(&'static str, Scores)>,
    /// Whether the held-out ranges are among what simulations of the set-up give.
    pub monte_carlo: Vec<MonteCarloBand>,
    /// Scans fitted to and held out.
    pub scans: [usize; 2],
}

/// Blocks of scans that go together into one part.
const BLOCK: u32 = 5;

/// Fits a profile to every other block of five scans of each recording and scores it, and three
/// baselines fitted to the same beams, on the rest.
///
/// The plane of the panel is that of the fitted part: nothing of the held-out scans is used. Only of
/// a panel that moved is it taken from them, for the profile and the baselines alike: where the panel
/// stood then, nothing else can tell.
///
/// # Errors
/// As [`calibrate`](calibrate()), and where there are too few scans.
pub fn hold_out(
    recordings: &[(&Recording, PanelHint)],
    options: &CalibrationOptions,
) -> Result<HoldOut, NoiseError> {
    let is_fitted = |scan: u32| (scan / BLOCK).is_multiple_of(2);
    for (recording, _) in recordings {
        if recording.scans < 8 {
            return Err(NoiseError::NoHoldOut {
                recording: recording.name.clone(),
                scans: recording.scans,
            });
        }
    }
    let fitted: Vec<(Recording, PanelHint)> = { recordings.iter() }
        .map(|(recording, hint)| (recording.of_scans(is_fitted), *hint))
        .collect();
    let parts: Vec<(&Recording, PanelHint)> = fitted.iter().map(|(r, hint)| (r, *hint)).collect();
    let calibration = calibrate(&parts, options)?;
    let mut held = crate::noise::PanelBeams::default();
    for ((recording, _), report) in recordings.iter().zip(&calibration.panels) {
        let rest = recording.of_scans(|scan| !is_fitted(scan));
        let beams = crate::noise::PanelBeams::of(&rest, &report.panel.in_scans(&rest));
        held.distance = beams.distance;
        held.strays += beams.strays;
        held.beams.extend(beams.beams);
    }
    let scans = [true, false].map(|which| {
        { recordings.iter() }
            .map(|(r, _)| {
                (0..u32::try_from(r.scans).unwrap_or(u32::MAX))
                    .filter(|scan| is_fitted(*scan) == which)
                    .count()
            })
            .sum()
    });
    let held = of_scans(&held, |_| true);
    let standing = calibration.profile.correlation.fixed_pattern();
    let scores = predictors(&calibration)
        .iter()
        .map(|predictor| {
            let steps = &calibration.profile.steps;
            (predictor.name(), score(&held, predictor, steps, standing))
        })
        .collect();
    Ok(HoldOut {
        monte_carlo: monte_carlo_test(&held, &calibration.profile),
        calibration,
        scores,
        scans,
    })
}
