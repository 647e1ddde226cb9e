//! What predicts beams: a profile, and what others do.

use super::super::statistics::Bin;
use crate::noise::{BeamOutcome, Calibration, PanelBeams};
use etendue_physics::profile::{Aspect, Expected, Profile, Steps};

/// Something that says what to expect of a beam.
#[derive(Clone, Debug)]
pub enum Predictor<'a> {
    /// A profile.
    Profile(&'a Profile),
    /// The true range, always.
    NoNoise,
    /// One normal distribution and one drop-out rate for all incidences.
    Gaussian {
        /// Mean error, m.
        bias: f64,
        /// Standard deviation before rounding, m.
        spread: f64,
        /// Share of beams that drop.
        drop_out: f64,
    },
    /// Drop-out by a fitted reflectance model; ranges without bias and with one spread, as
    /// simulators do that know the device's data sheet.
    Reflectance {
        /// The profile whose reflectance model it is.
        profile: &'a Profile,
        /// Root mean square error of the range, m.
        spread: f64,
    },
}

/// A spread that rounds to nothing, m.
const NONE: f64 = 1e-6;

impl Predictor<'_> {
    /// What to call it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Profile(_) => "profile",
            Self::NoNoise => "no noise",
            Self::Gaussian { .. } => "one Gaussian",
            Self::Reflectance { .. } => "reflectance alone",
        }
    }

    /// What to expect of a beam that meets the panel so, at a range (m).
    pub fn at(&self, aspect: Aspect, range: f64) -> Expected {
        let plain = |bias, spread, drop_out| Expected {
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

/// The profile and the three baselines, all fitted to the same beams.
pub(super) fn predictors(calibration: &Calibration) -> [Predictor<'_>; 4] {
    let profile = &calibration.profile;
    let total = Total::of(&calibration.bins);
    [
        Predictor::Profile(profile),
        Predictor::NoNoise,
        Predictor::Gaussian {
            bias: total.bias,
            spread: total.spread.max(NONE),
            drop_out: total.drop_out,
        },
        Predictor::Reflectance {
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
    fn of(bins: &[Bin]) -> Self {
        let seen = || bins.iter().filter_map(|bin| Some((bin.error?, bin.ranges)));
        let returned: f64 = seen().map(|(_, n)| n).sum::<f64>().max(1.0);
        let beams: f64 = bins.iter().map(|bin| bin.beams).sum::<f64>().max(1.0);
        let bias = seen().map(|(error, n)| n * error.mean).sum::<f64>() / returned;
        let square = |(error, n): (crate::noise::statistics::Spread, f64)| {
            n * (error.sd.powi(2) + (error.mean - bias).powi(2))
        };
        Self {
            bias,
            spread: (seen().map(square).sum::<f64>() / returned).sqrt(),
            drop_out: 1.0 - bins.iter().map(|bin| bin.returned).sum::<f64>() / beams,
        }
    }
}

/// The step at a range, or a millimetre where there is none.
pub(super) fn step(steps: &Steps, range: f64) -> f64 {
    match steps.at(range) {
        0.0 => 1e-3,
        step => step,
    }
}

/// Reported ranges as draws have them. Recordings keep ranges as numbers of 32 bits, some nanometres off
/// the step that was meant: to a test of distributions that take few values, each would be another.
pub(super) fn on_steps(beams: &PanelBeams, steps: &Steps) -> PanelBeams {
    let meant = |range: f64| {
        let meant = steps.round(range);
        let is_meant = (meant - range).abs() < 1e-3 * steps.at(range);
        if is_meant { meant } else { range }
    };
    let mut beams = beams.clone();
    for beam in &mut beams.beams {
        if let BeamOutcome::Range(range) = beam.outcome {
            beam.outcome = BeamOutcome::Range(meant(range));
        }
    }
    beams
}

/// Beams of some scans.
pub(super) fn of_scans(beams: &PanelBeams, keep: impl Fn(u32) -> bool) -> PanelBeams {
    PanelBeams {
        beams: { beams.beams.iter() }
            .filter(|beam| keep(beam.scan))
            .copied()
            .collect(),
        ..*beams
    }
}
