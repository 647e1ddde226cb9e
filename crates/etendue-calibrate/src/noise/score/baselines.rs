//! Predictors of beams: a profile, and baselines.

use crate::noise::beams::{BeamOutcome, PanelBeams};
use crate::noise::calibrate::NoiseCalibration;
use crate::noise::statistics::{IncidenceBin, NormalEstimate};
use etendue_physics::profile::{Aspect, Profile, ReturnDistribution, Steps};

/// Predictor of the outcome of beams.
#[derive(Clone, Debug)]
pub enum BeamPredictor<'a> {
    /// A profile.
    Profile(&'a Profile),
    /// The true range, without drop-out.
    NoNoise,
    /// One normal distribution and one drop-out rate for all incidences.
    Gaussian {
        /// Mean error, m.
        bias: f64,
        /// Standard deviation before rounding, m.
        spread: f64,
        /// Probability of a drop-out.
        drop_out: f64,
    },
    /// Drop-out by a fitted reflectance model; ranges without bias and with one spread for all
    /// incidences, as in simulators that use the data sheet of a device.
    Reflectance {
        /// Profile with the reflectance model.
        profile: &'a Profile,
        /// Root mean square error of the range, m.
        spread: f64,
    },
}

/// Negligible spread, m.
const NONE: f64 = 1e-6;

impl BeamPredictor<'_> {
    /// Name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Profile(_) => "profile",
            Self::NoNoise => "no noise",
            Self::Gaussian { .. } => "one Gaussian",
            Self::Reflectance { .. } => "reflectance alone",
        }
    }

    /// Expected return of a beam at an aspect and a range (m).
    pub fn at(&self, aspect: Aspect, range: f64) -> ReturnDistribution {
        let plain = |bias, spread, drop_out| ReturnDistribution {
            bias,
            spread,
            fixed_pattern: 0.0,
            drop_out,
            intensity: 0.0,
            intensity_spread: 0.0,
            extrapolated: false,
        };
        match *self {
            Self::Profile(profile) => profile.at(aspect, range),
            Self::NoNoise => plain(0.0, NONE, 0.0),
            Self::Gaussian {
                bias,
                spread,
                drop_out,
            } => plain(bias, spread, drop_out),
            Self::Reflectance { profile, spread } => {
                plain(0.0, spread, profile.reflectance.drop_out(aspect.incidence))
            }
        }
    }
}

/// The profile and three baselines, all fitted to the same beams.
pub(super) fn predictors(calibration: &NoiseCalibration) -> [BeamPredictor<'_>; 4] {
    let profile = &calibration.profile;
    let total = Total::of(&calibration.bins);
    [
        BeamPredictor::Profile(profile),
        BeamPredictor::NoNoise,
        BeamPredictor::Gaussian {
            bias: total.bias,
            spread: total.spread.max(NONE),
            drop_out: total.drop_out,
        },
        BeamPredictor::Reflectance {
            profile,
            spread: total.spread.hypot(total.bias).max(NONE),
        },
    ]
}

/// Statistics over all incidences.
struct Total {
    bias: f64,
    spread: f64,
    drop_out: f64,
}

impl Total {
    fn of(bins: &[IncidenceBin]) -> Self {
        let errors = || bins.iter().filter_map(|bin| Some((bin.error?, bin.ranges)));
        let returned: f64 = errors().map(|(_, n)| n).sum::<f64>().max(1.0);
        let beams: f64 = bins.iter().map(|bin| bin.beams).sum::<f64>().max(1.0);
        let bias = errors().map(|(error, n)| n * error.mean).sum::<f64>() / returned;
        let square = |(error, n): (NormalEstimate, f64)| {
            n * (error.sd.powi(2) + (error.mean - bias).powi(2))
        };
        Self {
            bias,
            spread: (errors().map(square).sum::<f64>() / returned).sqrt(),
            drop_out: 1.0 - bins.iter().map(|bin| bin.returned).sum::<f64>() / beams,
        }
    }
}

/// Quantisation step at a range, m; a millimetre without quantisation.
pub(super) fn step(steps: &Steps, range: f64) -> f64 {
    match steps.at(range) {
        0.0 => 1e-3,
        step => step,
    }
}

/// Beams with ranges rounded to the exact quantisation steps, as drawn ranges are. Recorded ranges have 32
/// bits and differ from their step by some nanometres; tests of discrete distributions would count them as
/// different values.
pub(super) fn on_steps(beams: &PanelBeams, steps: &Steps) -> PanelBeams {
    let exact = |range: f64| {
        let rounded = steps.round(range);
        let is_step = (rounded - range).abs() < 1e-3 * steps.at(range);
        if is_step { rounded } else { range }
    };
    let mut beams = beams.clone();
    for beam in &mut beams.beams {
        if let BeamOutcome::Range(range) = beam.outcome {
            beam.outcome = BeamOutcome::Range(exact(range));
        }
    }
    beams
}
