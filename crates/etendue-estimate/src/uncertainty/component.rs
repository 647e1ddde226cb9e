//! Components of the unknowns with names and units.

use crate::manifold::{Manifold, Variable};

/// A component of the unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Name, such as "sensor.pose yaw".
    pub name: String,
    /// Unit, empty for a pure number.
    pub unit: String,
    /// Derivative of the quantity by the coordinate of the solver (1 except for bounded numbers).
    pub slope: f64,
}

/// The components of a list of named unknowns, in the order of a step.
pub fn components(unknowns: &[(&str, &Variable)]) -> Vec<Component> {
    let of_one = |&(name, variable): &(&str, &Variable)| -> Vec<Component> {
        let parts = variable.components().iter().zip(variable.slopes());
        parts
            .map(|((part, unit), slope)| Component {
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
