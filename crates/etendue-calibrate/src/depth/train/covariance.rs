//! Covariance of estimated weights.
//!
//! An error $\delta d_j$ of a depth shifts the minimum by $m_j\\,\delta d_j$, with the rows of the weights of
//! $m_j = -H^{-1}\\,\partial^2 L/\partial w\\,\partial d_j$ and the curvature $H$; $m_j$ accounts for the
//! overlap of neighbourhoods.
//!
//! - **Independent noise** gives $\sigma^2 \sum_j m_j m_j^\top$, with the variance $\sigma^2$ from the
//!   residual loss.
//! - **Correlated errors**: a pose error shifts all points of a scan, an uneven wall those of a region. The
//!   residuals $e_j$ are summed over clusters before they are squared,
//!   $$V_c = \frac{G}{G-1} \sum_{g=1}^{G} s_g s_g^\top, \qquad s_g = \sum_{j \in g} m_j e_j,$$
//!   over blocks of consecutive scans and over cubes of the map, less the intersection,
//!   $V = V_{block} + V_{cube} - V_{block \cap cube}$ (Cameron, Gelbach and Miller 2011, equation 2.11,
//!   doi:10.1198/jbes.2010.07136). With $s_g$ the first-order change of the weights without a block, this is
//!   the jackknife over blocks (Wu 1986, doi:10.1214/aos/1176350142). Drift gives consecutive scans common
//!   errors. The variance of few clusters is raised by the ratio of the quantiles of Student's and the
//!   normal distribution.
//!
//! The covariance is the larger of the two in every direction: with $V_{noise} = L L^\top$, eigenvalues of
//! $L^{-1} V L^{-\top}$ below 1 are raised to 1. With few scans, the errors that the points of a scan have in
//! common are poorly determined.

use super::clusters::student_factor;
use crate::depth::loss::{DepthObjective, DepthUnknowns, Influences};
use nalgebra::{DMatrix, DVector, Vector3};
use std::collections::BTreeMap;

/// Edge length of the cubes of correlated errors, m: larger than a neighbourhood and than most unevenness of
/// walls.
pub const CUBE: f64 = 2.0;

/// Number of blocks of consecutive scans.
const BLOCKS: usize = 12;

/// Uncertainty of the weights.
pub(super) struct WeightUncertainty {
    /// Covariance of the weights.
    pub covariance: DMatrix<f64>,
    /// Covariance due to independent noise only.
    pub from_noise: DMatrix<f64>,
    /// Condition number of the curvature of the weights, with poses eliminated.
    pub condition: f64,
    /// Standard deviation of the noise of the depths according to the residual loss, m.
    pub noise: f64,
}

impl WeightUncertainty {
    pub fn new(objective: &DepthObjective<'_>, at: &DepthUnknowns) -> Self {
        let weights = at.model.weight_count();
        let here = objective.curvature(at);
        let response = objective.noise_response(at);
        let variance = if response > 0.0 {
            here.value / response
        } else {
            f64::INFINITY
        };
        let Some(inverse) = inverted(&here.matrix) else {
            return Self::undetermined(weights, variance.sqrt());
        };
        let rows = inverse.rows(0, weights).into_owned();
        let influences = objective.influences(at, &rows);
        let from_noise = squares(&influences.of_depth, weights) * variance;
        let correlated = correlated(objective, &influences, weights);
        Self {
            covariance: larger(&from_noise, &correlated),
            from_noise,
            condition: condition(&inverse.view((0, 0), (weights, weights)).into_owned()),
            noise: variance.sqrt(),
        }
    }

    /// Infinite uncertainty.
    fn undetermined(weights: usize, noise: f64) -> Self {
        let unknown = DMatrix::from_element(weights, weights, f64::INFINITY);
        Self {
            covariance: unknown.clone(),
            from_noise: unknown,
            condition: f64::INFINITY,
            noise,
        }
    }
}

/// Pseudo-inverse of the curvature, without the unobservable directions.
fn inverted(matrix: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let scale = matrix
        .diagonal()
        .map(|h| if h > 0.0 { 1.0 / h.sqrt() } else { 0.0 });
    let scale = DMatrix::from_diagonal(&scale);
    let inverse = (&scale * matrix * &scale).pseudo_inverse(1e-10).ok()?;
    Some(&scale * inverse * &scale)
}

/// Condition number of an inverse curvature.
fn condition(inverse: &DMatrix<f64>) -> f64 {
    let values = inverse.symmetric_eigenvalues();
    values.max() / values.min()
}

/// Sum of the outer products of vectors of `weights` numbers.
fn squares(vectors: &[f64], weights: usize) -> DMatrix<f64> {
    let mut sum = DMatrix::zeros(weights, weights);
    for vector in vectors.chunks_exact(weights) {
        let vector = DVector::from_column_slice(vector);
        sum.ger(1.0, &vector, &vector, 1.0);
    }
    sum
}

/// Covariance of errors that are correlated within blocks of scans and within cubes.
fn correlated(
    objective: &DepthObjective<'_>,
    influences: &Influences,
    weights: usize,
) -> DMatrix<f64> {
    let map = objective.map();
    let length = map.world_from_lidar().len().div_ceil(BLOCKS);
    let blocks = map.measurements().iter().map(|m| m.pose / length);
    let points = map.measured_points();
    let cubes = points.iter().map(cube_of);
    let errors = &influences.of_error;
    clustered(errors, weights, blocks.clone()) + clustered(errors, weights, cubes.clone())
        - clustered(errors, weights, blocks.zip(cubes))
}

/// Cube of the map that contains a position.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a saturated cube is a cube"
)]
pub(super) fn cube_of(position: &Vector3<f64>) -> [i64; 3] {
    [0, 1, 2].map(|axis| (position[axis] / CUBE).floor() as i64)
}

/// $G/(G-1) \sum s_g s_g^\top$ over clusters, raised for few clusters; zero for fewer than two.
fn clustered<K: Ord>(
    vectors: &[f64],
    weights: usize,
    keys: impl Iterator<Item = K>,
) -> DMatrix<f64> {
    let mut sums: BTreeMap<K, Vec<f64>> = BTreeMap::new();
    for (key, vector) in keys.zip(vectors.chunks_exact(weights)) {
        // Measurements without a neighbourhood belong to no cluster
        if vector.iter().all(|v| *v == 0.0) {
            continue;
        }
        let sum = sums.entry(key).or_insert_with(|| vec![0.0; weights]);
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += v);
    }
    let sums_count = sums.len();
    let count = sums_count as f64;
    let flat: Vec<f64> = sums.into_values().flatten().collect();
    if count < 2.0 {
        return DMatrix::zeros(weights, weights);
    }
    let few = student_factor(sums_count - 1).powi(2);
    squares(&flat, weights) * (count / (count - 1.0) * few)
}

/// The larger of a covariance and another symmetric matrix, in every direction.
fn larger(covariance: &DMatrix<f64>, other: &DMatrix<f64>) -> DMatrix<f64> {
    let Some(root) = covariance.clone().cholesky().map(|c| c.l()) else {
        return covariance.clone();
    };
    let Some(inverse) = root.clone().try_inverse() else {
        return covariance.clone();
    };
    let relative = (&inverse * other * inverse.transpose()).symmetric_eigen();
    let raised = relative.eigenvalues.map(|value| value.max(1.0));
    let vectors = root * relative.eigenvectors;
    &vectors * DMatrix::from_diagonal(&raised) * vectors.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_covariance_is_no_smaller_than_either() {
        let noise = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 3.0]);
        let shared = DMatrix::from_row_slice(2, 2, &[9.0, -2.0, -2.0, -1.0]);
        let both = larger(&noise, &shared);
        for least in [&both - &noise, &both - &shared].map(|m| m.symmetric_eigenvalues().min()) {
            assert!(least > -1e-12, "{least}");
        }
        assert!((larger(&noise, &(&noise * 4.0)) - &noise * 4.0).norm() < 1e-12);
        assert!((larger(&noise, &(&noise * 0.5)) - &noise).norm() < 1e-12);
    }

    #[test]
    fn errors_of_a_cluster_add_before_they_are_squared() {
        let together = clustered(&[1.0, 1.0, -1.0, -1.0], 1, [0, 0, 1, 1].into_iter());
        let apart = clustered(&[1.0, -1.0, 1.0, -1.0], 1, [0, 0, 1, 1].into_iter());
        let few = student_factor(1).powi(2);
        assert_eq!((together[0], apart[0]), (16.0 * few, 0.0));
    }
}
