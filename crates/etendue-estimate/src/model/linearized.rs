//! Expected measurements with their Jacobian.

use super::jacobian::Column;
use super::{Model, Rows};
use crate::manifold::Variable;
use crate::sensor::QUANTITIES;
use crate::uncertainty::{TangentComponent, components};

/// Expected range and intensity of every beam, with their derivatives by the unknowns.
///
/// The Jacobian $J$ is stored without the zeros of parameters on which few beams depend: offsets of beams,
/// factors of facets and positions of vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearizedMeasurements {
    /// Range (m) and intensity (counts) of each beam in turn, by scan; `None` without a return.
    pub values: Vec<Option<f64>>,
    /// Components of a step of the unknowns: numbers, and body-fixed twists of poses.
    pub components: Vec<TangentComponent>,
    /// Derivatives by the components on which all beams depend, row-major.
    dense: Vec<f64>,
    /// Indices of the components of the columns of `dense`.
    shared: Vec<usize>,
    /// Columns of the other components.
    columns: Vec<Column>,
}

impl Model {
    /// Expected measurements at `state` with their derivatives.
    ///
    /// Derivatives are exact (dual numbers), except that discrete choices are constant: which surface a ray
    /// hits changes only with [`Model::edges`]. Unlike the coordinates of a solver, components are in the unit
    /// of the parameter also for numbers with bounds: the column of the coordinate $u$ is divided by $dx/du$.
    pub fn linearize(&self, state: &[Variable]) -> LinearizedMeasurements {
        // Differentiate by the coordinates of the solver.
        let Rows {
            values,
            jacobian: mut dense,
            shared,
            mut columns,
        } = self.rows(state);
        let paths = self.unknowns().iter().map(|unknown| unknown.path.as_str());
        let named: Vec<(&str, &Variable)> = paths.zip(state).collect();
        let components = components(&named);

        // Scale the columns to the units of the parameters.
        if shared.iter().any(|own| components[*own].slope != 1.0) {
            for row in dense.chunks_exact_mut(shared.len()) {
                for (&component, slope) in shared.iter().zip(row) {
                    *slope /= components[component].slope;
                }
            }
        }
        for column in &mut columns {
            for (_, slope) in &mut column.slopes {
                *slope /= components[column.component].slope;
            }
        }
        LinearizedMeasurements {
            values,
            components,
            dense,
            shared,
            columns,
        }
    }
}

impl LinearizedMeasurements {
    /// The dense Jacobian $\partial y_i / \partial x_j$, row-major: one row per value and one column per
    /// component, in the unit of the value by that of the component. Rows without a value are zero.
    pub fn jacobian(&self) -> Vec<f64> {
        let width = self.components.len();
        let mut jacobian = vec![0.0; self.values.len() * width];
        self.for_each(|number, component, slope| jacobian[number * width + component] += slope);
        jacobian
    }

    /// Change $J \dot x$ of the values along a step of the unknowns, one number per component.
    ///
    /// # Panics
    /// Where the step has another number of components.
    pub fn along(&self, step: &[f64]) -> Vec<f64> {
        assert_eq!(step.len(), self.components.len(), "components of the step");
        let mut change = vec![0.0; self.values.len()];
        self.for_each(|number, component, slope| change[number] += slope * step[component]);
        change
    }

    /// Gradient $J^\top \bar y$ of a function of the values by the components, from its derivatives by the
    /// values. Those by values that are `None` have no effect, and may be NaN.
    ///
    /// # Panics
    /// Where there are not as many derivatives as values.
    pub fn pulled_back(&self, by_values: &[f64]) -> Vec<f64> {
        assert_eq!(by_values.len(), self.values.len(), "derivatives by values");
        let mut gradient = vec![0.0; self.components.len()];
        let by = |number: usize| self.values[number].map_or(0.0, |_| by_values[number]);
        // Components on which all beams depend: six, those of a pose, in registers.
        let mut sums = vec![0.0; self.shared.len()];
        if let Ok(sums) = <&mut [f64; 6]>::try_from(&mut sums[..]) {
            let (rows, _) = self.dense.as_chunks();
            add_rows::<6>(rows, by, sums);
        } else {
            let rows = self.dense.chunks_exact(self.shared.len().max(1));
            for (number, row) in rows.enumerate() {
                let by = by(number);
                for (sum, slope) in sums.iter_mut().zip(row) {
                    *sum += by * slope;
                }
            }
        }
        for (&component, sum) in self.shared.iter().zip(sums) {
            gradient[component] = sum;
        }
        // The others.
        for column in &self.columns {
            for &(number, slope) in &column.slopes {
                gradient[column.component] += by(number) * slope;
            }
        }
        gradient
    }

    /// Calls `visit` with the indices of value and component of each stored derivative, and the derivative.
    fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let rows = self.dense.chunks_exact(self.shared.len().max(1));
        for (number, row) in rows.enumerate() {
            for (&component, &slope) in self.shared.iter().zip(row) {
                visit(number, component, slope);
            }
        }
        for column in &self.columns {
            for &(number, slope) in &column.slopes {
                visit(number, column.component, slope);
            }
        }
    }
}

/// Adds rows, each multiplied by a number of its own, to `sums`.
fn add_rows<const N: usize>(rows: &[[f64; N]], by: impl Fn(usize) -> f64, sums: &mut [f64; N]) {
    // Rows of range and of intensity in turn have sums of their own, so that additions do not wait for each other.
    let mut own = [[0.0; N]; QUANTITIES];
    for (beam, rows) in rows.chunks_exact(QUANTITIES).enumerate() {
        for (kind, (own, row)) in own.iter_mut().zip(rows).enumerate() {
            let by = by(QUANTITIES * beam + kind);
            for (sum, slope) in own.iter_mut().zip(row) {
                *sum += by * slope;
            }
        }
    }
    for own in own {
        for (sum, part) in sums.iter_mut().zip(own) {
            *sum += part;
        }
    }
}
