//! Standard errors of the plane of a panel.

use super::panel_report::PanelReport;
use etendue_physics::profile::Profile;
use std::collections::BTreeMap;

/// Width of the groups of directions that count as independent places of a panel, rad.
const PLACE: f64 = 4.0 * std::f64::consts::PI / 180.0;

/// Least number of places for the standard error of a plane.
const LEAST_PLACES: usize = 6;

/// Degrees of freedom of the curve that the deviations of the places are relative to.
const CURVE_FREEDOM: f64 = 4.0;

/// Degrees of freedom of a plane of a planar sensor.
const PLANE_FREEDOM: f64 = 2.0;

/// Greatest number of directions between two that are correlated.
const LAGS: u32 = 3;

/// Incidence below which directions determine the plane, rad.
const CORE: f64 = 40.0 * std::f64::consts::PI / 180.0;

/// Standard errors of the distance (m) and of the bearing (rad) of a planar panel, of its robust fit as an estimate of
/// the plane of least squares through the expected ranges below [`CORE`]; those of independent directions with fewer
/// than six places of 4 degrees.
///
/// A bias over incidence bends the surface, so that its plane depends on the weights of the directions. The bias of a profile and
/// the distance are defined by equal weights: by least squares through the expected ranges, $D$. The robust fit $D_R$ gives
/// less weight to the directions that the bias bends most, and none to those that drop one beam of ten. With the plane of least squares
/// through the recorded ranges, $D_L$, the error is the sum of a known and of a random part,
/// $$D_R-D = (D_R-D_L) + (D_L-D),$$
/// and its mean square is $(D_R-D_L)^2 + \operatorname{Var} D_L$. The first term is one solution of the normal equations with the
/// matrix $A$, $A^{-1}\sum_i g_i e_i$ with the gradient $g_i$ and the deviation $e_i$ of direction $i$ from the robust
/// plane.
///
/// The second is a linear function of the deviations from plane and bias curve. Neighbouring directions are correlated by the
/// receiver (shared samples), and by dents of the panel. The variance is the greater of two: that of a
/// [stationary correlation](correlated_variance), which has few degrees of freedom less than there are directions, and that of
/// [places](place_variance), which includes dents.
pub(super) fn plane_errors(report: &PanelReport, profile: &Profile) -> [f64; 2] {
    // Normal matrix of the directions
    let directions = core_directions(report, profile);
    let mut matrix = [0.0; 3];
    for one in &directions {
        let [by_distance, by_bearing] = one.gradient;
        matrix[0] += by_distance * by_distance;
        matrix[1] += by_distance * by_bearing;
        matrix[2] += by_bearing * by_bearing;
    }
    let mut places: Vec<i64> = directions.iter().map(CoreDirection::place).collect();
    places.sort_unstable();
    places.dedup();
    let panel = &report.panel;
    let determinant = matrix[0] * matrix[2] - matrix[1] * matrix[1];
    if places.len() < LEAST_PLACES || determinant <= 0.0 {
        return [2.0 * panel.distance_error, 2.0 * panel.bearing_error];
    }

    // Influence of each direction on distance and bearing
    let inverse = [
        [matrix[2] / determinant, -matrix[1] / determinant],
        [-matrix[1] / determinant, matrix[0] / determinant],
    ];
    [0, 1].map(|parameter| {
        let [by_distance, by_bearing] = inverse[parameter];
        let influence: Vec<f64> = directions
            .iter()
            .map(|one| by_distance * one.gradient[0] + by_bearing * one.gradient[1])
            .collect();

        // Difference to the plane of least squares, and its variance
        let errors = directions.iter().zip(&influence);
        let difference: f64 = errors.map(|(one, influence)| one.error * influence).sum();
        let correlated = correlated_variance(&directions, &influence);
        let by_place = place_variance(&directions, &influence);
        difference.hypot(correlated.max(by_place).sqrt())
    })
}

/// A direction that determines a plane.
struct CoreDirection {
    /// Index along the panel.
    cell: u32,
    /// Angle from the normal, positive to the left, rad.
    angle: f64,
    /// Mean deviation from the plane, m.
    error: f64,
    /// The same from plane and bias curve, m.
    deviation: f64,
    /// Spread of its ranges, m.
    spread: f64,
    /// Derivatives of its range by distance and bearing of the plane.
    gradient: [f64; 2],
}

impl CoreDirection {
    /// Number of its place.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a quarter turn has few places"
    )]
    fn place(&self) -> i64 {
        (self.angle / PLACE).floor() as i64
    }
}

/// Directions below [`CORE`] incidence, along the panel.
fn core_directions(report: &PanelReport, profile: &Profile) -> Vec<CoreDirection> {
    // Sums of angle, deviations and spread by direction
    let mut sums: BTreeMap<u32, [f64; 5]> = BTreeMap::new();
    let core = report.beams.beams.iter();
    for beam in core.filter(|beam| beam.incidence < CORE) {
        let Some(error) = beam.error() else {
            continue;
        };
        let expected = profile.at(beam.aspect(), beam.expected);
        let sum = sums.entry(beam.cell).or_default();
        sum[0] += beam.incidence * beam.side;
        sum[1] += error;
        sum[2] += error - expected.bias;
        sum[3] += expected.spread;
        sum[4] += 1.0;
    }

    // Means, and gradients of the plane
    let distance = report.distance();
    let directions = sums.into_iter().map(|(cell, sum)| {
        let [angle, error, deviation, spread] = [0, 1, 2, 3].map(|i| sum[i] / sum[4]);
        CoreDirection {
            cell,
            angle,
            error,
            deviation,
            spread,
            gradient: [1.0 / angle.cos(), distance * angle.tan() / angle.cos()],
        }
    });
    directions.collect()
}

/// Variance of a linear function of the deviations, $\sum_i a_i d_i$ with the `influence` $a$, for a correlation that depends
/// on the number of directions between two only: with the normalised deviation $u_i = d_i/\sigma_i$, its variance $V$ and the
/// correlation $\rho$ of neighbours, $V\sum_{ij} a_i\sigma_i\,\rho^{|i-j|}\,a_j\sigma_j$ up to three directions apart.
fn correlated_variance(directions: &[CoreDirection], influence: &[f64]) -> f64 {
    // Variance and correlation of the normalised deviations
    let normalised = |one: &CoreDirection| one.deviation / one.spread.max(1e-6);
    let count = directions.len() as f64;
    let squares: f64 = directions.iter().map(|one| normalised(one).powi(2)).sum();
    let variance = squares / (count - PLANE_FREEDOM - CURVE_FREEDOM).max(1.0);
    let neighbours = directions
        .windows(2)
        .filter(|two| two[1].cell == two[0].cell + 1);
    let products = neighbours.map(|two| normalised(&two[0]) * normalised(&two[1]));
    let [product, pairs] = products.fold([0.0, 0.0], |[sum, n], product| [sum + product, n + 1.0]);
    let correlation = if squares > 0.0 {
        (product / f64::max(pairs, 1.0) / (squares / count)).clamp(0.0, 1.0)
    } else {
        0.0
    };

    // Quadratic form of the influences
    let mut sum = 0.0;
    for (number, (one, own)) in directions.iter().zip(influence).enumerate() {
        let own = own * one.spread;
        sum += own * own;
        let later = directions[number + 1..]
            .iter()
            .zip(&influence[number + 1..]);
        let reach = later.take_while(|(other, _)| other.cell <= one.cell + LAGS);
        for (other, weight) in reach {
            let lag = f64::from(other.cell - one.cell);
            sum += 2.0 * own * weight * other.spread * correlation.powf(lag);
        }
    }
    variance * sum
}

/// Variance of the same function for deviations that are independent between places, with any
/// correlation within (a cluster-robust covariance; Liang and Zeger 1986, doi:10.1093/biomet/73.1.13).
fn place_variance(directions: &[CoreDirection], influence: &[f64]) -> f64 {
    let mut places: BTreeMap<i64, f64> = BTreeMap::new();
    for (one, weight) in directions.iter().zip(influence) {
        *places.entry(one.place()).or_default() += weight * one.deviation;
    }
    let count = places.len() as f64;
    let sum: f64 = places.values().map(|place| place * place).sum();
    sum * count / (count - CURVE_FREEDOM).max(1.0)
}
