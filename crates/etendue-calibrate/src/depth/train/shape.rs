//! Comparison of a model with a bias of free shape.
//!
//! A model of the wrong shape can lower the thickness of a map and increase the error of the bias: two powers of
//! the incidence fit the bias beyond 75 degrees at the cost of a wrong one below. A [`TableBias`] assumes no
//! shape. Trained on the scans as measured it estimates the bias $b$ over incidence and depth, trained on the scans
//! corrected by a model the bias $r$ that the model leaves. The model reduces the error of the bias if
//! $$D = \sum_g p_g \left(r_g^2 - b_g^2\right)$$
//! is below zero, with the share $p_g$ of the used measurements in cells of incidence and depth. Both tables have the
//! error $e$ of the same scans in common, so that the error of $D$ is $2 \sum_g p_g\,(r_g - b_g)\,e_g$; its
//! variance follows from the covariance of the tables. The model must also leave at most a third of the bias.
//!
//! A bias proportional to $1/\cos\gamma$ displaces walls along their normals and does not make them thicker: only
//! the few measurements near normal incidence determine it. In the built-in corridor tables have an error of
//! 6 mm in this mode. A model that does not displace walls (its mean displacement along the normals is below
//! its standard deviation) is therefore compared without the mode; one that does, with it.

use super::settings::{PoseUncertainty, TrainingSettings};
use super::training::{PoseChange, train};
use crate::depth::error::DepthError;
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::{DepthModel, TableBias};
use etendue_physics::statistics::nearest_quantile;
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;

/// Size of the cells of incidence, degrees.
const CELL_DEG: f64 = 1.0;
/// Size of the cells of depth, m.
const CELL_DEPTH: f64 = 1.0;

/// Largest root mean square bias that a model leaves, relative to that without it.
const LARGEST_SHARE_LEFT: f64 = 1.0 / 3.0;

/// Bias of free shape without and with the correction of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeDifference {
    /// Bias of the scans as measured.
    before: FreeBias,
    /// Bias that the model leaves.
    after: FreeBias,
    /// Cells of incidence and depth with their share of the used measurements.
    cells: Vec<Cell>,
}

/// Cell of incidence and depth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    /// Depth at its centre, m.
    depth: f64,
    /// Incidence at its centre, rad.
    incidence: f64,
    /// Share of the used measurements.
    share: f64,
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

        Ok(Self {
            before: free_bias(map)?,
            after: free_bias(&map.corrected(model))?,
            cells: cells(map),
        })
    }

    /// Root mean square bias over the used measurements without and with correction, m.
    pub fn error_before_and_after(&self) -> [f64; 2] {
        [&self.before, &self.after].map(|free| {
            let square = |cell: &Cell| cell.share * free.bias(cell).powi(2);
            self.cells.iter().map(square).sum::<f64>().sqrt()
        })
    }

    /// Whether the model reduces the error of the bias with 97.5 % confidence, and leaves at most a third of it.
    pub fn is_reduced(&self) -> bool {
        self.share_left() <= LARGEST_SHARE_LEFT && self.is_significant()
    }

    /// Root mean square bias that the model leaves relative to that without it.
    fn share_left(&self) -> f64 {
        if self.displaces_walls() {
            let [before, after] = self.error_before_and_after();
            return after / before;
        }
        let [before, after] = [&self.before, &self.after].map(|free| {
            let displacement = self.displacement(|cell| free.bias(cell));
            displacement[1]
        });
        after / before
    }

    /// Whether the correction of the model displaces walls along their normals more than it changes their
    /// thickness.
    fn displaces_walls(&self) -> bool {
        let [mean, sd] = self.displacement(|cell| self.before.bias(cell) - self.after.bias(cell));
        mean.abs() > sd
    }

    /// Mean and standard deviation of the displacement of the used measurements along the normals by a bias, m.
    fn displacement(&self, bias: impl Fn(&Cell) -> f64) -> [f64; 2] {
        let along = |cell: &Cell| bias(cell) * cell.incidence.cos();
        let mean: f64 = self.cells.iter().map(|c| c.share * along(c)).sum();
        let square = |c: &Cell| c.share * (along(c) - mean).powi(2);
        [mean, self.cells.iter().map(square).sum::<f64>().sqrt()]
    }

    /// Whether the decrease of the mean square bias is significant.
    fn is_significant(&self) -> bool {
        // Change of the mean square, and its derivatives by the biases at the nodes
        let mut change = 0.0;
        let mut slope = DVector::zeros(self.before.model.weight_count());
        for cell in &self.cells {
            let [before, after] = [&self.before, &self.after].map(|free| free.bias(cell));
            change += cell.share * (after * after - before * before);
            slope += self.before.slopes(cell) * (2.0 * cell.share * (after - before));
        }
        let variances = [&self.before, &self.after]
            .map(|free| slope.dot(&(&free.covariance * &slope)).max(0.0));
        let sd = variances[0].max(variances[1]).sqrt();
        change + 1.96 * sd < 0.0
    }

    /// Square of the part of the bias that the model leaves at a depth (m) and an incidence (rad) beyond the 95 % interval of its
    /// estimate, m².
    pub(super) fn variance(&self, depth: f64, incidence: f64) -> f64 {
        let cell = Cell {
            depth,
            incidence,
            share: 0.0,
        };
        let displaced = if self.displaces_walls() {
            0.0
        } else {
            self.displacement(|cell| self.after.bias(cell))[0] / incidence.cos()
        };
        let left = (self.after.bias(&cell) - displaced).abs();
        let slopes = self.after.slopes(&cell);
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
    fn bias(&self, cell: &Cell) -> f64 {
        self.model.bias(cell.depth, cell.incidence)
    }

    /// Derivatives of the bias by the weights of the table.
    fn slopes(&self, cell: &Cell) -> DVector<f64> {
        let mut slopes = vec![0.0; self.model.weight_count()];
        self.model
            .correct_with_slopes(cell.depth, cell.incidence, &mut slopes);
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

/// Cells of the used measurements.
fn cells(map: &DepthMap) -> Vec<Cell> {
    // Number of measurements in every cell
    let mut counts: BTreeMap<[u32; 2], f64> = BTreeMap::new();
    let used = map.measurements().iter().zip(map.used());
    for (m, _) in used.filter(|(_, used)| *used) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an angle in [0, 90] degrees and a depth of some metres"
        )]
        let key = [m.incidence.to_degrees() / CELL_DEG, m.depth / CELL_DEPTH].map(|x| x as u32);
        *counts.entry(key).or_default() += 1.0;
    }
    // Centres and shares
    let all: f64 = counts.values().sum();
    let cell = |([incidence, depth], count): ([u32; 2], f64)| Cell {
        depth: CELL_DEPTH * (f64::from(depth) + 0.5),
        incidence: (CELL_DEG * (f64::from(incidence) + 0.5)).to_radians(),
        share: count / all,
    };
    counts.into_iter().map(cell).collect()
}
