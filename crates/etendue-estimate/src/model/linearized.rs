//! Expected measurements with their Jacobian.

use super::Model;
use crate::manifold::Variable;
use crate::uncertainty::{TangentComponent, components};

/// Expected range and intensity of every beam, with their derivatives by the unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearizedMeasurements {
    /// Range (m) and intensity (counts) of each beam in turn, by scan; `None` without a return.
    pub values: Vec<Option<f64>>,
    /// Derivatives $\partial y_i / \partial x_j$, row-major: one row per value and one column per component,
    /// in the unit of the value by that of the component. Rows without a value are zero.
    pub jacobian: Vec<f64>,
    /// Components of a step of the unknowns: numbers, and body-fixed twists of poses.
    pub components: Vec<TangentComponent>,
}

impl Model {
    /// Expected measurements at `state` with their derivatives.
    ///
    /// Derivatives are exact (dual numbers), except that discrete choices are constant: which surface a ray
    /// hits changes only with [`Model::edges`]. Unlike the coordinates of a solver, components are in the unit
    /// of the parameter also for numbers with bounds: the column of the coordinate $u$ is divided by $dx/du$.
    pub fn linearize(&self, state: &[Variable]) -> LinearizedMeasurements {
        // Differentiate by the coordinates of the solver.
        let rows = self.rows(state);
        let paths = self.unknowns().iter().map(|unknown| unknown.path.as_str());
        let named: Vec<(&str, &Variable)> = paths.zip(state).collect();
        let components = components(&named);

        // Scale the columns to the units of the parameters.
        let (width, shared) = (components.len(), rows.shared.len());
        let mut jacobian = vec![0.0; rows.values.len() * width];
        for (number, row) in jacobian.chunks_exact_mut(width.max(1)).enumerate() {
            let slopes = &rows.jacobian[number * shared..(number + 1) * shared];
            for (&component, slope) in rows.shared.iter().zip(slopes) {
                row[component] = slope / components[component].slope;
            }
        }
        for column in &rows.columns {
            for &(number, slope) in &column.slopes {
                let component = column.component;
                jacobian[number * width + component] = slope / components[component].slope;
            }
        }
        LinearizedMeasurements {
            values: rows.values,
            jacobian,
            components,
        }
    }
}
