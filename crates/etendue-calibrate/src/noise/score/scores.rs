//! Scores of predictions of beams.

use super::baselines::{BeamPredictor, on_steps, step};
use super::distances::{jensen_shannon, kolmogorov_smirnov, kolmogorov_smirnov_p};
use crate::noise::beams::{BeamOutcome, PanelBeam, PanelBeams};
use crate::noise::statistics::effective_sample_size;
use etendue_physics::profile::{ReturnDistribution, Steps};
use etendue_physics::{Purpose, Stream, normal};

/// Scores of a prediction. Of the first three, less is better.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictionScores {
    /// Mean negative log-likelihood of a beam (drop-out and reported range), with probabilities of at
    /// least 1e-4.
    pub negative_log_likelihood: f64,
    /// Mean continuous ranked probability score of returned beams' ranges, m.
    pub ranked_probability: f64,
    /// Mean squared error of the probability of a drop-out (Brier 1950,
    /// doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2).
    pub drop_out_error: f64,
    /// Histogram of the probability integral transform of returned beams in ten classes; uniform for a
    /// correct prediction.
    pub transform: [f64; 10],
    /// Reliability diagram of the drop-out: predicted and observed fractions in classes.
    pub calibration: Vec<DropOutClass>,
    /// Distributions of the error by band of incidence.
    pub bands: Vec<IncidenceBand>,
}

/// Predicted and observed drop-out of a class of predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropOutClass {
    /// Mean prediction.
    pub predicted: f64,
    /// Fraction of beams that dropped.
    pub observed: f64,
    /// Number of beams.
    pub beams: usize,
}

/// Similarity of predicted and recorded errors in a band of incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IncidenceBand {
    /// First and last incidence, rad.
    pub incidence: [f64; 2],
    /// Number of recorded ranges that are not next to an edge.
    pub beams: usize,
    /// Their effective number of independent samples.
    pub samples: f64,
    /// Kolmogorov-Smirnov distance.
    pub distance: f64,
    /// Probability of at least that distance for one distribution, with the effective number of samples.
    pub probability: f64,
    /// Probability with every recorded beam as an independent sample, which beams of one direction are
    /// not.
    pub plain_probability: f64,
    /// Jensen-Shannon divergence, bits.
    pub divergence: f64,
    /// Fraction of beams that dropped: recorded and predicted.
    pub drop_out: [f64; 2],
}

/// Least probability of an outcome.
pub const FLOOR: f64 = 1e-4;

/// Sums over the beams of one class of predicted drop-out.
#[derive(Clone, Copy, Default)]
struct ClassSums {
    predicted: f64,
    dropped: f64,
    beams: usize,
}

/// Scores a prediction on the beams of a panel; `fixed_pattern` is the fixed-pattern fraction of
/// the variance of the error, which determines the effective number of samples of a band.
pub fn score(
    beams: &PanelBeams,
    predictor: &BeamPredictor,
    steps: &Steps,
    fixed_pattern: f64,
) -> PredictionScores {
    let mut scores = PredictionScores::default();
    let mut classes = [ClassSums::default(); 10];
    let mut returned = 0.0;
    let mut stream = Stream::new(0, 0, 0, 0, Purpose::Search);
    for beam in &beams.beams {
        // Drop-out: squared error and reliability
        let here = predictor.at(beam.aspect(), beam.expected);
        let dropped = f64::from(u8::from(beam.outcome == BeamOutcome::Dropped));
        let class = &mut classes[class_of(here.drop_out)];
        class.predicted += here.drop_out;
        class.dropped += dropped;
        class.beams += 1;
        scores.drop_out_error += (dropped - here.drop_out).powi(2);

        // Range: probability integral transform, ranked probability score and likelihood
        let probability = match beam.outcome {
            BeamOutcome::Dropped => here.drop_out,
            BeamOutcome::Range(_) if beam.at_edge => 1.0 - here.drop_out,
            BeamOutcome::Range(range) => {
                returned += 1.0;
                let error = range - beam.expected;
                let [low, high] = normalised_interval(&here, error, step(steps, range));
                let ends = [low, high].map(normal::probability);
                let position = ends[0] + (ends[1] - ends[0]) * stream.uniform();
                scores.transform[class_of(position)] += 1.0;
                scores.ranked_probability += ranked_probability(&here, error);
                (1.0 - here.drop_out) * normal::between(low, high)
            }
        };
        scores.negative_log_likelihood -= probability.max(FLOOR).ln();
    }

    // Average over the beams
    let total = beams.beams.len().max(1) as f64;
    let returned = f64::max(returned, 1.0);
    scores.negative_log_likelihood /= total;
    scores.drop_out_error /= total;
    scores.ranked_probability /= returned;
    scores.transform = scores.transform.map(|count| count / returned);
    let classes = classes.iter().filter(|class| class.beams > 0);
    scores.calibration = classes
        .map(|class| DropOutClass {
            predicted: class.predicted / class.beams as f64,
            observed: class.dropped / class.beams as f64,
            beams: class.beams,
        })
        .collect();

    // Compare the distributions in bands of incidence
    let beams = on_steps(beams, steps);
    scores.bands = (0..BANDS)
        .filter_map(|number| band(&beams, predictor, steps, fixed_pattern, number))
        .collect();
    scores
}

/// Index of the tenth that a probability is in.
fn class_of(probability: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a probability has ten classes"
    )]
    let class = (probability * 10.0) as usize;
    class.min(9)
}

/// Ends of the quantisation step of an error (m), in standard deviations of the prediction.
fn normalised_interval(here: &ReturnDistribution, error: f64, step: f64) -> [f64; 2] {
    let spread = here.spread.max(1e-9);
    let middle = (error - here.bias) / spread;
    let half = 0.5 * step / spread;
    [middle - half, middle + half]
}

/// Continuous ranked probability score of a normal distribution (Gneiting and Raftery 2007,
/// doi:10.1198/016214506000001437, eq. 21), m.
fn ranked_probability(here: &ReturnDistribution, error: f64) -> f64 {
    let spread = here.spread.max(1e-9);
    let z = (error - here.bias) / spread;
    let inner = z * (2.0 * normal::probability(z) - 1.0) + 2.0 * normal::density(z);
    spread * (inner - 1.0 / std::f64::consts::PI.sqrt())
}

/// Number of bands of incidence.
const BANDS: u32 = 9;

/// Width of a band, degrees.
const BAND_DEG: f64 = 10.0;

/// Least number of ranges of a band.
const LEAST_RANGES: usize = 20;

/// Comparison of draws from the prediction with the recorded errors in one band of incidence; `None` with
/// too few ranges. Draws that drop have no range: in a band near the widest incidence, beams of smaller
/// incidence prevail among those that return.
fn band(
    beams: &PanelBeams,
    predictor: &BeamPredictor,
    steps: &Steps,
    fixed_pattern: f64,
    number: u32,
) -> Option<IncidenceBand> {
    // Select the beams of the band
    let edge = |number: u32| f64::from(number) * BAND_DEG.to_radians();
    let incidence = [edge(number), edge(number + 1)];
    let inside: Vec<&PanelBeam> = beams
        .beams
        .iter()
        .filter(|beam| (incidence[0]..incidence[1]).contains(&beam.incidence))
        .collect();
    let mut recorded: Vec<f64> = inside.iter().filter_map(|beam| beam.error()).collect();
    if recorded.len() < LEAST_RANGES {
        return None;
    }

    // Draw their errors from the prediction
    let mut drawn = Vec::new();
    let mut predicted = 0.0;
    for (index, beam) in (0..).zip(&inside) {
        let here = predictor.at(beam.aspect(), beam.expected);
        predicted += here.drop_out;
        let mut stream = Stream::new(1, 0, number, index, Purpose::Search);
        let range = beam.expected + here.bias + here.spread * stream.normal();
        if stream.uniform() >= here.drop_out && !beam.at_edge {
            drawn.push(steps.round(range) - beam.expected);
        }
    }
    if drawn.is_empty() {
        return None;
    }

    // Compare both distributions
    let samples = effective_samples(&inside, recorded.len(), fixed_pattern);
    let divergence = jensen_shannon(&recorded, &drawn, step(steps, beams.distance));
    let distance = kolmogorov_smirnov(&mut recorded, &mut drawn);
    let probability = |samples| kolmogorov_smirnov_p(distance, samples);
    let count = inside.len() as f64;
    let returned = inside.iter().filter(|beam| beam.returned()).count();
    Some(IncidenceBand {
        incidence,
        beams: recorded.len(),
        samples,
        distance,
        probability: probability([samples, samples.max(drawn.len() as f64)]),
        plain_probability: probability([recorded.len() as f64, drawn.len() as f64]),
        divergence,
        drop_out: [1.0 - returned as f64 / count, predicted / count],
    })
}

/// Effective number of independent samples among a number of recorded ranges of beams.
fn effective_samples(beams: &[&PanelBeam], ranges: usize, fixed_pattern: f64) -> f64 {
    let mut cells: Vec<u32> = beams
        .iter()
        .filter(|beam| !beam.at_edge)
        .map(|beam| beam.cell)
        .collect();
    cells.sort_unstable();
    cells.dedup();
    let group = ranges as f64 / cells.len() as f64;
    effective_sample_size(ranges as f64, group, fixed_pattern)
}
