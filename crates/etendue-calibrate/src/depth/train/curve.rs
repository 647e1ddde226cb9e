//! How well a learnt bias is known, and where.

use super::covariance::WeightUncertainty;
use crate::depth::{DepthModel, DepthObjective, DepthUnknowns};
use etendue_physics::statistics::nearest_quantile;
use nalgebra::DMatrix;

/// The bias at one incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BiasCurvePoint {
    /// Incidence, rad.
    pub incidence: f64,
    /// Bias $\epsilon$ at the curve's depth, m.
    pub bias: f64,
    /// Its standard deviation, m.
    pub sd: f64,
    /// What noise alone, independent from point to point, would leave of it, m.
    pub sd_of_noise: f64,
}

/// A learnt bias over incidence with its uncertainty: the larger, in every direction of the
/// weights, of what noise and of what shared errors leave ([`super::covariance`] has both).
///
/// A model of the wrong shape and incidences that are wrong everywhere in one way are **not** in it.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasCurve {
    /// Every degree from 0 to 85.
    pub points: Vec<BiasCurvePoint>,
    /// Median depth that the curve is drawn at, m.
    pub depth: f64,
    /// Covariance of the weights.
    pub covariance: DMatrix<f64>,
    /// Condition of the weights' curvature, poses eliminated, each weight in its own unit.
    pub condition: f64,
    /// Standard deviation of the depths' noise that the loss left suggests, m.
    pub noise: f64,
    /// Scans it was learnt from.
    pub scans: usize,
    /// 1st and 99th percentile of the incidences used, rad.
    pub seen: [f64; 2],
}

/// The curve counts as determined where its standard deviation is below this, m...
const KNOWN: f64 = 2e-3;
/// ... or below this share of the bias.
const KNOWN_SHARE: f64 = 0.2;

/// Fewer scans than this do not tell what errors the points of a scan share.
const ENOUGH_SCANS: usize = 5;

impl BiasCurve {
    pub(super) fn new(
        objective: &DepthObjective<'_>,
        at: &DepthUnknowns,
        incidences: &[f64],
    ) -> Self {
        let known = WeightUncertainty::new(objective, at);
        let depth = objective.median_depth();
        let degrees = (0..=85).map(|degree| f64::from(degree).to_radians());
        let sd = |incidence, of| deviation(&at.model, of, depth, incidence);
        let point = |incidence| BiasCurvePoint {
            incidence,
            bias: at.model.bias(depth, incidence),
            sd: sd(incidence, &known.covariance),
            sd_of_noise: sd(incidence, &known.from_noise),
        };
        Self {
            points: degrees.map(point).collect(),
            depth,
            covariance: known.covariance,
            condition: known.condition,
            noise: known.noise,
            scans: objective.map().world_from_lidar().len(),
            seen: [0.01, 0.99].map(|share| nearest_quantile(incidences, share).unwrap_or(0.0)),
        }
    }

    /// How many times wider than noise alone would errors that scans and places share make the
    /// interval, at the seen incidence where they do most.
    pub fn widened(&self) -> f64 {
        let seen = self.points.iter().filter(|p| self.has_seen(p));
        let times = seen
            .filter(|p| p.sd_of_noise > 0.0)
            .map(|p| p.sd / p.sd_of_noise);
        times.fold(1.0, f64::max)
    }

    fn has_seen(&self, point: &BiasCurvePoint) -> bool {
        self.seen[0] <= point.incidence && point.incidence <= self.seen[1]
    }

    /// The longest span of seen incidences, rad, over which the curve is determined.
    pub fn determined(&self) -> Option<[f64; 2]> {
        let known =
            |p: &BiasCurvePoint| self.has_seen(p) && p.sd < KNOWN.max(KNOWN_SHARE * p.bias.abs());
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
             to {:.2} mm at {:.1} m); outside, the curve is extrapolated{}",
            sd * 1e3,
            self.depth,
            self.caveat()
        )
    }

    /// What the interval cannot say.
    fn caveat(&self) -> String {
        if self.scans < ENOUGH_SCANS {
            return format!(
                "; {} scans are too few to tell what errors they share: the interval may be too \
                 narrow",
                self.scans
            );
        }
        String::new()
    }
}

fn deviation(model: &DepthModel, covariance: &DMatrix<f64>, depth: f64, incidence: f64) -> f64 {
    let mut slopes = vec![0.0; model.weight_count()];
    model.correct_with_slopes(depth, incidence, &mut slopes);
    let slopes = nalgebra::DVector::from_vec(slopes);
    slopes.dot(&(covariance * &slopes)).max(0.0).sqrt()
}
