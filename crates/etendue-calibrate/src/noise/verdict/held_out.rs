//! Consistency of held-out scans with the profile.

use super::Check;
use crate::noise::error::NoiseError;
use crate::noise::score::{HoldOutScores, MonteCarloBand};

/// Probability that a band of a correct profile is rejected, over all bands together.
const REJECTED: f64 = 0.01;

/// Kolmogorov-Smirnov distance below which a deviation does not matter.
const NEGLIGIBLE: f64 = 0.1;

/// Number of rejected bands per band above which a calibration is refused.
const MANY: f64 = 0.5;

/// Check of the Monte Carlo test of the held-out scans: the fraction of rejected bands. One rejected
/// band of ten degrees is a doubt (by chance in 1 % of the recordings: Bonferroni); more than half of the
/// bands refuse the profile. Too few scans for the test are a doubt; a part of the scans that cannot be calibrated
/// refuses the profile.
pub(super) fn held_out_check(hold_out: &Result<HoldOutScores, NoiseError>) -> Check {
    let name = "rejected bands of held-out scans";
    let limits = [0.0, MANY];
    let scores = match hold_out {
        Ok(scores) => scores,
        Err(error) => {
            let is_short = matches!(error, NoiseError::NoHoldOut { .. });
            return Check {
                name,
                value: if is_short { f64::NAN } else { f64::INFINITY },
                limits,
                finding: format!("the profile cannot be tested on held-out scans: {error}"),
            };
        }
    };
    let bands = &scores.monte_carlo;
    let is_rejected = |band: &&MonteCarloBand| {
        let level = REJECTED / bands.len() as f64;
        band.distance > NEGLIGIBLE && band.probability <= level
    };
    let rejected: Vec<String> = bands
        .iter()
        .filter(is_rejected)
        .map(|band| {
            let [from, to] = band.incidence.map(f64::to_degrees);
            format!("{from:.0} to {to:.0} degrees (p {:.3})", band.probability)
        })
        .collect();
    Check {
        name,
        value: rejected.len() as f64 / bands.len().max(1) as f64,
        limits,
        finding: format!(
            "held-out scans contradict the profile in {} of {} bands of incidence: {}",
            rejected.len(),
            bands.len(),
            rejected.join(", ")
        ),
    }
}
