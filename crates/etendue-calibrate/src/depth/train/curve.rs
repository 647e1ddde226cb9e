//! How well a learnt bias is known, and where.

use crate::depth::{DepthModel, Objective, Unknowns};
use nalgebra::DMatrix;

/// The bias at one incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Incidence, rad.
    pub incidence: f64,
    /// Bias $\epsilon$ at the curve's depth, m.
    pub bias: f64,
    /// Its standard deviation from the noise of the depths, m.
    pub sd: f64,
}

/// A learnt bias over incidence with its uncertainty.
///
/// Noise $\delta d$ of the depths moves the minimum by $-H^{-1} M\\,\delta d$, with the curvature
/// $H$ and $M = \partial^2 L/\partial w\\,\partial d$; so the covariance is
/// $\sigma^2 H^{-1} M M^\top H^{-1}$. The overlap of neighbourhoods is in $M$; the variance
/// $\sigma^2$ is taken from the loss that is left. A model of the wrong shape, wrong incidences and
/// wrong poses are **not** in it.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasCurve {
    /// Every degree from 0 to 85.
    pub points: Vec<CurvePoint>,
    /// Median depth that the curve is drawn at, m.
    pub depth: f64,
    /// Covariance of the weights.
    pub covariance: DMatrix<f64>,
    /// Condition of the weights' curvature, poses eliminated, each weight in its own unit.
    pub condition: f64,
    /// Standard deviation of the depths' noise that the loss left suggests, m.
    pub noise: f64,
    /// 1st and 99th percentile of the incidences used, rad.
    pub seen: [f64; 2],
}

/// The curve counts as determined where its standard deviation is below this, m...
const KNOWN: f64 = 2e-3;
/// ... or below this share of the bias.
const KNOWN_SHARE: f64 = 0.2;

impl BiasCurve {
    pub(super) fn new(objective: &Objective<'_>, at: &Unknowns, incidences: &[f64]) -> Self {
        let (covariance, condition, noise) = covariance(objective, at);
        let depth = objective.median_depth();
        let degrees = (0..=85).map(|degree| f64::from(degree).to_radians());
        let point = |incidence| CurvePoint {
            incidence,
            bias: at.model.bias(depth, incidence),
            sd: deviation(&at.model, &covariance, depth, incidence),
        };
        Self {
            points: degrees.map(point).collect(),
            depth,
            covariance,
            condition,
            noise,
            seen: [quantile(incidences, 0.01), quantile(incidences, 0.99)],
        }
    }

    /// The longest span of seen incidences, rad, over which the curve is determined.
    pub fn determined(&self) -> Option<[f64; 2]> {
        let known = |p: &CurvePoint| {
            let seen = self.seen[0] <= p.incidence && p.incidence <= self.seen[1];
            seen && p.sd < KNOWN.max(KNOWN_SHARE * p.bias.abs())
        };
        self.points
            .split(|p| !known(p))
            .filter(|span| span.len() > 1)
            .max_by_key(|span| span.len())
            .map(|span| [span[0].incidence, span[span.len() - 1].incidence])
    }

    /// The same in words.
    pub fn verdict(&self) -> String {
        let [low, high] = self.seen.map(f64::to_degrees);
        let Some(span) = self.determined() else {
            return format!(
                "the bias is not determined: its uncertainty exceeds {:.0} mm everywhere between \
                 {low:.0} and {high:.0} degrees, where there are data; record more scans",
                KNOWN * 1e3
            );
        };
        let [from, to] = span.map(f64::to_degrees);
        let largest = self.points.iter().filter(|p| p.incidence <= span[1]);
        let largest = largest.filter(|p| p.incidence >= span[0]);
        let sd = largest.map(|p| p.sd).fold(0.0, f64::max);
        format!(
            "the bias is determined between {from:.0} and {to:.0} degrees (standard deviation up \
             to {:.2} mm at {:.1} m); outside, the curve is extrapolated",
            sd * 1e3,
            self.depth
        )
    }
}

/// Covariance of the weights, condition of their curvature, and the noise of the depths, m.
fn covariance(objective: &Objective<'_>, at: &Unknowns) -> (DMatrix<f64>, f64, f64) {
    let weights = at.model.weight_count();
    let here = objective.curvature_and_noise(at);
    let response = objective.noise_response(at);
    let variance = if response > 0.0 {
        here.value / response
    } else {
        f64::INFINITY
    };
    let unknown = DMatrix::from_element(weights, weights, f64::INFINITY);
    let (Some(inverse), Some(mixed)) = (inverted(here.matrix), here.by_depth) else {
        return (unknown, f64::INFINITY, variance.sqrt());
    };
    let moved = &inverse * mixed;
    let moved = moved.rows(0, weights);
    let of_weights = inverse.view((0, 0), (weights, weights)).into_owned();
    let covariance = moved * moved.transpose() * variance;
    (covariance, condition(&of_weights), variance.sqrt())
}

/// Inverse of the curvature; directions that the data say nothing of are left out.
fn inverted(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let scale = matrix
        .diagonal()
        .map(|h| if h > 0.0 { 1.0 / h.sqrt() } else { 0.0 });
    let scale = DMatrix::from_diagonal(&scale);
    let inverse = (&scale * matrix * &scale).pseudo_inverse(1e-10).ok()?;
    Some(&scale * inverse * &scale)
}

fn condition(inverse: &DMatrix<f64>) -> f64 {
    let values = inverse.symmetric_eigenvalues();
    values.max() / values.min()
}

fn deviation(model: &DepthModel, covariance: &DMatrix<f64>, depth: f64, incidence: f64) -> f64 {
    let mut slopes = vec![0.0; model.weight_count()];
    model.correct_with_slopes(depth, incidence, &mut slopes);
    let slopes = nalgebra::DVector::from_vec(slopes);
    slopes.dot(&(covariance * &slopes)).max(0.0).sqrt()
}

/// Of sorted values; zero of none.
pub(in crate::depth) fn quantile(sorted: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a length, in [0, length)"
    )]
    let at = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(at).copied().unwrap_or(0.0)
}
