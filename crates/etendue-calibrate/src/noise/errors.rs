//! Standard errors of a profile that include correlation, differences between places, and the plane fit.

use super::smooth::SmoothCurve;
use super::statistics::{IncidenceBin, dispersion, wilson};
use etendue_physics::profile::{DistanceLaw, Knot, Profile};
use etendue_physics::statistics::median;

/// Data that the standard errors of knots depend on.
pub(super) struct ErrorSources<'a> {
    /// Bins of the panels.
    pub bins: &'a [IncidenceBin],
    /// Bins of the errors about the bias curve.
    pub residuals: &'a [IncidenceBin],
    /// The bias curve.
    pub bias: Option<&'a SmoothCurve>,
    /// Variance between bins that the weights of the bias curve contain, m².
    pub between_bins: f64,
    /// Half width of the neighbourhood of a knot, rad.
    pub width: f64,
    /// Correlation of the drop-outs of one direction in bins that do not determine it.
    pub drop_correlation: f64,
    /// Fraction of the bins on one side of the normal in excess of the other: -1 to 1.
    pub asymmetry: f64,
    /// Standard errors of distance (m) and bearing (rad) of the panels together.
    pub plane: [f64; 2],
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
/// The variance of the bias is that of its [curve](SmoothCurve::variance), whose weights contain the noise of each bin and
/// the variance between bins, times the factor $\tau_f = 1 + 2\sum_k \rho_k$ of correlated neighbours, plus that of the
/// plane (at its distance, and at its bearing where one side prevails). The variance between bins is one number for a panel,
/// the median over its bins. The part of it that is fixed-pattern noise grows with the spread: where the spread $s$ exceeds its median
/// $\tilde s$, the share $b$ of that variance in the weights is larger by $s^2/\tilde s^2$, which gives the factor
/// $1 + b\,(s^2/\tilde s^2 - 1)$.
///
/// The variance of the logarithm of the spread is that of $n$ ranges in $m$ directions with the fixed-pattern share $F$,
/// $\left[(1-F)^2\,\tau_t/n + F^2\,\tau_f/m + 2F(1-F)/n\right]/2$ with factors of squared correlations.
pub(super) fn set_errors(profile: &mut Profile, sources: &ErrorSources) {
    let correlation = profile.correlation;
    let temporal = correlation.neighbour();
    let fixed = correlation.fixed_pattern_neighbour();
    let distance = profile.distance;
    let law = profile.law;
    let typical = sources.typical_spread();
    let knots = profile.knots.iter_mut();
    for knot in knots.filter(|knot| !knot.extrapolated) {
        let near = sources.near(knot.incidence);
        let [independent, shared] = [
            (1.0 - near.fixed_pattern) / near.ranges,
            near.fixed_pattern / near.directions,
        ];
        // Bias: its curve, and the plane
        let curve = sources.curve_variance(near.widest.min(knot.incidence)) * sum_factor(fixed);
        let curve = curve * ErrorSources::excess(knot.spread, near.between_share, typical);
        knot.bias_error = (curve + sources.plane_variance(knot, distance, law)).sqrt();
        // Spread: noise, and what the quantisation hides
        let end = if near.is_at_end { END_OF_CURVE } else { 1.0 };
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
    /// Whether the ranges end near the knot.
    is_at_end: bool,
    /// Widest incidence with ranges, rad.
    widest: f64,
    /// Ranges and directions of the residuals.
    ranges: f64,
    directions: f64,
    /// Their fixed-pattern share of the variance.
    fixed_pattern: f64,
    /// Mean share of the variance between bins in that of a bin.
    between_share: f64,
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

    /// Variance of the bias curve for independent bins, m².
    fn curve_variance(&self, incidence: f64) -> f64 {
        self.bias.map_or(0.0, |curve| curve.variance(incidence))
    }

    /// Factor on the variance of the bias curve where a spread (m) exceeds the typical one.
    fn excess(spread: f64, between_share: f64, typical: f64) -> f64 {
        1.0 + between_share * ((spread / typical).powi(2) - 1.0).max(0.0)
    }

    /// Median of the spreads of the bins, m.
    fn typical_spread(&self) -> f64 {
        let spreads = self.residuals.iter().filter_map(|bin| bin.error);
        let mut spreads: Vec<f64> = spreads.map(|error| error.sd).collect();
        median(&mut spreads).unwrap_or(0.0).max(1e-5)
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
        let own = bins.clone().filter_map(IncidenceBin::mean_variance);
        let shares = own.map(|own| self.between_bins / (own + self.between_bins).max(1e-12));
        let [share, count] = shares.fold([0.0, 0.0], |[sum, n], share| [sum + share, n + 1.0]);
        let with_ranges = self.residuals.iter().filter(|bin| bin.ranges > 0.0);
        let widest = with_ranges.map(|bin| bin.incidence).fold(0.0, f64::max);
        NearKnot {
            is_at_end: incidence > widest - NEAR_END,
            widest,
            ranges,
            directions: sum(&|bin| bin.directions).max(1.0),
            fixed_pattern: sum(&|bin| bin.fixed_pattern * bin.ranges) / ranges,
            between_share: share / f64::max(count, 1.0),
            quantisation: bins.map(|bin| bin.quantisation_floor).fold(0.0, f64::max),
            drop_samples,
            dropped: dropped / all_samples.max(1e-9),
        }
    }
}
