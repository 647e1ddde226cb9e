//! Comparison of a calibrated profile with the known one.

use etendue_calibrate::noise::{NoiseCalibration, PanelRecording};
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::profile::{
    Correlation, DistanceLaw, IntensityKind, Knot, Profile, ReflectanceModel, Steps,
};
use std::collections::BTreeSet;

/// The noise profile of the panels: bias, spread and drop-out that depend on the incidence, with correlated
/// neighbours and a fixed pattern.
pub(super) fn known_profile() -> Profile {
    let knot = |degrees: i32| {
        let incidence = f64::from(degrees).to_radians();
        Knot {
            incidence,
            bias: 4e-3 - 8e-3 * incidence.powi(2),
            spread: 3e-3 * (1.0 + 2.0 * incidence.powi(2)),
            drop_out: 1.0 / (1.0 + (7.0 - 7.0 * incidence).exp()),
            ..Knot::default()
        }
    };
    Profile {
        sensor: "known".into(),
        material: "panel".into(),
        wavelength: None,
        distance: 1.0,
        law: DistanceLaw::SignalToNoise { floor: 3e-3 },
        steps: Steps::even(1e-3),
        correlation: Correlation::new(0.3, 0.2, 0.2),
        intensity: IntensityKind::None,
        reflectance: ReflectanceModel::default(),
        knots: (0..=80).step_by(2).map(knot).collect(),
        glare: None,
        extrapolated: false,
    }
}

/// A quantity of a profile.
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

/// A stated figure and its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The quantity.
    pub quantity: Quantity,
    /// Incidence, degrees.
    pub incidence_deg: f64,
    /// Error, m; of the drop-out, the observed fraction less the truth.
    pub error: f64,
    /// Error in stated standard errors; of the drop-out, the score statistic: its absolute value is below 1.96
    /// if the stated 95 % interval contains the truth.
    pub normalised: f64,
}

/// Half width of a 95 % interval in standard errors.
const HALF_95: f64 = 1.96;

/// Incidences of the compared figures, degrees.
const INCIDENCES: [f64; 5] = [8.0, 16.0, 24.0, 32.0, 40.0];

/// Half width of the neighbourhood of an incidence, rad.
const NEAR: f64 = 2.0 * std::f64::consts::PI / 180.0;

/// Greatest incidence of the directions that determine a plane, rad.
const CORE: f64 = 40.0 * std::f64::consts::PI / 180.0;

/// The figures of a calibration: distance of the panel, and bias, spread and drop-out at 8 to 40 degrees, where
/// they were recorded.
///
/// The part of the bias that is like a plane of another distance or bearing is not observable: the stated bias
/// is that relative to the plane of least squares through the biased ranges below 40 degrees, except those next to
/// edges, and so is the true one here.
pub(super) fn figures(
    found: &NoiseCalibration,
    recording: &PanelRecording,
    distances: &[f64],
) -> Vec<Figure> {
    let truth = known_profile();
    let panel = &found.panels[0].panel;
    let distance = panel.plane.distance;
    let nearest = |a: &&f64, b: &&f64| (**a - distance).abs().total_cmp(&(**b - distance).abs());
    let true_distance = distances
        .iter()
        .min_by(nearest)
        .copied()
        .unwrap_or(f64::NAN);

    // Angles of the directions with ranges, and the plane that fits their true bias
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
    let angles: Vec<f64> = with_ranges.iter().map(angle_of).collect();
    let bias = |angle: f64| truth.at(angle.abs(), true_distance / angle.cos()).bias;
    let [shift, tilt] = fitted_plane(&angles, bias);
    let relative =
        |angle: f64| bias(angle) - shift / angle.cos() - tilt * angle.tan() / angle.cos();

    // Distance, and the figures at some incidences
    let error = distance - true_distance - shift;
    let mut figures = vec![Figure {
        quantity: Quantity::Distance,
        incidence_deg: 0.0,
        error,
        normalised: error / panel.distance_error,
    }];
    for degrees in INCIDENCES {
        let incidence: f64 = degrees.to_radians();
        let near: Vec<f64> = angles
            .iter()
            .copied()
            .filter(|angle| (angle.abs() - incidence).abs() < NEAR)
            .collect();
        let knots = found.profile.knots.iter();
        let distance_to = |knot: &&Knot| (knot.incidence - incidence).abs();
        let knot = knots.min_by(|a, b| distance_to(a).total_cmp(&distance_to(b)));
        let Some(knot) = knot.filter(|knot| !knot.extrapolated && distance_to(knot) < NEAR) else {
            continue;
        };
        if near.is_empty() {
            continue;
        }
        let mean = near.iter().map(|angle| relative(*angle)).sum::<f64>() / near.len() as f64;
        let there = truth.at(knot.incidence, true_distance / knot.incidence.cos());
        let dropped = Proportion::of_interval(knot.drop_out_interval);
        let figure = |quantity, error: f64, standard: f64| Figure {
            quantity,
            incidence_deg: degrees,
            error,
            normalised: error / standard,
        };
        figures.push(figure(Quantity::Bias, knot.bias - mean, knot.bias_error));
        figures.push(figure(
            Quantity::Spread,
            knot.spread - there.spread,
            knot.spread_error,
        ));
        figures.push(figure(
            Quantity::DropOut,
            dropped.value - there.drop_out,
            dropped.standard_deviation(there.drop_out),
        ));
    }
    figures
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
