//! Identification of the material of a panel.

use super::beams::{BeamOutcome, PanelBeam, PanelBeams};
use super::error::NoiseError;
use etendue_physics::profile::Profile;

/// Likelihood of the material of a profile for a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialLikelihood {
    /// Index of the profile.
    pub profile: usize,
    /// Mean log-likelihood of a beam.
    pub mean_log: f64,
    /// Posterior probability among the given profiles, with equal prior probabilities.
    pub probability: f64,
}

/// Least probability of an outcome: accounts for one outlier in ten thousand beams.
const FLOOR: f64 = 1e-4;

/// Likelihoods of the profiles for the beams of a panel, the most likely first.
///
/// Beams of one scan are correlated (two bins per sample, dents of the panel): the log-likelihood
/// is scaled by the fraction of independent samples, from the correlation of neighbours of the
/// profiles. Profiles that are extrapolated to the distance of the panel are included.
///
/// # Errors
/// If there is no profile.
pub fn identify(
    beams: &PanelBeams,
    profiles: &[&Profile],
) -> Result<Vec<MaterialLikelihood>, NoiseError> {
    if profiles.is_empty() {
        return Err(NoiseError::NoProfiles);
    }
    // Sum the log-likelihoods of all beams
    let log_likelihood = |profile: &&Profile| {
        let beams = beams.beams.iter();
        beams.map(|beam| log_probability(beam, profile)).sum()
    };
    let sums: Vec<f64> = profiles.iter().map(log_likelihood).collect();

    // Scale them by the fraction of independent samples and normalise
    let count = beams.beams.len().max(1) as f64;
    let independent_fraction = |profile: &&Profile| {
        let correlation = &profile.correlation;
        let r = correlation
            .neighbour()
            .max(correlation.fixed_pattern_neighbour())
            .clamp(0.0, 0.9);
        (1.0 - r) / (1.0 + r)
    };
    let fraction = profiles
        .iter()
        .map(independent_fraction)
        .fold(1.0, f64::min);
    let highest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = sums
        .iter()
        .map(|sum| (fraction * (sum - highest)).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    let mut found: Vec<MaterialLikelihood> = sums
        .iter()
        .zip(&weights)
        .enumerate()
        .map(|(profile, (sum, weight))| MaterialLikelihood {
            profile,
            mean_log: sum / count,
            probability: weight / total,
        })
        .collect();
    found.sort_by(|a, b| b.mean_log.total_cmp(&a.mean_log));
    Ok(found)
}

/// Log-probability of the outcome of one beam.
fn log_probability(beam: &PanelBeam, profile: &Profile) -> f64 {
    let here = profile.at(beam.aspect(), beam.expected);
    let probability = match beam.outcome {
        BeamOutcome::Dropped => here.drop_out,
        BeamOutcome::Range(_) if beam.at_edge => 1.0 - here.drop_out,
        BeamOutcome::Range(range) => {
            let range = profile.probability(&here, beam.expected, range, 1e-3);
            (1.0 - here.drop_out) * range
        }
    };
    probability.max(FLOOR).ln()
}
