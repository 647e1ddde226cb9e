//! Bias of free shape that a model leaves.
//!
//! A [`TableBias`] assumes no shape. Trained on the scans corrected by a model, it estimates the bias that the
//! model leaves. On scans that neither was trained on, the table makes the map thinner if the shape of the model is
//! wrong, and not if it is right (see [`super::hold_out`]).
//!
//! Two modes of the table are excluded from the bias that is left. A bias proportional to $1/\cos\gamma$ displaces
//! walls along their normals, and one proportional to the depth scales the map: neither makes the map
//! thicker, so that the table does not determine them.

use super::settings::{PoseUncertainty, TrainingSettings};
use super::training::{TrainingResult, train};
use crate::depth::error::DepthError;
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::{DepthModel, TableBias};
use etendue_physics::statistics::{mean, nearest_quantile};
use nalgebra::{Matrix2, Vector2};
use std::collections::BTreeMap;

/// Size of the cells of incidence, degrees.
const CELL_DEG: f64 = 1.0;
/// Size of the cells of depth, m.
const CELL_DEPTH: f64 = 1.0;

/// Table trained on scans corrected by a trained model, with the prior of its poses.
pub(super) fn remaining_bias(
    map: &DepthMap,
    trained: &TrainingResult,
    training: &TrainingSettings,
    options: &DepthMapOptions,
) -> Result<DepthModel, DepthError> {
    let prior = trained
        .poses
        .map(|change| PoseUncertainty::Stated(change.prior));
    let of_table = TrainingSettings {
        pose_uncertainty: prior.unwrap_or(training.pose_uncertainty),
        ..training.clone()
    };
    let start = DepthModel::Table(table(map));
    let corrected = map.corrected(&trained.model);
    Ok(train(&corrected, None, &start, &of_table, options)?.model)
}

/// Bias of free shape that the models of several blocks leave, without the modes that displace walls.
///
/// Its shape is that of the tables. Its magnitude is limited to that which the held-out scans confirm: a bias
/// $r$ raises the loss by the variance of its displacement $r\cos\gamma$ along the normals.
#[derive(Clone, Debug)]
pub(super) struct RemainingBias {
    tables: Vec<DepthModel>,
    /// Coefficients of $1/\cos\gamma$ and of the depth in each table.
    modes: Vec<Vector2<f64>>,
    /// Factor of the tables, at most 1.
    scale: f64,
}

impl RemainingBias {
    /// The bias according to tables over the incidences and depths of a map, which raises the loss of held-out
    /// scans by `loss`, m².
    pub fn new(map: &DepthMap, tables: &[DepthModel], loss: f64) -> Self {
        Self::over(&cells(map), tables, loss)
    }

    /// The bias according to tables over some cells.
    fn over(cells: &[Cell], tables: &[DepthModel], loss: f64) -> Self {
        // Tables without the modes
        let mut left = Self {
            tables: tables.to_vec(),
            modes: tables.iter().map(|table| modes(table, cells)).collect(),
            scale: 1.0,
        };

        // Magnitude of the displacement
        let square = |cell: &Cell| {
            let displacement = left.bias(cell.depth, cell.incidence) * cell.incidence.cos();
            cell.share * displacement.powi(2)
        };
        let variance: f64 = cells.iter().map(square).sum();
        if loss < variance {
            left.scale = (loss / variance).sqrt();
        }
        left
    }

    /// The remaining bias at a depth (m) and an incidence (rad), m.
    pub fn bias(&self, depth: f64, incidence: f64) -> f64 {
        let both = self.tables.iter().zip(&self.modes);
        let left = both.map(|(table, modes)| {
            table.bias(depth, incidence) - modes[0] / incidence.cos() - modes[1] * depth
        });
        self.scale * mean(&left.collect::<Vec<f64>>())
    }
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

/// Coefficients of $1/\cos\gamma$ and of the depth that fit the displacement of walls by a bias: least squares of the
/// component along the normals.
fn modes(bias: &DepthModel, cells: &[Cell]) -> Vector2<f64> {
    let mut matrix = Matrix2::zeros();
    let mut right = Vector2::zeros();
    for cell in cells {
        let along = cell.incidence.cos();
        let row = Vector2::new(1.0, cell.depth * along);
        matrix += row * row.transpose() * cell.share;
        right += row * (cell.share * along * bias.bias(cell.depth, cell.incidence));
    }
    matrix
        .try_inverse()
        .map_or_else(Vector2::zeros, |m| m * right)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::depth::model::{LinearBias, PolynomialBias};

    /// Cells of the walls of a corridor.
    fn corridor() -> Vec<Cell> {
        let cell = |degrees: u32| {
            let incidence = f64::from(degrees).to_radians();
            let wall = if degrees.is_multiple_of(2) { 1.2 } else { 1.8 };
            Cell {
                depth: wall / incidence.cos(),
                incidence,
                share: 1.0 / 80.0,
            }
        };
        (0..80).map(cell).collect()
    }

    #[test]
    fn a_scaled_map_has_no_remaining_bias() {
        let scaled = DepthModel::Linear(LinearBias {
            depth: 0.01,
            ..LinearBias::default()
        });
        let left = RemainingBias::over(&corridor(), &[scaled], 1.0);
        for cell in corridor() {
            assert!(left.bias(cell.depth, cell.incidence).abs() < 1e-12);
        }
    }

    /// The remaining bias explains the given loss, and is not larger than that of the tables.
    #[test]
    fn the_remaining_bias_explains_the_loss() {
        let bent = DepthModel::Polynomial(PolynomialBias::plain([0.0, 0.01]));
        let of_loss = |loss| {
            let left = RemainingBias::over(&corridor(), std::slice::from_ref(&bent), loss);
            let square = |cell: &Cell| {
                let along = left.bias(cell.depth, cell.incidence) * cell.incidence.cos();
                cell.share * along.powi(2)
            };
            corridor().iter().map(square).sum::<f64>()
        };
        let all = of_loss(1.0);
        assert!(all > 1e-8 && all < 1.0, "{all}");
        assert!((of_loss(1e-8) / 1e-8 - 1.0).abs() < 1e-9);
        assert_eq!(of_loss(0.0), 0.0);
    }
}
