//! The end of a fit in directions that only edges determine.
//!
//! The predictions by rays change in steps when an edge moves from one ray to the next: along a
//! direction that only edges determine (the plane of a mirror), the cost is a staircase. Its derivatives
//! are zero nearly everywhere. Those of the integral over the beam belong to another function, whose
//! minimum is off by millimetres, and a single ray on the wrong side of an edge shifts weakly determined
//! directions by more than their noise. Therefore the cost is scanned along the principal directions of
//! the normal matrix of the rays, the weakest first, from coarse to fine. The scan continues from the
//! middle of the lowest step, and the solver ends the fit without edges. Half the width of the step is
//! the uncertainty of its direction.
//!
//! A sweep over several elevations has hundreds of beams across an edge where a planar sweep has a
//! few: its steps are small, and the derivatives of edges suffice. It is not scanned.

use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable};
use crate::solve::{
    Iteration, LeastSquares, Linearization, Loss, NormalEquations, Solution, SolveError, Solver,
};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Change of all predictions together over the spacing of the first scan, m.
const SPACING: f64 = 0.1;

/// Spacings of the scans relative to the first.
const FINER: [f64; 3] = [1.0, 0.3, 0.1];

/// Number of samples of a scan on either side.
const PLACES: i32 = 24;

/// Largest number of unknowns with scans.
const MOST_UNKNOWNS: usize = 12;

/// Least length of a column relative to the longest.
const SHORTEST: f64 = 1e-6;

/// Scan along a direction.
struct Scan {
    /// Direction in the tangent space.
    direction: DVector<f64>,
    /// Spacing of the first scan in units of the direction.
    spacing: f64,
}

/// The lowest step of the cost.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Position of its middle along the direction.
    middle: f64,
    /// Half of its width.
    half: f64,
}

/// Ends a fit near its minimum: scans, then the solver without edges.
pub(super) fn refine_by_rays(
    problem: &FitProblem,
    solver: &Solver,
    start: Vec<Variable>,
    observe: &mut dyn FnMut(&Iteration<Vec<Variable>>),
) -> Result<Solution<Vec<Variable>>, SolveError> {
    if !problem.model.sensor().is_planar() {
        return solver.solve_observed(problem, start, observe);
    }
    let by_rays = problem.by_rays();
    let mut state = start;
    for fine in FINER {
        for scan in scans(problem, solver.loss, &state) {
            let step = scan.lowest_step(&by_rays, solver, &state, fine);
            state = state.retract((&scan.direction * step.middle).as_slice());
        }
    }
    solver.solve_observed(&by_rays, state, observe)
}

/// Covariance that the steps add, in the coordinates of the solver.
pub(super) fn step_variance(
    problem: &FitProblem,
    solver: &Solver,
    state: &Vec<Variable>,
) -> DMatrix<f64> {
    let by_rays = problem.by_rays();
    let mut variance = DMatrix::zeros(state.dimension(), state.dimension());
    for scan in scans(problem, solver.loss, state) {
        let step = scan.lowest_step(&by_rays, solver, state, FINER[2]);
        // Uniform over the step.
        let spread = step.half * step.half / 3.0;
        variance += &scan.direction * scan.direction.transpose() * spread;
    }
    variance
}

/// Scans along the principal directions of the normal matrix of the rays, the weakest first; none
/// without edges and in directions that edges do not change.
fn scans(problem: &FitProblem, loss: Loss, state: &Vec<Variable>) -> Vec<Scan> {
    let has_fine_steps = !problem.model.sensor().is_planar();
    if has_fine_steps || state.dimension() > MOST_UNKNOWNS || problem.model.edges.is_none() {
        return Vec::new();
    }
    let seeing = problem.linearize(state);
    let normal = NormalEquations::new(&problem.by_rays().linearize(state), loss).matrix;
    if normal.diagonal().amax() == 0.0 {
        return Vec::new();
    }
    let shortest = SHORTEST * normal.diagonal().amax().sqrt();
    let lengths = normal.diagonal().map(|d| d.sqrt().max(shortest));
    let scaled = DMatrix::from_fn(normal.nrows(), normal.ncols(), |i, j| {
        normal[(i, j)] / (lengths[i] * lengths[j])
    });
    let eigen = SymmetricEigen::new(scaled);
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let scan = |i: usize| {
        let direction = eigen.eigenvectors.column(i).component_div(&lengths);
        let direction = direction.normalize();
        let change = change(&seeing, &direction) * problem.sigma;
        (change > 0.0).then(|| Scan {
            spacing: SPACING / change,
            direction,
        })
    };
    order.into_iter().filter_map(scan).collect()
}

/// Norm of the change of all residuals along a direction.
fn change(linearization: &Linearization, direction: &DVector<f64>) -> f64 {
    let along = |row: &[f64]| -> f64 { row.iter().zip(direction).map(|(j, d)| j * d).sum() };
    let squares = linearization.rows().map(|row| along(row).powi(2));
    squares.sum::<f64>().sqrt()
}

impl Scan {
    /// The lowest step around a state, with the spacing of the scan multiplied by `fine`.
    fn lowest_step(
        &self,
        by_rays: &FitProblem,
        solver: &Solver,
        state: &Vec<Variable>,
        fine: f64,
    ) -> Step {
        let spacing = self.spacing * fine;
        let gate = solver.limits.gate;
        let residuals = |place: i32| {
            let along = &self.direction * (f64::from(place) * spacing);
            by_rays.residuals(&state.retract(along.as_slice()))
        };
        let costs: Vec<f64> = (-PLACES..=PLACES)
            .map(|place| residuals(place).cost(solver.loss, gate))
            .collect();
        let lowest = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let here = residuals(0);
        let weights = here.weights(solver.loss);
        let squares = here.values.iter().zip(&weights).map(|(r, w)| w * r * r);
        // Cost of one standard deviation.
        let margin = 0.5 * squares.sum::<f64>() / weights.iter().sum::<f64>().max(1.0);
        middle_of_lowest(&costs, lowest + margin, spacing)
    }
}

/// Middle and half width of the interval around the lowest cost with costs up to `most`.
fn middle_of_lowest(costs: &[f64], most: f64, spacing: f64) -> Step {
    let lowest = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let lowest = lowest.unwrap_or(0);
    let is_above = |i: &usize| costs[*i] > most;
    let from = (0..lowest).rev().find(is_above).map_or(0, |i| i + 1);
    let to = (lowest..costs.len()).find(is_above).unwrap_or(costs.len());
    let middle = 0.5 * (from + to - 1) as f64 - f64::from(PLACES);
    Step {
        middle: middle * spacing,
        half: 0.5 * (to - from) as f64 * spacing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_lowest_step_is_taken() {
        let costs: Vec<f64> = (-PLACES..=PLACES)
            .map(|place| match place {
                -5..=3 => 1.0,
                4..=9 => 2.0,
                _ => 3.0,
            })
            .collect();
        let step = middle_of_lowest(&costs, 1.5, 0.1);
        assert!((step.middle + 0.1).abs() < 1e-12, "{step:?}");
        assert!((step.half - 0.45).abs() < 1e-12, "{step:?}");
    }
}
