//! Covariance of an estimate.

use super::component::Component;
use super::gauge::Gauge;
use super::null_direction::{self, NullDirection};
use super::spectrum::Spectrum;
use crate::solve::{Linearization, Loss};
use nalgebra::{DMatrix, DVector};

/// Covariance and identifiability at an estimate.
///
/// $$\Sigma = \hat\sigma^2 (J^\top W J)^{-1}, \quad
///   \hat\sigma^2 = \frac{\sum_i w_i r_i^2}{\sum_i w_i - p}$$
///
/// under the squared loss, in the components' own units, with $p$ the number of directions that are
/// determined. A robust loss is there for residuals that are not all of one spread; under it each
/// residual stands for its own variance, in the sandwich of Huber 1967 and White 1980
/// (doi:10.2307/1912934) with the correction for leverage $h_i$ of MacKinnon and White 1985
/// (doi:10.1016/0304-4076(85)90158-7, HC3):
///
/// $$\Sigma = H^{-1} \Big(\sum_i \frac{w_i^2 r_i^2}{(1 - h_i)^2} J_i^\top J_i\Big) H^{-1}, \quad
///   H = J^\top W J, \quad h_i = w_i J_i H^{-1} J_i^\top$$
///
/// A few beams on a mirror's edge, say, tell its place along its plane, with residuals far above the
/// others': the pooled $\hat\sigma$ would promise too much. Along null directions the covariance is
/// that of the pseudo-inverse: it says nothing about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    /// The components, in the order of a step.
    pub components: Vec<Component>,
    /// Covariance of the components, in products of their units.
    pub covariance: DMatrix<f64>,
    /// Residual variance, in the squared unit of a residual.
    pub residual_variance: f64,
    /// Weighted number of residuals less the number of determined directions.
    pub degrees_of_freedom: f64,
    /// Singular values of the weighted Jacobian with columns of unit length, descending.
    pub singular_values: Vec<f64>,
    /// Directions along which the measurements say nothing, or nearly so.
    pub null_directions: Vec<NullDirection>,
}

/// A residual that alone determines a direction says nothing of its own spread.
const MOST_LEVERAGE: f64 = 0.99;

impl Uncertainty {
    /// From the residuals and the Jacobian at an estimate, with the weights of the loss that found
    /// it, and the gauge.
    pub fn new(
        linearization: &Linearization,
        loss: Loss,
        components: Vec<Component>,
        gauge: &Gauge,
    ) -> Self {
        let weights = linearization.residuals.weights(loss);
        let jacobian = weighted_jacobian(linearization, &weights, &components);
        let spread = Spectrum::new(&gauge.applied(&jacobian));
        let (variance, freedom) = residual_variance(linearization, &weights, spread.rank());
        let priors = gauge.prior_information(components.len(), variance);
        let spread = match priors {
            Some(information) => Spectrum::of(&(jacobian.tr_mul(&jacobian) + information)),
            None => spread,
        };
        let inverse = spread.inverse();
        let covariance = match loss {
            Loss::Squared => inverse * variance,
            _ => sandwich(&inverse, &jacobian, linearization, &weights),
        };
        Self {
            covariance,
            residual_variance: variance,
            degrees_of_freedom: freedom,
            singular_values: spread.values.clone(),
            null_directions: null_direction::directions(&spread, &components, gauge),
            components,
        }
    }

    /// Adds a covariance in the solver's own coordinates.
    pub(crate) fn add(&mut self, covariance: &DMatrix<f64>) {
        let slopes = DVector::from_iterator(
            self.components.len(),
            self.components.iter().map(|component| component.slope),
        );
        self.covariance += covariance.component_mul(&(&slopes * slopes.transpose()));
    }

    /// Standard deviation of each component, in its own unit; infinite where the component takes
    /// part in a null direction.
    pub fn standard_deviations(&self) -> Vec<f64> {
        let undetermined = |i: usize| {
            let takes_part = |n: &NullDirection| n.direction[i].abs() > 1e-3;
            self.null_directions.iter().any(takes_part)
        };
        let sigma = |i: usize| {
            if undetermined(i) {
                f64::INFINITY
            } else {
                self.covariance[(i, i)].sqrt()
            }
        };
        (0..self.components.len()).map(sigma).collect()
    }

    /// Correlation of the components; NaN rows where a variance is zero (a fixed component).
    pub fn correlation(&self) -> DMatrix<f64> {
        let c = &self.covariance;
        DMatrix::from_fn(c.nrows(), c.ncols(), |i, j| {
            c[(i, j)] / (c[(i, i)] * c[(j, j)]).sqrt()
        })
    }

    /// How many directions the measurements determine.
    pub fn rank(&self) -> usize {
        self.components.len() - self.null_directions.len()
    }
}

/// The Cramér-Rao bound: the smallest covariance that any unbiased estimator can have when each
/// residual has independent normal noise of standard deviation `sigma`,
/// $\sigma^2 (J^\top J)^{-1}$. None where some direction is not determined at all.
pub fn cramer_rao(linearization: &Linearization, sigma: f64) -> Option<DMatrix<f64>> {
    let weights = vec![1.0; linearization.residuals.values.len()];
    let unit = Component {
        name: String::new(),
        unit: String::new(),
        slope: 1.0,
    };
    let jacobian = weighted_jacobian(linearization, &weights, &vec![unit; linearization.unknowns]);
    let spectrum = Spectrum::new(&jacobian);
    (spectrum.rank() == linearization.unknowns).then(|| spectrum.inverse() * (sigma * sigma))
}

/// $\sqrt{w_i}\,J_{ij}$ in the components' own units. A coordinate that was driven to the very end of
/// its bounds moves its quantity no more (its slope is zero): its column is zero, so that it counts as
/// undetermined.
fn weighted_jacobian(
    linearization: &Linearization,
    weights: &[f64],
    components: &[Component],
) -> DMatrix<f64> {
    let n = linearization.unknowns;
    DMatrix::from_fn(weights.len(), n, |i, j| {
        let entry = weights[i].sqrt() * linearization.jacobian[i * n + j] / components[j].slope;
        if entry.is_finite() { entry } else { 0.0 }
    })
}

fn residual_variance(linearization: &Linearization, weights: &[f64], rank: usize) -> (f64, f64) {
    let values = &linearization.residuals.values;
    let squares: f64 = values.iter().zip(weights).map(|(r, w)| w * r * r).sum();
    let freedom = weights.iter().sum::<f64>() - rank as f64;
    (squares / freedom.max(1.0), freedom)
}

/// The covariance where each residual has a variance of its own; `jacobian` is that of
/// [`weighted_jacobian`], `inverse` that of its normal matrix.
fn sandwich(
    inverse: &DMatrix<f64>,
    jacobian: &DMatrix<f64>,
    linearization: &Linearization,
    weights: &[f64],
) -> DMatrix<f64> {
    let reach = jacobian * inverse;
    let residuals = linearization.residuals.values.iter();
    let mut sum = DMatrix::zeros(inverse.nrows(), inverse.ncols());
    for ((i, residual), weight) in residuals.enumerate().zip(weights) {
        let leverage = reach.row(i).dot(&jacobian.row(i)).min(MOST_LEVERAGE);
        let scale = weight * residual * residual / (1.0 - leverage).powi(2);
        sum.ger(
            scale,
            &reach.row(i).transpose(),
            &reach.row(i).transpose(),
            1.0,
        );
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::Residuals;

    /// 0/0 in the Jacobian, which a decomposition without a limit would turn over forever.
    #[test]
    fn a_coordinate_at_the_end_of_its_bounds_is_undetermined() {
        let component = |name: &str, slope| Component {
            name: name.to_owned(),
            unit: "m".to_owned(),
            slope,
        };
        let rows = [[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0]];
        let residuals = Residuals::of(vec![0.1, -0.2, 0.1]);
        let linearization = Linearization::new(residuals, 2, rows.concat());
        let components = vec![component("x", 1.0), component("y", 0.0)];
        let found = Uncertainty::new(&linearization, Loss::Squared, components, &Gauge::Free);
        let sigmas = found.standard_deviations();
        assert!(
            sigmas[0].is_finite() && sigmas[1].is_infinite(),
            "{sigmas:?}"
        );
        assert_eq!(found.rank(), 1);
    }
}
