//! Standard errors of a profile that include correlation, differences between places, and the plane fit.

use super::panel_report::PanelReport;
use super::statistics::{IncidenceBin, dispersion, wilson};
use etendue_physics::profile::{DistanceLaw, Knot, Profile};
use std::collections::BTreeMap;

/// Width of the groups of directions that count as independent places of a panel, rad.
const PLACE: f64 = 4.0 * std::f64::consts::PI / 180.0;

/// Least number of places for the standard error of a plane.
const LEAST_PLACES: usize = 6;

/// Degrees of freedom of the curve that the deviations of the places are relative to.
const CURVE_FREEDOM: f64 = 4.0;

/// Variance of the median of a normal sample over that of its mean: the plane is fitted to medians.
const MEDIANS_OVER_MEANS: f64 = std::f64::consts::FRAC_PI_2;

/// Incidence below which directions determine the plane, rad.
const CORE: f64 = 40.0 * std::f64::consts::PI / 180.0;

/// Data that the standard errors of knots depend on.
pub(super) struct ErrorSources<'a> {
    /// Bins of the panels.
    pub bins: &'a [IncidenceBin],
    /// Bins of the errors about the bias curve.
    pub residuals: &'a [IncidenceBin],
    /// Half width of the neighbourhood of a knot, rad.
    pub width: f64,
    /// Variance of the mean error between bins, m².
    pub between_bins: f64,
    /// Correlation of the drop-outs of one direction in bins that do not determine it.
    pub drop_correlation: f64,
    /// Fraction of the bins on one side of the normal in excess of the other: -1 to 1.
    pub asymmetry: f64,
    /// Standard errors of distance (m) and bearing (rad) of the panels together.
    pub plane: [f64; 2],
}

/// Standard errors of the distance (m) and of the bearing (rad) of a planar panel, from the deviations of
/// its places (4 degrees wide) from plane and bias curve; those of independent directions with fewer than
/// six places.
///
/// The deviations of the directions of one place are correlated (neighbouring beams, dents, quantisation):
/// the covariance is $A^{-1}\left(\sum_g g g^\top\right)A^{-1}$ with the normal matrix $A$ and the gradient
/// $g$ of each place (a cluster-robust covariance; Liang and Zeger 1986, doi:10.1093/biomet/73.1.13).
pub(super) fn plane_errors(report: &PanelReport, profile: &Profile) -> [f64; 2] {
    // Mean deviation of each direction
    let mut directions: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
    for beam in report
        .beams
        .beams
        .iter()
        .filter(|beam| beam.incidence < CORE)
    {
        let Some(error) = beam.error() else {
            continue;
        };
        let deviation = error - profile.at(beam.aspect(), beam.expected).bias;
        let sums = directions.entry(beam.cell).or_default();
        sums[0] += beam.incidence * beam.side;
        sums[1] += deviation;
        sums[2] += 1.0;
    }

    // Normal matrix, and the gradient of each place
    let distance = report.distance();
    let mut matrix = [0.0; 3];
    let mut places: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
    for [angle, deviation, count] in directions.into_values() {
        let [angle, deviation] = [angle / count, deviation / count];
        let by_distance = 1.0 / angle.cos();
        let by_bearing = distance * angle.tan() / angle.cos();
        matrix[0] += by_distance * by_distance;
        matrix[1] += by_distance * by_bearing;
        matrix[2] += by_bearing * by_bearing;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a quarter turn has few places"
        )]
        let place = places.entry((angle / PLACE).floor() as i64).or_default();
        place[0] += deviation * by_distance;
        place[1] += deviation * by_bearing;
    }
    let panel = &report.panel;
    let determinant = matrix[0] * matrix[2] - matrix[1] * matrix[1];
    if places.len() < LEAST_PLACES || determinant <= 0.0 {
        return [2.0 * panel.distance_error, 2.0 * panel.bearing_error];
    }

    // Cluster-robust covariance
    let inverse = [matrix[2], -matrix[1], matrix[0]].map(|entry| entry / determinant);
    let mut variance = [0.0; 2];
    for [by_distance, by_bearing] in places.values() {
        variance[0] += (inverse[0] * by_distance + inverse[1] * by_bearing).powi(2);
        variance[1] += (inverse[1] * by_distance + inverse[2] * by_bearing).powi(2);
    }
    let count = places.len() as f64;
    let factor = MEDIANS_OVER_MEANS * count / (count - CURVE_FREEDOM).max(1.0);
    variance.map(|variance| (factor * variance).sqrt())
}

/// Standard errors of distance and bearing of several panels together: of their mean.
pub(super) fn pooled(errors: &[[f64; 2]]) -> [f64; 2] {
    let count = errors.len().max(1) as f64;
    [0, 1].map(|i| errors.iter().map(|e| e[i] * e[i]).sum::<f64>().sqrt() / count)
}

/// Excess of the directions of panels on the left of the normal over those on its right, relative to all.
pub(super) fn asymmetry(bins: &[IncidenceBin]) -> f64 {
    let sum = |left: bool| -> f64 {
        let side = bins.iter().filter(|bin| bin.left == left);
        side.map(|bin| bin.directions).sum()
    };
    let [left, right] = [sum(true), sum(false)];
    (left - right) / (left + right).max(1.0)
}

/// Sets the standard errors of the knots of a profile, and the intervals of the drop-out.
///
/// The variance of a mean of $n$ ranges in $m$ directions with the fixed-pattern share $F$ is
/// $\sigma^2\left[(1-F)\,\tau_t/n + F\,\tau_f/m\right]$ with the factors $\tau = 1 + 2\sum_k \rho_k$ of
/// correlated neighbours. The variance between bins and the errors of the plane (at its distance, and
/// at its bearing where one side prevails) are added.
pub(super) fn set_errors(profile: &mut Profile, sources: &ErrorSources) {
    let correlation = profile.correlation;
    let temporal = correlation.neighbour();
    let fixed = correlation.fixed_pattern_neighbour();
    let distance = profile.distance;
    let law = profile.law;
    let knots = profile.knots.iter_mut();
    for knot in knots.filter(|knot| !knot.extrapolated) {
        let near = sources.near(knot.incidence);
        let [independent, shared] = [
            (1.0 - near.fixed_pattern) / near.ranges,
            near.fixed_pattern / near.directions,
        ];
        // Bias: noise, places, plane
        let end = if near.is_at_end { END_OF_CURVE } else { 1.0 };
        let noise = end
            * knot.spread.powi(2)
            * (independent * sum_factor(temporal) + shared * sum_factor(fixed));
        let places = sources.between_bins / near.bins;
        let plane = sources.plane_variance(knot, distance, law);
        knot.bias_error = (noise + places + plane).sqrt();
        // Spread: noise, and what the quantisation hides
        let square = (independent * near.ranges).powi(2) / near.ranges * square_factor(temporal)
            + (shared * near.directions).powi(2) / near.directions * square_factor(fixed)
            + 2.0 * near.fixed_pattern * (1.0 - near.fixed_pattern) / near.ranges;
        let hidden = if knot.spread < HIDDEN * near.quantisation {
            near.quantisation
        } else {
            0.0
        };
        knot.spread_error = (knot.spread * (0.5 * end * square).sqrt()).hypot(0.5 * hidden);
        // Drop-out: neighbours
        let samples = near.drop_samples / sum_factor(temporal);
        knot.drop_out_interval = wilson(near.dropped * samples, samples);
    }
}

/// Variance of a smooth curve at the end of its data over that inside: that of local linear fits (Fan and
/// Gijbels 1992, doi:10.1214/aos/1176348900).
const END_OF_CURVE: f64 = 4.0;

/// Distance from the end of the data within which that applies, rad.
const NEAR_END: f64 = 2.5 * std::f64::consts::PI / 180.0;

/// Spread relative to the quantisation floor below which the quantisation hides it.
const HIDDEN: f64 = 1.5;

/// Number of lags of the sums over correlated neighbours.
const LAGS: i32 = 3;

/// Factor of the variance of a mean of values whose neighbours have a correlation: $1+2\sum_k\rho^k$.
fn sum_factor(correlation: f64) -> f64 {
    1.0 + 2.0 * (1..=LAGS).map(|lag| correlation.powi(lag)).sum::<f64>()
}

/// Factor of the variance of a mean of their squares: $1+2\sum_k\rho^{2k}$.
fn square_factor(correlation: f64) -> f64 {
    sum_factor(correlation * correlation)
}

/// Sums over the bins near a knot.
struct NearKnot {
    bins: f64,
    /// Whether the ranges end near the knot.
    is_at_end: bool,
    /// Ranges and directions of the residuals.
    ranges: f64,
    directions: f64,
    /// Their fixed-pattern share of the variance.
    fixed_pattern: f64,
    /// Greatest quantisation floor, m.
    quantisation: f64,
    /// Independent samples of the drop-out, and the fraction that dropped.
    drop_samples: f64,
    dropped: f64,
}

impl ErrorSources<'_> {
    /// Variance of the bias at a knot due to the errors of the planes, m². The plane is that of the core:
    /// an error of its bearing has opposite signs on the two sides.
    fn plane_variance(&self, knot: &Knot, distance: f64, law: DistanceLaw) -> f64 {
        let cos = knot.incidence.cos();
        let by_distance = law.bias(self.plane[0], 1.0) / cos;
        let by_bearing = self.asymmetry * distance * knot.incidence.tan() / cos * self.plane[1];
        by_distance.powi(2) + by_bearing.powi(2)
    }

    fn near(&self, incidence: f64) -> NearKnot {
        let within = |bin: &&IncidenceBin, width: f64| (bin.incidence - incidence).abs() <= width;
        let residuals = self
            .residuals
            .iter()
            .filter(|bin| within(bin, 2.0 * self.width));
        let bins = self.bins.iter().filter(|bin| within(bin, self.width));
        let sum = |value: &dyn Fn(&IncidenceBin) -> f64| residuals.clone().map(value).sum::<f64>();
        let ranges = sum(&|bin| bin.ranges).max(1.0);
        let samples = |bin: &IncidenceBin| bin.effective_samples(self.drop_correlation);
        let groups: Vec<[f64; 2]> = bins
            .clone()
            .map(|bin| [bin.drop_out(), samples(bin)])
            .collect();
        let all_samples = groups.iter().map(|[_, samples]| samples).sum::<f64>();
        let drop_samples = all_samples / dispersion(&groups);
        let dropped = bins
            .clone()
            .map(|bin| samples(bin) * bin.drop_out())
            .sum::<f64>();
        let with_ranges = self.residuals.iter().filter(|bin| bin.ranges > 0.0);
        let widest = with_ranges.map(|bin| bin.incidence).fold(0.0, f64::max);
        NearKnot {
            is_at_end: incidence > widest - NEAR_END,
            bins: f64::max(bins.clone().count() as f64, 1.0),
            ranges,
            directions: sum(&|bin| bin.directions).max(1.0),
            fixed_pattern: sum(&|bin| bin.fixed_pattern * bin.ranges) / ranges,
            quantisation: bins.map(|bin| bin.quantisation_floor).fold(0.0, f64::max),
            drop_samples,
            dropped: dropped / all_samples.max(1e-9),
        }
    }
}
