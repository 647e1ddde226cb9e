//! Which material a panel is.

use super::{BeamOutcome, NoiseError, PanelBeams};
use etendue_physics::profile::Profile;

/// How likely a panel is of a profile's material.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialLikelihood {
    /// Number of the profile.
    pub profile: usize,
    /// Mean log-likelihood of a beam.
    pub mean_log: f64,
    /// Probability among the profiles given, all alike beforehand.
    pub probability: f64,
}

/// The least probability of anything: no profile is certain beyond one beam in ten thousand.
const FLOOR: f64 = 1e-4;

/// How likely each profile makes the beams of a panel, the likeliest first.
///
/// Beams of one scan are alike (two bins a sample, dents): the log-likelihood counts as many
/// independent samples as the profile's correlation leaves. Profiles that are extrapolated to the
/// panel's distance are compared all the same.
///
/// # Errors
/// Where there is no profile.
pub fn identify(
    beams: &PanelBeams,
    profiles: &[&Profile],
) -> Result<Vec<MaterialLikelihood>, NoiseError> {
    if profiles.is_empty() {
        return Err(NoiseError::NoProfiles);
    }
    let sums: Vec<f64> = { profiles.iter() }
        .map(|profile| {
            beams
                .beams
                .iter()
                .map(|beam| log_probability(beam, profile))
                .sum()
        })
        .collect();
    let count = beams.beams.len().max(1) as f64;
    let alike = |profile: &&Profile| {
        let both = &profile.correlation;
        let r = both
            .neighbour()
            .max(both.fixed_pattern_neighbour())
            .clamp(0.0, 0.9);
        (1.0 - r) / (1.0 + r)
    };
    let share = profiles.iter().map(alike).fold(1.0, f64::min);
    let highest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = sums
        .iter()
        .map(|sum| (share * (sum - highest)).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    let mut found: Vec<MaterialLikelihood> = { sums.iter().zip(&weights).enumerate() }
        .map(|(profile, (sum, weight))| MaterialLikelihood {
            profile,
            mean_log: sum / count,
            probability: weight / total,
        })
        .collect();
    found.sort_by(|a, b| b.mean_log.total_cmp(&a.mean_log));
    Ok(found)
}

/// Log-probability of what one beam reported.
fn log_probability(beam: &super::PanelBeam, profile: &Profile) -> f64 {
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
