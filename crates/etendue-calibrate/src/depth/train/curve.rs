//! Bias over incidence with its uncertainty.

use super::clusters::jackknife_variance;
use super::covariance::WeightUncertainty;
use super::shape::RemainingBias;
use crate::depth::loss::{DepthObjective, DepthUnknowns};
use crate::depth::model::DepthModel;
use etendue_physics::statistics::nearest_quantile;
use nalgebra::DMatrix;

/// The bias at one incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BiasCurvePoint {
    /// Incidence, rad.
    pub incidence: f64,
    /// Bias $\epsilon$ at the depth of the curve, m.
    pub bias: f64,
    /// Its standard deviation, m: of independent and correlated errors, of the models of the hold-out, and of
    /// the shape.
    pub sd: f64,
    /// Its standard deviation due to independent noise only, m.
    pub noise_sd: f64,
}

/// Estimated bias over incidence with its uncertainty due to independent noise and correlated errors (see
/// [`super::covariance`]).
///
/// The curve of [`train`](super::train) excludes a wrong shape of the model; that of
/// [`train_and_test`](super::train_and_test) includes it. Both exclude systematic errors of the incidence.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasCurve {
    /// Points at every degree from 0 to 85.
    pub points: Vec<BiasCurvePoint>,
    /// Depth of the curve, m: the median depth of the map.
    pub depth: f64,
    /// Covariance of the weights.
    pub covariance: DMatrix<f64>,
    /// Condition number of the curvature of the weights, with poses eliminated.
    pub condition: f64,
    /// Standard deviation of the noise of the depths according to the residual loss, m.
    pub noise: f64,
    /// Number of scans.
    pub scans: usize,
    /// 1st and 99th percentile of the incidences, rad.
    pub seen: [f64; 2],
}

/// Half width of the 95 % interval, relative to the bias, below which the curve is determined.
const DETERMINED_FRACTION: f64 = 0.5;

/// Least number of scans for an estimate of the errors that the points of a scan have in common.
const ENOUGH_SCANS: usize = 5;

impl BiasCurve {
    pub(super) fn new(
        objective: &DepthObjective<'_>,
        at: &DepthUnknowns,
        incidences: &[f64],
    ) -> Self {
        let uncertainty = WeightUncertainty::new(objective, at);
        let depth = objective.median_depth();
        let degrees = (0..=85).map(|degree| f64::from(degree).to_radians());
        let sd = |incidence, of| deviation(&at.model, of, depth, incidence);
        let point = |incidence| BiasCurvePoint {
            incidence,
            bias: at.model.bias(depth, incidence),
            sd: sd(incidence, &uncertainty.covariance),
            noise_sd: sd(incidence, &uncertainty.from_noise),
        };
        Self {
            points: degrees.map(point).collect(),
            depth,
            covariance: uncertainty.covariance,
            condition: uncertainty.condition,
            noise: uncertainty.noise,
            scans: objective.map().world_from_lidar().len(),
            seen: [0.01, 0.99]
                .map(|probability| nearest_quantile(incidences, probability).unwrap_or(0.0)),
        }
    }

    /// Ratio of the standard deviation to that of independent noise, root mean squares over the observed
    /// incidences, at least 1.
    pub fn widened(&self) -> f64 {
        let seen = || self.points.iter().filter(|p| self.is_observed(p));
        let square = |of: fn(&BiasCurvePoint) -> f64| seen().map(|p| of(p).powi(2)).sum::<f64>();
        (square(|p| p.sd) / square(|p| p.noise_sd)).sqrt().max(1.0)
    }

    /// Whether a point is within the observed incidences.
    fn is_observed(&self, point: &BiasCurvePoint) -> bool {
        self.seen[0] <= point.incidence && point.incidence <= self.seen[1]
    }

    /// Widens the interval by the differences between the models of the hold-out and by the bias that they leave.
    ///
    /// The models of $K$ blocks, each trained without one block, give the jackknife variance
    /// $\frac{K-1}{K}\sum_k (\epsilon_k - \bar\epsilon)^2$; the interval contains the larger of it and the
    /// variance so far. The square of the bias that the models leave according to the held-out scans is added.
    pub(super) fn widen(&mut self, models: &[DepthModel], left: &RemainingBias) {
        let depth = self.depth;
        for point in &mut self.points {
            let biases: Vec<f64> = models
                .iter()
                .map(|model| model.bias(depth, point.incidence))
                .collect();
            let variance = point.sd.powi(2).max(jackknife_variance(&biases));
            point.sd = variance.sqrt().hypot(left.bias(depth, point.incidence));
        }
    }

    /// Longest span of observed incidences over which the curve is determined, rad: the 95 % interval extends
    /// by less than half of the bias.
    pub fn determined(&self) -> Option<[f64; 2]> {
        let known = |p: &BiasCurvePoint| {
            self.is_observed(p) && 1.96 * p.sd < DETERMINED_FRACTION * p.bias.abs()
        };
        self.points
            .split(|p| !known(p))
            .filter(|span| span.len() > 1)
            .max_by_key(|span| span.len())
            .map(|span| [span[0].incidence, span[span.len() - 1].incidence])
    }

    /// Description of the determined span for the user.
    pub fn verdict(&self) -> String {
        let [low, high] = self.seen.map(f64::to_degrees);
        let Some(span) = self.determined() else {
            return format!(
                "the bias is not determined: its 95 % interval extends by more than half of the bias at all \
                 observed incidences, from {low:.0} to {high:.0} degrees{}",
                self.caveat()
            );
        };
        let [from, to] = span.map(f64::to_degrees);
        let within = |p: &&BiasCurvePoint| span[0] <= p.incidence && p.incidence <= span[1];
        let sd = self.points.iter().filter(within).map(|p| p.sd);
        let at_end = self.points.iter().rfind(within);
        format!(
            "the bias is determined between {from:.0} and {to:.0} degrees (standard deviation up \
             to {:.2} mm; {:.2} mm at {to:.0} degrees and {:.1} m); elsewhere its interval is not small \
             compared with the bias{}",
            sd.fold(0.0, f64::max) * 1e3,
            at_end.map_or(0.0, |p| p.bias) * 1e3,
            self.depth,
            self.caveat()
        )
    }

    /// Caveat if there are too few scans.
    fn caveat(&self) -> String {
        if self.scans < ENOUGH_SCANS {
            return format!(
                "; {} scans are too few to estimate correlated errors: the interval may be too narrow",
                self.scans
            );
        }
        String::new()
    }
}

/// Standard deviation of the bias for a covariance of the weights, m.
fn deviation(model: &DepthModel, covariance: &DMatrix<f64>, depth: f64, incidence: f64) -> f64 {
    let mut slopes = vec![0.0; model.weight_count()];
    model.correct_with_slopes(depth, incidence, &mut slopes);
    let slopes = nalgebra::DVector::from_vec(slopes);
    slopes.dot(&(covariance * &slopes)).max(0.0).sqrt()
}
