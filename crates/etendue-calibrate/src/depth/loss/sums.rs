//! Sums of the curvature over terms.

use super::Placed;
use nalgebra::{DMatrix, Vector3};

/// Curvature of a part of the terms.
pub(super) struct Sums {
    pub matrix: DMatrix<f64>,
    pub by_depth: Option<DMatrix<f64>>,
}

impl Sums {
    /// Over so many unknowns; with the derivatives over the depths of so many measurements.
    pub fn new(unknowns: usize, depths: Option<usize>) -> Self {
        Self {
            matrix: DMatrix::zeros(unknowns, unknowns),
            by_depth: depths.map(|count| DMatrix::zeros(unknowns, count)),
        }
    }

    /// With another part's matrix.
    pub fn plus(mut self, other: &Self) -> Self {
        self.matrix += &other.matrix;
        self
    }
}

/// Rows of a Jacobian over the unknowns that touch one term.
pub(super) struct Rows {
    /// One row a residual, one column a local unknown.
    jacobian: DMatrix<f64>,
    /// The unknown that each column stands for.
    columns: Vec<usize>,
    /// First unknowns of the corrections, in rising order.
    corrections: Vec<usize>,
    weights: usize,
}

impl Rows {
    /// Zero rows over the weights and the corrections that move the given points.
    pub fn new(placed: &Placed, count: usize, points: impl Iterator<Item = usize>) -> Self {
        let mut corrections: Vec<usize> = points.filter_map(|p| placed.column(p)).collect();
        corrections.sort_unstable();
        corrections.dedup();
        let six = corrections.iter().flat_map(|&c| c..c + 6);
        let columns: Vec<usize> = (0..placed.weights).chain(six).collect();
        Self {
            jacobian: DMatrix::zeros(count, columns.len()),
            columns,
            corrections,
            weights: placed.weights,
        }
    }

    /// Adds to a row what a force and a torque on a point do.
    pub fn pull(
        &mut self,
        placed: &Placed,
        row: usize,
        point: usize,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
    ) {
        let column = placed.column(point).and_then(|first| {
            let local = self.corrections.binary_search(&first).ok()?;
            Some(self.weights + 6 * local)
        });
        let mut pulled = vec![0.0; self.columns.len()];
        placed.pull(point, force, torque, &mut pulled, column);
        for (sum, value) in self.jacobian.row_mut(row).iter_mut().zip(pulled) {
            *sum += value;
        }
    }

    /// Takes the mean off every column.
    pub fn centre(&mut self) {
        for mut column in self.jacobian.column_iter_mut() {
            let mean = column.mean();
            column.add_scalar_mut(-mean);
        }
    }

    /// Takes off every column what lies along `direction`, one number a row.
    pub fn project_off(&mut self, direction: &nalgebra::DVector<f64>) {
        let square = direction.norm_squared();
        if square > 0.0 {
            let along = self.jacobian.tr_mul(direction) / square;
            self.jacobian.ger(-1.0, direction, &along, 1.0);
        }
    }

    /// Adds `factor` times the rows' normal matrix.
    pub fn add_to(&self, sums: &mut Sums, factor: f64) {
        let square = self.jacobian.tr_mul(&self.jacobian);
        for (i, &row) in self.columns.iter().enumerate() {
            for (j, &column) in self.columns.iter().enumerate() {
                sums.matrix[(row, column)] += factor * square[(i, j)];
            }
        }
    }

    /// Adds `factor` times a row to the derivatives over one depth, if they are wanted.
    pub fn add_noise(&self, sums: &mut Sums, row: usize, point: usize, factor: f64) {
        if let Some(by_depth) = &mut sums.by_depth {
            for (local, &unknown) in self.columns.iter().enumerate() {
                by_depth[(unknown, point)] += factor * self.jacobian[(row, local)];
            }
        }
    }
}
