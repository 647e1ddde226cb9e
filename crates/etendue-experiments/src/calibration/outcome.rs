//! Outcome of the calibration of a simulated recording.

use super::known::known_profile;
use super::setup::RecordingKind;
use etendue_calibrate::noise::score::hold_out_quickly;
use etendue_calibrate::noise::truth::{Figure, Truth};
use etendue_calibrate::noise::verdict::{Grade, judge};
use etendue_calibrate::noise::{CalibrationOptions, RangingPrinciple, calibrate};

/// Outcome of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Good, and right within the stated interval.
    Right,
    /// Doubtful.
    Doubtful,
    /// Refused, with a verdict or an error.
    Refused,
    /// Good, but outside the stated interval.
    Wrong,
}

/// Outcome of one recording.
#[derive(Clone, Debug)]
pub struct RecordingOutcome {
    /// Kind of the recording.
    pub kind: RecordingKind,
    /// Its seed.
    pub seed: u64,
    /// The outcome.
    pub outcome: Outcome,
    /// The stated figures; none without a profile.
    pub figures: Vec<Figure>,
    /// Reasons of a doubt or a refusal.
    pub reasons: Vec<String>,
}

/// Half width of the simultaneous 95 % interval of 16 figures, in standard errors (Bonferroni: 0.05 / 16 on
/// both sides of a normal distribution).
const SIMULTANEOUS_95: f64 = 2.955;

/// Incidences of the compared figures, degrees.
const INCIDENCES: [f64; 5] = [8.0, 16.0, 24.0, 32.0, 40.0];

/// Calibrates a simulated recording, and compares the profile with the known one. A good profile is right if
/// all its figures are within their simultaneous 95 % interval.
pub fn run(kind: RecordingKind, seed: u64) -> RecordingOutcome {
    // Calibrate, test on held-out scans, and judge
    let simulated = kind.recording(seed);
    let options = CalibrationOptions {
        principle: RangingPrinciple::TimeOfFlight,
        ..CalibrationOptions::default()
    };
    let parts = [(&simulated.recording, simulated.hint)];
    let without_profile = |reason: String| RecordingOutcome {
        kind,
        seed,
        outcome: Outcome::Refused,
        figures: Vec::new(),
        reasons: vec![reason],
    };
    let found = match calibrate(&parts, &options) {
        Ok(found) => found,
        Err(error) => return without_profile(error.to_string()),
    };
    let scores = hold_out_quickly(&parts, &options);
    let verdict = judge(&[&simulated.recording], &found, &scores);

    // Compare with the truth: of the flat surfaces, with the nearest
    let distance = found.panels[0].panel.plane.distance;
    let off = |one: &&f64| (**one - distance).abs();
    let distances = simulated.distances.iter();
    let nearest = distances.min_by(|a, b| off(a).total_cmp(&off(b)));
    let profile = known_profile();
    let truth = Truth::new(
        &profile,
        &found,
        &simulated.recording,
        nearest.copied().unwrap_or(f64::NAN),
    );
    let mut figures = vec![truth.distance(&found)];
    figures.extend(truth.figures(&found, &INCIDENCES));
    let is_right = |figure: &Figure| figure.normalised().abs() <= SIMULTANEOUS_95;
    let outcome = match verdict.grade() {
        Grade::Refused => Outcome::Refused,
        Grade::Doubtful => Outcome::Doubtful,
        Grade::Good if figures.iter().all(is_right) => Outcome::Right,
        Grade::Good => Outcome::Wrong,
    };
    RecordingOutcome {
        kind,
        seed,
        outcome,
        figures,
        reasons: verdict.reasons().into_iter().map(str::to_owned).collect(),
    }
}
