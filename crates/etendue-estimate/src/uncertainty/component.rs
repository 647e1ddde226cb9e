//! Names and units of the components of the unknowns.

use crate::manifold::{Manifold, Variable};

/// Scalar component of the unknowns: one element of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct TangentComponent {
    /// Name, such as "sensor.pose yaw".
    pub name: String,
    /// Unit, such as "m"; empty for dimensionless components.
    pub unit: String,
    /// Derivative of the quantity by the coordinate of the solver: 1, except for bounded numbers.
    pub slope: f64,
}

/// Components of named unknowns, in the order of a step.
pub fn components(unknowns: &[(&str, &Variable)]) -> Vec<TangentComponent> {
    let of_one = |&(name, variable): &(&str, &Variable)| -> Vec<TangentComponent> {
        let parts = variable.components().iter().zip(variable.slopes());
        parts
            .map(|((part, unit), slope)| TangentComponent {
                name: format!("{name} {part}").trim_end().to_owned(),
                unit: (*unit).to_owned(),
                slope,
            })
            .collect()
    };
    debug_assert!(
        unknowns
            .iter()
            .all(|(_, v)| v.slopes().len() == v.dimension())
    );
    unknowns.iter().flat_map(of_one).collect()
}
