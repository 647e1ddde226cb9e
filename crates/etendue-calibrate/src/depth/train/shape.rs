//! Comparison of a model with a bias of free shape.
//!
//! A model of the wrong shape can lower the thickness of a map and increase the error of the bias: two powers of
//! the incidence fit the bias beyond 75 degrees at the cost of a wrong one below. A [`TableBias`] assumes no
//! shape. Trained on the scans as measured it estimates the bias $b$ over the incidence, trained on the scans
//! corrected by a model the bias $r$ that the model leaves. The model reduces the error of the bias if
//! $$D = \sum_g p_g \left(r_g^2 - b_g^2\right)$$
//! is below zero, with the share $p_g$ of the used measurements in each degree of incidence. Both tables have the
//! error $e$ of the same scans in common, so that the error of $D$ is $2 \sum_g p_g\,(r_g - b_g)\,e_g$; its
//! variance follows from the covariance of the tables.

use super::settings::{PoseUncertainty, TrainingSettings};
use super::training::{PoseChange, train};
use crate::depth::error::DepthError;
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::{DepthModel, TableBias};
use etendue_physics::statistics::nearest_quantile;
use nalgebra::{DMatrix, DVector};

/// Number of bins of one degree.
const BINS: usize = 90;

/// Bias of free shape without and with the correction of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeDifference {
    /// Bias of the scans as measured.
    before: FreeBias,
    /// Bias that the model leaves.
    after: FreeBias,
    /// Share of the used measurements in each degree of incidence.
    share: Vec<f64>,
}

impl ShapeDifference {
    /// Trains tables on the scans of a model without and with its correction. `poses` is the result for the
    /// poses in the training of the model.
    pub(super) fn new(
        map: &DepthMap,
        model: &DepthModel,
        poses: Option<PoseChange>,
        training: &TrainingSettings,
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        // Tables with the prior of the poses of the model
        let of_table = TrainingSettings {
            pose_uncertainty: poses.map_or(training.pose_uncertainty, |change| {
                PoseUncertainty::Stated(change.prior)
            }),
            ..training.clone()
        };
        let free_bias = |map: &DepthMap| {
            let start = DepthModel::Table(table(map));
            let trained = train(map, None, &start, &of_table, options)?;
            Ok::<_, DepthError>(FreeBias {
                covariance: trained.curve.covariance,
                model: trained.model,
            })
        };

        // Share of the measurements in every degree
        let used = map.incidences_used();
        let mut share = vec![0.0; BINS];
        for incidence in &used {
            share[bin_of(*incidence)] += 1.0 / used.len() as f64;
        }
        Ok(Self {
            before: free_bias(map)?,
            after: free_bias(&map.corrected(model))?,
            share,
        })
    }

    /// Root mean square bias over the used measurements without and with correction, m.
    pub fn error_before_and_after(&self) -> [f64; 2] {
        [&self.before, &self.after].map(|free| {
            let bins = self.share.iter().enumerate();
            let squares = bins.map(|(bin, share)| share * free.bias(centre(bin)).powi(2));
            squares.sum::<f64>().sqrt()
        })
    }

    /// Whether the model reduces the error of the bias with 97.5 % confidence.
    pub fn is_reduced(&self) -> bool {
        // Change of the mean square, and its derivatives by the biases at the nodes
        let mut change = 0.0;
        let mut slope = DVector::zeros(self.before.model.weight_count());
        for (bin, share) in self.share.iter().enumerate() {
            let [before, after] = [&self.before, &self.after].map(|free| free.bias(centre(bin)));
            change += share * (after * after - before * before);
            slope += self.before.slopes(centre(bin)) * (2.0 * share * (after - before));
        }
        let variances = [&self.before, &self.after]
            .map(|free| slope.dot(&(&free.covariance * &slope)).max(0.0));
        let sd = variances[0].max(variances[1]).sqrt();
        change + 1.96 * sd < 0.0
    }

    /// Square of the part of the bias that the model leaves at an incidence beyond the 95 % interval of its
    /// estimate, m².
    pub(super) fn variance(&self, incidence: f64) -> f64 {
        let left = self.after.bias(incidence).abs();
        let slopes = self.after.slopes(incidence);
        let of_estimate = slopes.dot(&(&self.after.covariance * &slopes)).max(0.0);
        (left - 1.96 * of_estimate.sqrt()).max(0.0).powi(2)
    }
}

/// A trained table.
#[derive(Clone, Debug, PartialEq)]
struct FreeBias {
    model: DepthModel,
    /// Covariance of the biases at the nodes, m².
    covariance: DMatrix<f64>,
}

impl FreeBias {
    fn bias(&self, incidence: f64) -> f64 {
        self.model.bias(1.0, incidence)
    }

    /// Derivatives of the bias by the biases at the nodes.
    fn slopes(&self, incidence: f64) -> DVector<f64> {
        let mut slopes = vec![0.0; self.model.weight_count()];
        self.model.correct_with_slopes(1.0, incidence, &mut slopes);
        -DVector::from_vec(slopes)
    }
}

/// Table with nodes up to the first one beyond 99 % of the used measurements.
fn table(map: &DepthMap) -> TableBias {
    let used = map.incidences_used();
    let greatest = nearest_quantile(&used, 0.99).unwrap_or(0.0);
    let mut incidences = TableBias::standard().incidences;
    let beyond = incidences.iter().position(|node| *node >= greatest);
    incidences.truncate(beyond.map_or(incidences.len(), |last| last + 1));
    TableBias::zero(incidences)
}

/// Bin of an incidence, rad.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an angle in [0, 90] degrees"
)]
fn bin_of(incidence: f64) -> usize {
    (incidence.to_degrees() as usize).min(BINS - 1)
}

/// Incidence at the centre of a bin, rad.
fn centre(bin: usize) -> f64 {
    (bin as f64 + 0.5).to_radians()
}
