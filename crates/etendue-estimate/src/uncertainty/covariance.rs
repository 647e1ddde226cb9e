//! Covariance of a least-squares estimate.

use super::component::TangentComponent;
use super::gauge::Gauge;
use super::null_direction::{self, NullDirection};
use super::sandwich::Sandwich;
use super::spectrum::Spectrum;
use crate::solve::{Linearization, Loss};
use nalgebra::{DMatrix, DVector};

/// Covariance and identifiability of an estimate.
///
/// Under the squared loss, with $p$ determined directions,
///
/// $$\Sigma = \hat\sigma^2 (J^\top W J)^{-1}, \quad
///   \hat\sigma^2 = \frac{\sum_i w_i r_i^2}{\sum_i w_i - p}.$$
///
/// Under a robust loss the estimate is an M-estimate, and the covariance is the sandwich of the Hessian
/// $H$ of the cost and the variance of its gradient (Huber 1967; Huber 1981, "Robust statistics",
/// section 7.6, doi:10.1002/0471725250), with the leverage correction HC3 (MacKinnon and White 1985,
/// doi:10.1016/0304-4076(85)90158-7):
///
/// $$\Sigma = H^{-1} \Big(\sum_i \frac{\psi_i^2}{(1 - h_i)^2} J_i^\top J_i\Big) H^{-1}, \quad
///   H = \sum_i \psi'_i J_i^\top J_i, \quad h_i = \psi'_i J_i H^{-1} J_i^\top$$
///
/// with $\psi(r) = r\,\rho'(r^2)$ ([`Loss::weight`], [`Loss::weight_slope`]). The weights $w$ of
/// reweighted least squares in place of $\psi'$ would overstate the information: $w \geq \psi'$. For
/// blocks of several residuals $r$, $\psi'$ is the matrix $\rho' I + 2\rho'' r r^\top$. Where $H$ is not
/// positive definite, which is possible far from a minimum, negative $\psi'$ count as zero.
///
/// A direction that few beams determine, such as the translation of a mirror in its plane, has
/// residuals far above the others, and the pooled $\hat\sigma$ would underestimate its variance.
///
/// Inverses are pseudo-inverses: the covariance is zero along null directions. All quantities are in
/// the units of the components.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertainty {
    /// The components, in the order of a step.
    pub components: Vec<TangentComponent>,
    /// Covariance matrix of the components, in products of their units.
    pub covariance: DMatrix<f64>,
    /// The part of the covariance that independent errors cause.
    independent: DMatrix<f64>,
    /// Residual variance $\hat\sigma^2$, in the squared unit of a residual.
    pub residual_variance: f64,
    /// Degrees of freedom $\sum_i w_i - p$.
    pub degrees_of_freedom: f64,
    /// Singular values of the weighted Jacobian with columns of unit length, descending.
    pub singular_values: Vec<f64>,
    /// Directions that the measurements do not determine.
    pub null_directions: Vec<NullDirection>,
}

impl Uncertainty {
    /// Uncertainty from the residuals and the Jacobian at an estimate, under the loss of the solver
    /// and a gauge.
    pub fn new(
        linearization: &Linearization,
        loss: Loss,
        components: Vec<TangentComponent>,
        gauge: &Gauge,
    ) -> Self {
        // Decompose the weighted Jacobian.
        let weights = linearization.residuals.weights(loss);
        let jacobian = weighted_jacobian(linearization, &weights, &components);
        let spectrum = Spectrum::new(&gauge.applied(&jacobian));
        let (variance, freedom) = residual_variance(linearization, &weights, spectrum.rank());
        // Add the information of the priors.
        let n = components.len();
        let priors = gauge.prior_information(n, variance);
        let spectrum = match &priors {
            Some(information) => Spectrum::of(&(jacobian.tr_mul(&jacobian) + information)),
            None => spectrum,
        };
        let information = priors.unwrap_or_else(|| DMatrix::zeros(n, n));
        // Invert the normal matrix, or build the sandwich.
        let covariance = match loss {
            Loss::Squared => spectrum.inverse() * variance,
            _ => {
                Sandwich::new(linearization, loss, &components).covariance(&spectrum, &information)
            }
        };
        Self {
            independent: covariance.clone(),
            covariance,
            residual_variance: variance,
            degrees_of_freedom: freedom,
            singular_values: spectrum.values.clone(),
            null_directions: null_direction::directions(&spectrum, &components, gauge),
            components,
        }
    }

    /// Uncertainty from residuals in units of their known standard deviations.
    ///
    /// $$\Sigma = s^2\,\kappa\,(J^\top J)^{-1}, \quad \kappa = \mathrm{E}\psi^2/(\mathrm{E}\psi')^2$$
    ///
    /// with the [variance ratio](Loss::variance_ratio) $\kappa$ of the loss. [Outliers](crate::solve::Residuals::inliers)
    /// are left out of $J$. The factor $s^2$ is the mean square of the other residuals over their degrees of freedom, but at least 1: a scan that
    /// happens to fit well does not reduce the variance, and residuals larger than the noise increase
    /// it.
    pub fn of_whitened(
        linearization: &Linearization,
        loss: Loss,
        components: Vec<TangentComponent>,
        gauge: &Gauge,
    ) -> Self {
        Self::of_correlated(linearization, loss, components, gauge, |_| None)
    }

    /// [`Uncertainty::of_whitened`] for errors with the correlation matrix $R$.
    ///
    /// $$\Sigma = s^2\,\kappa\,(H^{-1} + H^{-1} E H^{-1}), \quad H = J^\top J, \quad E = J^\top (R - I)\,J$$
    ///
    /// `excess` gives $E$ for the Jacobian $J$, or nothing for independent errors.
    pub(crate) fn of_correlated(
        linearization: &Linearization,
        loss: Loss,
        components: Vec<TangentComponent>,
        gauge: &Gauge,
        excess: impl FnOnce(&DMatrix<f64>) -> Option<DMatrix<f64>>,
    ) -> Self {
        // Leave out outliers.
        let weights = linearization.residuals.inliers(loss);
        let jacobian = weighted_jacobian(linearization, &weights, &components);
        let mut spectrum = Spectrum::new(&gauge.applied(&jacobian));
        let (variance, freedom) = residual_variance(linearization, &weights, spectrum.rank());
        // Add the information of the priors, and invert.
        if let Some(information) = gauge.prior_information(components.len(), 1.0) {
            spectrum = Spectrum::of(&(jacobian.tr_mul(&jacobian) + information));
        }
        let inverse = spectrum.inverse();
        let excess = excess(&jacobian).map(|excess| &inverse * excess * &inverse);
        let covariance = excess.map_or_else(|| inverse.clone(), |excess| &inverse + excess);
        let scale = variance.max(1.0) * loss.variance_ratio();
        Self {
            covariance: covariance * scale,
            independent: inverse * scale,
            residual_variance: variance,
            degrees_of_freedom: freedom,
            singular_values: spectrum.values.clone(),
            null_directions: null_direction::directions(&spectrum, &components, gauge),
            components,
        }
    }

    /// Replaces the covariance of independent errors by another one, in the coordinates of the solver, which determines
    /// all directions. The part of correlated errors remains.
    pub(crate) fn replace_independent(&mut self, covariance: &DMatrix<f64>) {
        let slopes = DVector::from_iterator(
            self.components.len(),
            self.components.iter().map(|component| component.slope),
        );
        let in_units = covariance.component_mul(&(&slopes * slopes.transpose()));
        self.covariance += &in_units - &self.independent;
        self.independent = in_units;
        self.null_directions.clear();
    }

    /// Standard deviation of each component, in its unit; infinite for components with a share in a
    /// null direction.
    pub fn standard_deviations(&self) -> Vec<f64> {
        let undetermined = |i: usize| {
            let has_share = |n: &NullDirection| n.direction[i].abs() > 1e-3;
            self.null_directions.iter().any(has_share)
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

    /// Correlation matrix of the components; rows and columns of fixed components (zero variance) are
    /// NaN.
    pub fn correlation(&self) -> DMatrix<f64> {
        let c = &self.covariance;
        DMatrix::from_fn(c.nrows(), c.ncols(), |i, j| {
            c[(i, j)] / (c[(i, i)] * c[(j, j)]).sqrt()
        })
    }

    /// Number of directions that the measurements determine.
    pub fn rank(&self) -> usize {
        self.components.len() - self.null_directions.len()
    }
}

/// Cramér-Rao lower bound $\sigma^2 (J^\top J)^{-1}$ of the covariance of an unbiased estimator, for
/// residuals with independent normal noise of standard deviation $\sigma$ = `sigma`.
///
/// `None` where a direction is not determined. The bound is in the coordinates of the solver.
pub fn cramer_rao(linearization: &Linearization, sigma: f64) -> Option<DMatrix<f64>> {
    let weights = vec![1.0; linearization.residuals.values.len()];
    let unit = TangentComponent {
        name: String::new(),
        unit: String::new(),
        slope: 1.0,
    };
    let jacobian = weighted_jacobian(linearization, &weights, &vec![unit; linearization.unknowns]);
    let spectrum = Spectrum::new(&jacobian);
    (spectrum.rank() == linearization.unknowns).then(|| spectrum.inverse() * (sigma * sigma))
}

/// Weighted Jacobian $\sqrt{w_i}\,J_{ij}$ by the components in their units.
///
/// A coordinate at the end of its bounds has slope zero. Its column is set to zero, so that it counts
/// as undetermined.
pub(super) fn weighted_jacobian(
    linearization: &Linearization,
    weights: &[f64],
    components: &[TangentComponent],
) -> DMatrix<f64> {
    let n = linearization.unknowns;
    DMatrix::from_fn(weights.len(), n, |i, j| {
        let entry = weights[i].sqrt() * linearization.jacobian[i * n + j] / components[j].slope;
        if entry.is_finite() { entry } else { 0.0 }
    })
}

/// Residual variance and degrees of freedom.
fn residual_variance(linearization: &Linearization, weights: &[f64], rank: usize) -> (f64, f64) {
    let values = &linearization.residuals.values;
    let squares: f64 = values.iter().zip(weights).map(|(r, w)| w * r * r).sum();
    let freedom = weights.iter().sum::<f64>() - rank as f64;
    (squares / freedom.max(1.0), freedom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::Residuals;

    /// The Jacobian has an entry 0/0, on which a decomposition without an iteration limit does not end.
    #[test]
    fn a_coordinate_at_the_end_of_its_bounds_is_undetermined() {
        let component = |name: &str, slope| TangentComponent {
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
