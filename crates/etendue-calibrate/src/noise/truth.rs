//! Comparison of a calibrated profile with a known one.

use super::calibrate::NoiseCalibration;
use super::recording::PanelRecording;
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::profile::{Aspect, Knot, Profile, ReturnDistribution};
use std::collections::BTreeSet;

/// A quantity of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Distance of the panel.
    Distance,
    /// Bias at an incidence.
    Bias,
    /// Spread at an incidence.
    Spread,
    /// Drop-out at an incidence.
    DropOut,
}

/// A figure of a calibration and its true value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The quantity.
    pub quantity: Quantity,
    /// Incidence, degrees.
    pub incidence_deg: f64,
    /// Value of the calibration, m; of the drop-out, the observed fraction.
    pub found: f64,
    /// True value, m; of the drop-out, its probability.
    pub truth: f64,
    /// Stated standard error of `found`; of the drop-out, the standard deviation of the observed fraction if the truth
    /// holds: the ratio of error and deviation is the score statistic, which the Wilson interval inverts.
    pub standard_error: f64,
}

impl Figure {
    /// Error: the value of the calibration less the true one.
    pub fn error(&self) -> f64 {
        self.found - self.truth
    }

    /// Error in stated standard errors. Its absolute value is below 1.96 if the stated 95 % interval contains the truth.
    pub fn normalised(&self) -> f64 {
        self.error() / self.standard_error
    }
}

/// Half width of a 95 % interval in standard errors.
const HALF_95: f64 = 1.96;

/// Half width of the neighbourhood of an incidence, rad.
const NEAR: f64 = 2.0 * std::f64::consts::PI / 180.0;

/// Greatest incidence of the directions that determine a plane, rad.
const CORE: f64 = 40.0 * std::f64::consts::PI / 180.0;

/// The known profile of the panel of a recording, relative to the plane that a calibration of it can find.
///
/// The part of a bias that is like a plane of another distance or bearing is not observable: the stated bias is that
/// relative to the plane of least squares through the biased ranges below 40 degrees, except those next to edges,
/// and so is the true one here.
#[derive(Clone, Debug)]
pub struct Truth<'a> {
    profile: &'a Profile,
    /// True distance of the plane, m.
    distance: f64,
    /// Distance (m) and tilt (rad times m) of the plane of least squares through the true bias.
    plane: [f64; 2],
    /// Angles from the normal of the directions with ranges, rad.
    angles: Vec<f64>,
}

impl<'a> Truth<'a> {
    /// The known profile relative to the first panel of a calibration, whose true distance (m) is given.
    pub fn new(
        profile: &'a Profile,
        found: &NoiseCalibration,
        recording: &PanelRecording,
        distance: f64,
    ) -> Self {
        // Angles of the directions with ranges
        let panel = &found.panels[0].panel;
        let bearing = panel.bearing();
        let beams = found.panels[0].beams.beams.iter();
        let with_ranges: BTreeSet<u32> = beams
            .filter(|beam| beam.error().is_some())
            .map(|beam| beam.cell)
            .collect();
        let angle_of = |number: &u32| {
            let cell = panel.sector.cells[*number as usize];
            let direction = recording.cells[cell].direction;
            wrap_to_pi(direction.y.atan2(direction.x) - bearing)
        };

        // Plane that fits their true bias
        let mut truth = Self {
            profile,
            distance,
            plane: [0.0; 2],
            angles: with_ranges.iter().map(angle_of).collect(),
        };
        truth.plane = fitted_plane(&truth.angles, |angle| truth.bias(angle));
        truth
    }

    /// True bias of the range at an angle from the normal (rad), relative to the plane, m.
    pub fn bias(&self, angle: f64) -> f64 {
        let [shift, tilt] = self.plane;
        self.at(Aspect::signed(angle)).bias - shift / angle.cos() - tilt * angle.tan() / angle.cos()
    }

    /// Mean true bias of the directions with ranges near an incidence (rad), relative to the plane, m; `None` without any.
    fn mean_bias(&self, incidence: f64) -> Option<f64> {
        let is_near = |angle: &&f64| (angle.abs() - incidence).abs() < NEAR;
        let near: Vec<f64> = self.angles.iter().filter(is_near).copied().collect();
        let sum: f64 = near.iter().map(|angle| self.bias(*angle)).sum();
        (!near.is_empty()).then(|| sum / near.len() as f64)
    }

    /// True bias at an incidence (rad), relative to the plane, m: the mean of the sides of the normal with ranges that far
    /// from it; `None` beyond them.
    pub fn bias_at_incidence(&self, incidence: f64) -> Option<f64> {
        let least = self.angles.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = self
            .angles
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let sides = [-incidence, incidence];
        let recorded = sides
            .iter()
            .filter(|angle| (least..=greatest).contains(*angle));
        let biases: Vec<f64> = recorded.map(|angle| self.bias(*angle)).collect();
        (!biases.is_empty()).then(|| biases.iter().sum::<f64>() / biases.len() as f64)
    }

    /// The known distribution of the ranges; its bias is relative to the true ranges.
    pub fn at(&self, aspect: impl Into<Aspect>) -> ReturnDistribution {
        let aspect = aspect.into();
        self.profile
            .at(aspect, self.distance / aspect.incidence.cos())
    }

    /// The distance of the panel that a calibration can find, beside that which it found.
    pub fn distance(&self, found: &NoiseCalibration) -> Figure {
        let panel = &found.panels[0].panel;
        Figure {
            quantity: Quantity::Distance,
            incidence_deg: 0.0,
            found: panel.plane.distance,
            truth: self.distance + self.plane[0],
            standard_error: panel.distance_error,
        }
    }

    /// Bias, spread and drop-out of the calibration at some incidences, where they were recorded; no drop-out where the
    /// recordings do not determine it.
    pub fn figures(&self, found: &NoiseCalibration, incidences_deg: &[f64]) -> Vec<Figure> {
        let mut figures = Vec::new();
        for incidence_deg in incidences_deg.iter().copied() {
            // The nearest knot
            let incidence = incidence_deg.to_radians();
            let distance_to = |knot: &&Knot| (knot.incidence - incidence).abs();
            let knots = found.profile.knots.iter();
            let knot = knots.min_by(|a, b| distance_to(a).total_cmp(&distance_to(b)));
            let Some(knot) = knot.filter(|knot| !knot.extrapolated && distance_to(knot) < NEAR)
            else {
                continue;
            };
            let Some(bias) = self.mean_bias(incidence) else {
                continue;
            };
            // Its values beside the true ones
            let truth = self.at(knot.incidence);
            let dropped = Proportion::of_interval(knot.drop_out_interval);
            let rows = [
                (Quantity::Bias, knot.bias, bias, knot.bias_error),
                (
                    Quantity::Spread,
                    knot.spread,
                    truth.spread,
                    knot.spread_error,
                ),
                (
                    Quantity::DropOut,
                    dropped.value,
                    truth.drop_out,
                    dropped.standard_deviation(truth.drop_out),
                ),
            ];
            let determined = rows
                .into_iter()
                .filter(|(quantity, ..)| found.has_drop_outs || *quantity != Quantity::DropOut);
            let figure = |(quantity, found, truth, standard_error)| Figure {
                quantity,
                incidence_deg,
                found,
                truth,
                standard_error,
            };
            figures.extend(determined.map(figure));
        }
        figures
    }
}

/// A proportion and the number of independent trials of its Wilson interval.
struct Proportion {
    value: f64,
    trials: f64,
}

impl Proportion {
    /// The proportion $p$ of $n$ trials with a given 95 % Wilson interval. Its limits are the roots of
    /// $(p-x)^2 = c\,x(1-x)$ with $c = 1.96^2/n$: their sum is $s = (2p+c)/(1+c)$, their product $q = p^2/(1+c)$, and
    /// $u = 1+c$ is the lesser root of $(s-1)^2u^2 + (2(s-1)-4q)u + 1 = 0$.
    fn of_interval([low, high]: [f64; 2]) -> Self {
        let excess = low + high - 1.0;
        let linear = 4.0 * low * high - 2.0 * excess;
        let discriminant = (linear * linear - 4.0 * excess * excess).max(0.0);
        let root = (2.0 / (linear + discriminant.sqrt())).min(1e9);
        Self {
            value: 0.5 * (excess * root + 1.0),
            trials: HALF_95 * HALF_95 / (root - 1.0).max(1e-9),
        }
    }

    /// Standard deviation of the proportion of such trials with a given probability: the error over it is the score
    /// statistic, which the Wilson interval inverts.
    fn standard_deviation(&self, probability: f64) -> f64 {
        // An impossible drop-out is many deviations off, but not infinitely many
        let probability = probability.clamp(1e-9, 1.0 - 1e-9);
        (probability * (1.0 - probability) / self.trials).sqrt()
    }
}

/// Distance (m) and tilt (rad times m) of the plane that fits the bias of directions below 40 degrees.
fn fitted_plane(angles: &[f64], bias: impl Fn(f64) -> f64) -> [f64; 2] {
    let mut matrix = [0.0; 3];
    let mut vector = [0.0; 2];
    for angle in angles.iter().copied().filter(|angle| angle.abs() < CORE) {
        let row = [1.0 / angle.cos(), angle.tan() / angle.cos()];
        matrix[0] += row[0] * row[0];
        matrix[1] += row[0] * row[1];
        matrix[2] += row[1] * row[1];
        vector[0] += row[0] * bias(angle);
        vector[1] += row[1] * bias(angle);
    }
    let determinant = matrix[0] * matrix[2] - matrix[1] * matrix[1];
    [
        (matrix[2] * vector[0] - matrix[1] * vector[1]) / determinant,
        (matrix[0] * vector[1] - matrix[1] * vector[0]) / determinant,
    ]
}
