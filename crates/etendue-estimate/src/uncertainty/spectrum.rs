//! Singular value decomposition of a Jacobian with scaled columns.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Singular value relative to the largest below which a direction counts as undetermined: the rounding
/// error of an exact zero in double precision.
const NULL_RATIO: f64 = 1e-7;

/// Maximum number of iterations of a singular value decomposition, far above the usual number:
/// without a limit, degenerate input does not terminate.
const MAX_ITERATIONS: usize = 10_000;

/// Singular values and right singular vectors of a Jacobian $J$ whose columns are scaled to unit
/// length, so that the rank does not depend on the units of the unknowns.
#[derive(Clone, Debug)]
pub(super) struct Spectrum {
    /// Norms of the columns of $J$.
    pub lengths: DVector<f64>,
    /// Singular values of the scaled Jacobian, descending.
    pub values: Vec<f64>,
    /// Right singular vectors of the scaled Jacobian, as columns.
    pub vectors: DMatrix<f64>,
}

impl Spectrum {
    /// Spectrum of a Jacobian, to full precision.
    pub fn new(jacobian: &DMatrix<f64>) -> Self {
        let lengths = column_lengths(jacobian.column_iter().map(|c| c.norm()));
        let scaled = DMatrix::from_fn(jacobian.nrows(), jacobian.ncols(), |i, j| {
            jacobian[(i, j)] / lengths[j]
        });
        // The triangular factor has the same singular values and is small.
        let triangle = scaled.qr().r();
        let Some(svd) = triangle.try_svd(false, true, 5.0 * f64::EPSILON, MAX_ITERATIONS) else {
            return Self::of(&jacobian.tr_mul(jacobian));
        };
        let transposed = svd.v_t.expect("requested");
        Self {
            lengths,
            values: svd.singular_values.as_slice().to_vec(),
            vectors: transposed.transpose(),
        }
    }

    /// Spectrum of a normal matrix $J^\top J$, to half the digits of [`Spectrum::new`].
    pub fn of(normal: &DMatrix<f64>) -> Self {
        let lengths = column_lengths(normal.diagonal().iter().map(|d| d.max(0.0).sqrt()));
        let n = normal.nrows();
        let scaled = DMatrix::from_fn(n, n, |i, j| normal[(i, j)] / (lengths[i] * lengths[j]));
        let eigen = SymmetricEigen::new(scaled);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let root = |&i: &usize| eigen.eigenvalues[i].max(0.0).sqrt();
        Self {
            lengths,
            values: order.iter().map(root).collect(),
            vectors: eigen.eigenvectors.select_columns(&order),
        }
    }

    /// Whether a direction is undetermined.
    pub fn is_null(&self, index: usize) -> bool {
        self.values[index] <= NULL_RATIO * self.values[0]
    }

    /// Number of determined directions.
    pub fn rank(&self) -> usize {
        (0..self.values.len()).filter(|&i| !self.is_null(i)).count()
    }

    /// Inverse of a symmetric matrix within the determined directions, in the unscaled components;
    /// `None` where it is not positive definite there.
    pub fn inverse_of(&self, matrix: &DMatrix<f64>) -> Option<DMatrix<f64>> {
        let determined: Vec<usize> = (0..self.values.len())
            .filter(|&k| !self.is_null(k))
            .collect();
        // Columns of about unit variance, so that the factorisation does not depend on units.
        let basis = DMatrix::from_fn(self.lengths.len(), determined.len(), |i, k| {
            self.vectors[(i, determined[k])] / (self.lengths[i] * self.values[determined[k]])
        });
        let projected = basis.tr_mul(&(matrix * &basis)).cholesky()?;
        Some(&basis * projected.solve(&basis.transpose()))
    }

    /// Pseudo-inverse of $J^\top J$ in the unscaled components.
    pub fn inverse(&self) -> DMatrix<f64> {
        let n = self.values.len();
        let mut inverse = DMatrix::zeros(n, n);
        for (k, value) in self
            .values
            .iter()
            .enumerate()
            .filter(|(k, _)| !self.is_null(*k))
        {
            let direction = self.vectors.column(k).component_div(&self.lengths) / *value;
            inverse += &direction * direction.transpose();
        }
        inverse
    }
}

/// Divisors of the columns: their norms, but the largest norm for columns far below it, which then
/// count as undetermined.
fn column_lengths(lengths: impl Iterator<Item = f64>) -> DVector<f64> {
    let lengths: Vec<f64> = lengths.collect();
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let floor = if longest > 0.0 { 1e-11 * longest } else { 1.0 };
    DVector::from_iterator(
        lengths.len(),
        lengths
            .iter()
            .map(|&l| if l > floor { l } else { longest.max(1.0) }),
    )
}
