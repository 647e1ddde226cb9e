//! Functions of the unknowns that are determined even where the unknowns are not.

use super::covariance::Uncertainty;
use super::null_direction::NullDirection;
use nalgebra::DVector;

/// A function of the unknowns, with its uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub struct Invariant {
    /// What people call it.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its standard deviation to first order; infinite where a null direction changes it.
    pub sigma: f64,
}

/// Carries the uncertainty over to a function of the unknowns with the given value and gradient (by
/// the components, in their own units). A function that no null direction changes is determined
/// however singular the problem is.
pub fn invariant(
    name: impl Into<String>,
    value: f64,
    gradient: &[f64],
    uncertainty: &Uncertainty,
) -> Invariant {
    let gradient = DVector::from_column_slice(gradient);
    let changed_by = |null: &NullDirection| {
        let parts = gradient.component_mul(&null.direction);
        // What is left of a component that takes no part is rounding.
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
