//! Estimate of the parts of the noise, with uncertainties.

use super::moments::TemporalNoise;
use super::patterns::FixedPatterns;
use super::recording::StandingRecording;
use etendue_physics::MovingAverage;
use thiserror::Error;

/// Number of sectors of the jackknife.
const SECTORS: usize = 10;

/// Least number of scans.
const LEAST_SCANS: usize = 3;

/// Greatest standard deviation of the elevation of a direction whose pattern repeats, rad.
const MOST_SPREAD: f64 = 0.1_f64.to_radians();

/// Number of estimated quantities.
const QUANTITIES: usize = 8;

/// An estimate with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Value.
    pub value: f64,
    /// Standard error.
    pub error: f64,
}

/// Parts of the noise of a standing sensor. Standard deviations are in m, the jitter in rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseParts {
    /// Independent noise of each shot, without rounding.
    pub independent: Estimate,
    /// Jitter of the azimuth; `None` without surfaces at a slant.
    pub jitter: Option<Estimate>,
    /// Noise that is correlated between neighbouring beams.
    pub neighbour: Estimate,
    /// Correlation of that noise between neighbouring beams.
    pub neighbour_correlation: Estimate,
    /// Noise common to a scan.
    pub scan: Estimate,
    /// Fixed-pattern errors of the channels; `None` with fewer than four channels on planes.
    pub channel: Option<Estimate>,
    /// Fixed-pattern errors of the beams on a surface; `None` without planes.
    pub beam: Option<Estimate>,
    /// Correlation of those errors between neighbouring beams.
    pub beam_correlation: Option<Estimate>,
    /// Number of scans.
    pub scans: usize,
    /// Number of directions from which the noise over time was estimated.
    pub directions: usize,
    /// Number of directions on planes.
    pub on_planes: usize,
    /// Shift of the directions from scan to scan, columns, where they drift so fast that the beams on a place differ between
    /// scans. Part of the fixed pattern of the beams then counts as noise over time, within the standard errors.
    pub fast_drift: Option<f64>,
}

/// Reason why the noise cannot be estimated.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum StandingError {
    /// Too few scans.
    #[error("the recording has {scans} scans; at least 3 are needed to estimate the noise")]
    Scans {
        /// Number of scans.
        scans: usize,
    },
    /// The pattern does not repeat.
    #[error(
        "the beams of one channel at one azimuth differ by {spread_deg:.1} degrees of elevation: a pattern that does not \
         repeat measures no direction again in each scan, so that the noise over time cannot be estimated"
    )]
    Pattern {
        /// Median standard deviation of the elevation, degrees.
        spread_deg: f64,
    },
    /// No direction returned the same surface in most scans.
    #[error(
        "no direction returned the same surface in most scans: the sensor has to be at rest, before \
         smooth surfaces"
    )]
    NotSteady,
}

/// Estimates the parts of the noise of a standing sensor.
///
/// Standard errors are those of a jackknife over ten sectors of azimuth (Tukey 1958), with the
/// sampling error of a standard deviation from the number of scans (noise common to a scan) or channels (fixed
/// pattern of the channels) added.
///
/// # Errors
/// If there are fewer than three scans, the pattern does not repeat, or no direction is steady.
pub fn estimate_noise(recording: &StandingRecording) -> Result<NoiseParts, StandingError> {
    if recording.scans < LEAST_SCANS {
        return Err(StandingError::Scans {
            scans: recording.scans,
        });
    }
    if recording.elevation_spread > MOST_SPREAD {
        return Err(StandingError::Pattern {
            spread_deg: recording.elevation_spread.to_degrees(),
        });
    }
    // Estimate from all sectors, and without each of them.
    let rounding = recording.range_step.powi(2) / 12.0;
    let all = Quantities::of(recording, rounding, |_, _| true).ok_or(StandingError::NotSteady)?;
    let sector = |block: &StandingRecording, column: usize| column * SECTORS / block.columns.max(1);
    let others: Vec<Quantities> = (0..SECTORS)
        .filter_map(|left_out| {
            Quantities::of(recording, rounding, |block, c| sector(block, c) != left_out)
        })
        .collect();
    let estimate = |quantity: usize| -> Option<Estimate> {
        let value = all.values[quantity]?;
        Some(Estimate {
            value,
            error: jackknife(others.iter().filter_map(|one| one.values[quantity])),
        })
    };
    // Add the sampling errors of few scans and channels.
    let sampled = |estimate: Estimate, count: usize| {
        let share = (0.5 / count.saturating_sub(1).max(1) as f64).sqrt();
        Estimate {
            error: estimate.error.hypot(estimate.value * share),
            ..estimate
        }
    };
    // The standard errors of the fixed pattern of independent directions (Bartlett 1946) are the least: ten sectors can agree by chance.
    let of_directions = |estimate: Estimate, scale: f64| {
        let least = scale / (all.on_planes.max(1) as f64).sqrt();
        Estimate {
            error: estimate.error.max(least),
            ..estimate
        }
    };
    let average = MovingAverage::of(estimate(7).map_or(0.0, |one| one.value));
    let squares: f64 = [1, 2, 3]
        .map(|apart| average.correlation(apart).powi(2))
        .iter()
        .sum();
    let spread = (0.5 + squares).sqrt();
    let known = |quantity| estimate(quantity).unwrap_or_default();
    let parts = NoiseParts {
        independent: known(0),
        jitter: estimate(1),
        neighbour: known(2),
        neighbour_correlation: known(3),
        scan: sampled(known(4), recording.scans),
        channel: estimate(5).map(|one| sampled(one, all.channels)),
        beam: estimate(6).map(|one| of_directions(one, one.value * spread)),
        beam_correlation: estimate(7).map(|one| of_directions(one, 1.0)),
        scans: recording.scans,
        directions: all.directions,
        on_planes: all.on_planes,
        fast_drift: recording.drifts_fast().then_some(recording.drift),
    };
    Ok(match parts.fast_drift {
        Some(_) => parts.with_moved(2.0 / 3.0 * all.roughness),
        None => parts,
    })
}

impl NoiseParts {
    /// The parts with the effect of directions that drift fast added to the standard errors.
    ///
    /// A place has one of two neighbouring beams, each in a share $p$ and $1-p$ of the scans, with all $p$ alike. The
    /// fixed-pattern errors of the beams, with covariances $\gamma_k$, then appear with the variance
    /// $2p(1-p)(\gamma_0-\gamma_1)$ in the noise over time, in the mean a third of $\gamma_0-\gamma_1$, and are missing in the
    /// pattern. That is at most 2/3 of the difference of the covariances that the mean ranges show: `moved`, m².
    fn with_moved(self, moved: f64) -> Self {
        let wider = |estimate: Estimate, more: f64| Estimate {
            error: estimate.error.hypot(more),
            ..estimate
        };
        let Some(beam) = self.beam else {
            return self;
        };
        // Errors of the standard deviations and of the correlations that this variance makes.
        let of_sd = |estimate: Estimate, share: f64| {
            let sum = (estimate.value.powi(2) + share * moved).sqrt();
            wider(estimate, sum - estimate.value)
        };
        let of_correlation = |estimate: Estimate, sd: Estimate| {
            wider(estimate, 0.5 * moved / sd.value.powi(2).max(moved))
        };
        Self {
            independent: wider(
                self.independent,
                self.independent.value - (self.independent.value.powi(2) - moved).max(0.0).sqrt(),
            ),
            neighbour: of_sd(self.neighbour, 0.5),
            neighbour_correlation: of_correlation(self.neighbour_correlation, self.neighbour),
            beam: Some(of_sd(beam, 1.0)),
            beam_correlation: self.beam_correlation.map(|one| of_correlation(one, beam)),
            ..self
        }
    }
}

/// All quantities of some columns.
struct Quantities {
    values: [Option<f64>; QUANTITIES],
    directions: usize,
    on_planes: usize,
    channels: usize,
    /// [`FixedPatterns::roughness`].
    roughness: f64,
}

impl Quantities {
    fn of(
        recording: &StandingRecording,
        rounding: f64,
        keep: impl Fn(&StandingRecording, usize) -> bool,
    ) -> Option<Self> {
        let noise = TemporalNoise::of(recording, rounding, &keep)?;
        let patterns = FixedPatterns::of(recording, &noise, &keep);
        let beam = patterns.map(|patterns| patterns.beam);
        Some(Self {
            values: [
                Some(noise.independent.sqrt()),
                noise.jitter.map(f64::sqrt),
                Some(noise.neighbour.variance.sqrt()),
                Some(noise.neighbour.correlation),
                Some(noise.scan.sqrt()),
                patterns
                    .and_then(|patterns| patterns.channel)
                    .map(f64::sqrt),
                beam.map(|beam| beam.variance.sqrt()),
                beam.map(|beam| beam.correlation),
            ],
            directions: noise.directions,
            on_planes: patterns.map_or(0, |patterns| patterns.directions),
            channels: patterns.map_or(0, |patterns| patterns.channels),
            roughness: patterns.map_or(0.0, |patterns| patterns.roughness),
        })
    }
}

/// Jackknife standard error from the estimates without each of several parts.
fn jackknife(without: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = without.collect();
    let count = values.len() as f64;
    if count < 2.0 {
        return f64::NAN;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    ((count - 1.0) / count * squares).sqrt()
}
