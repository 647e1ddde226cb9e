//! Scores of a prediction, beam by beam.

use super::Predictor;
use super::baselines::{on_steps, step};
use super::distances::{jensen_shannon, kolmogorov_smirnov, kolmogorov_smirnov_p};
use crate::noise::statistics::independent_looks;
use crate::noise::{BeamOutcome, PanelBeams};
use etendue_physics::profile::{Expected, Steps};
use etendue_physics::{Purpose, Stream, normal};

/// How well beams are predicted: less is better, but for the histogram and the bands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// Mean negative log-likelihood of a beam, drop-out and reported range together, with no
    /// probability taken below 1e-4.
    pub negative_log_likelihood: f64,
    /// Mean continuous ranked probability score of returned beams' ranges, m.
    pub ranked_probability: f64,
    /// Mean squared error of the drop-out's probability (Brier 1950).
    pub drop_out_error: f64,
    /// Probability integral transform of returned beams in ten classes (even: well predicted).
    pub transform: [f64; 10],
    /// Predicted against seen drop-out, in classes.
    pub calibration: Vec<Calibrated>,
    /// Distributions of the error per band of incidence.
    pub bands: Vec<Band>,
}

/// Predicted and seen drop-out of beams for which about as much was predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibrated {
    /// Mean prediction.
    pub predicted: f64,
    /// Share that dropped.
    pub seen: f64,
    /// Beams.
    pub beams: usize,
}

/// Similarity of predicted and recorded errors in a band of incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// From and to, rad.
    pub incidence: [f64; 2],
    /// Recorded ranges, those beside edges left out.
    pub beams: usize,
    /// How many independent samples they are worth.
    pub samples: f64,
    /// Kolmogorov and Smirnov's distance.
    pub distance: f64,
    /// Its probability, were both of one distribution and the recorded beams worth `samples`.
    pub probability: f64,
    /// The same, were every recorded beam a sample of its own, which beams of one direction are not.
    pub plain_probability: f64,
    /// Jensen-Shannon divergence, bits.
    pub divergence: f64,
    /// Share of beams that dropped: recorded, predicted.
    pub drop_out: [f64; 2],
}

/// No probability is taken to be less.
pub const FLOOR: f64 = 1e-4;

/// Scores a prediction on the beams of a panel; `fixed_pattern` is the fixed-pattern share of the
/// variance of the error, which determines the number of independent samples of a band.
pub fn score(
    beams: &PanelBeams,
    predictor: &Predictor,
    steps: &Steps,
    fixed_pattern: f64,
) -> Scores {
    let mut scores = Scores::default();
    let mut classes = [(0.0, 0.0, 0_usize); 10];
    let (mut returned, mut stream) = (0.0, Stream::new(0, 0, 0, 0, Purpose::Search));
    for beam in &beams.beams {
        let here = predictor.at(beam.aspect(), beam.expected);
        let dropped = f64::from(u8::from(beam.outcome == BeamOutcome::Dropped));
        let class = class(here.drop_out);
        classes[class].0 += here.drop_out;
        classes[class].1 += dropped;
        classes[class].2 += 1;
        scores.drop_out_error += (dropped - here.drop_out).powi(2);
        let probability = match beam.outcome {
            BeamOutcome::Dropped => here.drop_out,
            BeamOutcome::Range(_) if beam.at_edge => 1.0 - here.drop_out,
            BeamOutcome::Range(range) => {
                returned += 1.0;
                let [low, high] = transform(&here, beam.expected, range, step(steps, range));
                let place = low + (high - low) * stream.uniform();
                scores.transform[self::class(place)] += 1.0;
                scores.ranked_probability += ranked(&here, range - beam.expected);
                (1.0 - here.drop_out) * interval(&here, beam.expected, range, step(steps, range))
            }
        };
        scores.negative_log_likelihood -= probability.max(FLOOR).ln();
    }
    let beams_all = beams.beams.len().max(1) as f64;
    scores.negative_log_likelihood /= beams_all;
    scores.drop_out_error /= beams_all;
    scores.ranked_probability /= f64::max(returned, 1.0);
    scores.transform = scores
        .transform
        .map(|count| count / f64::max(returned, 1.0));
    scores.calibration = { classes.iter().filter(|class| class.2 > 0) }
        .map(|(predicted, seen, beams)| Calibrated {
            predicted: predicted / *beams as f64,
            seen: seen / *beams as f64,
            beams: *beams,
        })
        .collect();
    scores.bands = bands(&on_steps(beams, steps), predictor, steps, fixed_pattern);
    scores
}

fn class(probability: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a probability has ten classes"
    )]
    let class = (probability * 10.0) as usize;
    class.min(9)
}

/// Distribution function below and above the step that was reported.
fn transform(here: &Expected, expected: f64, range: f64, step: f64) -> [f64; 2] {
    let spread = here.spread.max(1e-9);
    let middle = (range - expected - here.bias) / spread;
    let half = 0.5 * step / spread;
    [middle - half, middle + half].map(normal::probability)
}

fn interval(here: &Expected, expected: f64, range: f64, step: f64) -> f64 {
    let spread = here.spread.max(1e-9);
    let middle = (range - expected - here.bias) / spread;
    let half = 0.5 * step / spread;
    normal::between(middle - half, middle + half)
}

/// The continuous ranked probability score of a normal distribution (Gneiting and Raftery 2007,
/// doi:10.1198/016214506000001437, eq. 21), m.
fn ranked(here: &Expected, error: f64) -> f64 {
    let spread = here.spread.max(1e-9);
    let z = (error - here.bias) / spread;
    let inner = z * (2.0 * normal::probability(z) - 1.0) + 2.0 * normal::density(z);
    spread * (inner - 1.0 / std::f64::consts::PI.sqrt())
}

/// Draws from the prediction per band of ten degrees, against what was recorded. A draw that drops
/// has no range: near the widest incidences it is the squarer beams of a band that return.
fn bands(
    beams: &PanelBeams,
    predictor: &Predictor,
    steps: &Steps,
    fixed_pattern: f64,
) -> Vec<Band> {
    let width = 10.0_f64.to_radians();
    let band = |number: u32| {
        let [from, to] = [f64::from(number), f64::from(number + 1)].map(|n| n * width);
        let inside: Vec<_> = { beams.beams.iter() }
            .filter(|beam| (from..to).contains(&beam.incidence))
            .collect();
        let mut recorded: Vec<f64> = inside.iter().filter_map(|beam| beam.error()).collect();
        if recorded.len() < 20 {
            return None;
        }
        let (mut drawn, mut predicted) = (Vec::new(), 0.0);
        for (name, beam) in (0..).zip(&inside) {
            let here = predictor.at(beam.aspect(), beam.expected);
            predicted += here.drop_out;
            let mut stream = Stream::new(1, 0, number, name, Purpose::Search);
            let range = beam.expected + here.bias + here.spread * stream.normal();
            if stream.uniform() >= here.drop_out && !beam.at_edge {
                drawn.push(steps.round(range) - beam.expected);
            }
        }
        if drawn.is_empty() {
            return None;
        }
        let whole = inside.iter().filter(|beam| !beam.at_edge);
        let mut cells: Vec<u32> = whole.map(|beam| beam.cell).collect();
        cells.sort_unstable();
        cells.dedup();
        let group = recorded.len() as f64 / cells.len() as f64;
        let samples = independent_looks(recorded.len() as f64, group, fixed_pattern);
        let divergence = jensen_shannon(&recorded, &drawn, step(steps, beams.distance));
        let distance = kolmogorov_smirnov(&mut recorded, &mut drawn);
        let count = inside.len() as f64;
        let returned = inside.iter().filter(|beam| beam.returned()).count();
        Some(Band {
            incidence: [from, to],
            beams: recorded.len(),
            samples,
            distance,
            probability: kolmogorov_smirnov_p(distance, [samples, samples.max(drawn.len() as f64)]),
            plain_probability: kolmogorov_smirnov_p(
                distance,
                [recorded.len() as f64, drawn.len() as f64],
            ),
            divergence,
            drop_out: [1.0 - returned as f64 / count, predicted / count],
        })
    };
    (0..9).filter_map(band).collect()
}
