//! Functions of the unknowns, with propagated uncertainty.

use super::covariance::Uncertainty;
use super::null_direction::NullDirection;
use nalgebra::DVector;

/// Value of a function of the unknowns, with its standard deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct Invariant {
    /// Name, such as "product of gain and reflectance".
    pub name: String,
    /// Value at the estimate.
    pub value: f64,
    /// First-order standard deviation; infinite where a null direction changes the function.
    pub sigma: f64,
}

/// Propagates the uncertainty to a function $f$ of the unknowns, to first order:
/// $\sigma_f^2 = \nabla f^\top \Sigma \nabla f$.
///
/// `gradient` holds the derivatives of $f$ by the components in their units. A function that no null
/// direction changes is determined even where the normal matrix is singular.
pub fn invariant(
    name: impl Into<String>,
    value: f64,
    gradient: &[f64],
    uncertainty: &Uncertainty,
) -> Invariant {
    let gradient = DVector::from_column_slice(gradient);
    let changed_by = |null: &NullDirection| {
        let parts = gradient.component_mul(&null.direction);
        // Components without a share contribute rounding errors.
        let rounding = gradient.norm() * null.direction.norm();
        parts.sum().abs() > 1e-6 * parts.abs().sum().max(rounding)
    };
    let determined = !uncertainty.null_directions.iter().any(changed_by);
    let variance = gradient.dot(&(&uncertainty.covariance * &gradient));
    Invariant {
        name: name.into(),
        value,
        sigma: if determined {
            variance.sqrt()
        } else {
            f64::INFINITY
        },
    }
}
