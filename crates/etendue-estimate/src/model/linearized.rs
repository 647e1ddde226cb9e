//! Expected measurements with their Jacobian.

use super::Model;
use super::jacobian::{BlockDestination, Column, ScanBatches};
use super::simulate::WriteMeasurements;
use super::slopes::Block;
use crate::manifold::Variable;
use crate::uncertainty::{TangentComponent, components};
use etendue_physics::Dual;
use rayon::prelude::*;
use std::ops::Range;

/// Expected range and intensity of every beam, with their derivatives by the unknowns.
///
/// The Jacobian $J$ is stored without the zeros of parameters on which few beams depend: offsets of beams,
/// factors of facets and positions of vertices.
#[derive(Clone, Debug, Default)]
pub struct LinearizedMeasurements {
    /// Range (m) and intensity (counts) of each beam in turn, by scan; not a number without a return.
    pub values: Vec<f64>,
    /// Whether each value exists.
    pub valid: Vec<bool>,
    /// Components of a step of the unknowns: numbers, and body-fixed twists of poses.
    pub components: Vec<TangentComponent>,
    /// Derivatives by the components on which all beams depend.
    blocks: Vec<Block>,
    /// Columns of the other components.
    columns: Vec<Column>,
}

/// Measurements with derivatives by blocks of components.
struct BlockMeasurements<'s> {
    values: Vec<f64>,
    valid: Vec<bool>,
    blocks: Vec<Block>,
    /// Number of blocks with derivatives.
    used: usize,
    /// Indices in the tangent of the components.
    shared: &'s [usize],
}

impl BlockDestination for BlockMeasurements<'_> {
    fn batches<const N: usize>(
        &mut self,
        scans: &[ScanBatches],
        block: Range<usize>,
    ) -> impl Iterator<Item: IndexedParallelIterator<Item: WriteMeasurements<Dual<N>>>> {
        if self.used == self.blocks.len() {
            self.blocks.push(Block::default());
        }
        let new = &mut self.blocks[self.used];
        let is_first = self.used == 0;
        self.used += 1;
        new.reset(&self.shared[block], scans);
        new.batches(&mut self.values, &mut self.valid, scans, is_first)
    }
}

impl Model {
    /// Expected measurements at `state` with their derivatives.
    ///
    /// Derivatives are exact (dual numbers), except that discrete choices are constant: which surface a ray
    /// hits changes only with [`Model::edges`]. Unlike the coordinates of a solver, components are in the unit
    /// of the parameter also for numbers with bounds: the column of the coordinate $u$ is divided by $dx/du$.
    pub fn linearize(&self, state: &[Variable]) -> LinearizedMeasurements {
        self.linearize_into(state, LinearizedMeasurements::default())
    }

    /// [`Model::linearize`] in the memory of other measurements, of any model. It takes less time: memory that is new to the
    /// process is cleared by the operating system.
    pub fn linearize_into(
        &self,
        state: &[Variable],
        memory: LinearizedMeasurements,
    ) -> LinearizedMeasurements {
        // Differentiate by the coordinates of the solver.
        let layout = self.layout(state);
        let scene = self.scene_at(state);
        let LinearizedMeasurements {
            mut values,
            mut valid,
            blocks,
            ..
        } = memory;
        let quantities = self.quantities();
        if values.len() != quantities {
            values = vec![0.0; quantities];
        }
        valid.resize(quantities, false);
        let mut all = BlockMeasurements {
            values,
            valid,
            blocks,
            used: 0,
            shared: &layout.shared,
        };
        self.differentiate(&scene, state, &layout.shared, &mut all);
        let BlockMeasurements {
            values,
            valid,
            mut blocks,
            used,
            ..
        } = all;
        blocks.truncate(used);
        let mut columns = self.columns(&scene, state, &layout);

        // Scale the columns to the units of the parameters.
        let paths = self.unknowns().iter().map(|unknown| unknown.path.as_str());
        let named: Vec<(&str, &Variable)> = paths.zip(state).collect();
        let components = components(&named);
        for block in &mut blocks {
            block.divide(|component| components[component].slope);
        }
        for column in &mut columns {
            for (_, slope) in &mut column.slopes {
                *slope /= components[column.component].slope;
            }
        }
        LinearizedMeasurements {
            values,
            valid,
            components,
            blocks,
            columns,
        }
    }
}

impl LinearizedMeasurements {
    /// The dense Jacobian $\partial y_i / \partial x_j$, row-major: one row per value and one column per
    /// component, in the unit of the value by that of the component. Rows without a value are zero.
    pub fn jacobian(&self) -> Vec<f64> {
        let width = self.components.len();
        let mut jacobian = vec![0.0; self.valid.len() * width];
        self.for_each(|number, component, slope| jacobian[number * width + component] += slope);
        jacobian
    }

    /// Change $J \dot x$ of the values along a step of the unknowns, one number per component.
    ///
    /// # Panics
    /// Where the step has another number of components.
    pub fn along(&self, step: &[f64]) -> Vec<f64> {
        assert_eq!(step.len(), self.components.len(), "components of the step");
        let mut change = vec![0.0; self.valid.len()];
        self.for_each(|number, component, slope| change[number] += slope * step[component]);
        change
    }

    /// Gradient $J^\top \bar y$ of a function of the values by the components, from its derivatives by the
    /// values. Those by values that do not exist have no effect, and may be NaN.
    ///
    /// # Panics
    /// Where there are not as many derivatives as values.
    pub fn pulled_back(&self, by_values: &[f64]) -> Vec<f64> {
        assert_eq!(by_values.len(), self.valid.len(), "derivatives by values");
        let mut gradient = vec![0.0; self.components.len()];
        for block in &self.blocks {
            let own = block.pulled_back(by_values);
            for (&component, own) in block.components.iter().zip(own) {
                gradient[component] = own;
            }
        }
        for column in &self.columns {
            for &(number, slope) in &column.slopes {
                if self.valid[number] {
                    gradient[column.component] += by_values[number] * slope;
                }
            }
        }
        gradient
    }

    /// Calls `visit` with the indices of value and component of each stored derivative, and the derivative.
    fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for block in &self.blocks {
            block.for_each_row(|number, row| {
                for (&component, &slope) in block.components.iter().zip(row) {
                    visit(number, component, slope);
                }
            });
        }
        for column in &self.columns {
            for &(number, slope) in &column.slopes {
                visit(number, column.component, slope);
            }
        }
    }
}
