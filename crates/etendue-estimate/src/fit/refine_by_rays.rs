//! Refinement of a fit by the rays of the beams, along directions that only edges determine.
//!
//! Predictions by rays jump when an edge passes from one ray of a beam to the next. Along a direction
//! that only edges determine, such as a translation of a mirror in its plane, the cost is therefore
//! piecewise constant, with zero derivatives almost everywhere. The derivatives of the integral over
//! the beam belong to a smooth cost whose minimum differs by millimetres, and one ray on the wrong
//! side of an edge biases weakly determined directions by more than their standard deviation.
//!
//! The refinement samples the cost along the principal directions of the normal matrix of the rays,
//! in ascending order of eigenvalue, with three spacings from coarse to fine. It moves to the middle
//! of the step of lowest cost, and then to the mean of the [posterior distribution](super::posterior); the solver ends the fit
//! without edges.
//!
//! Sweeps over several elevations are not scanned. They have hundreds of beams across an edge where a
//! planar sweep has a few: the steps of their cost are small, and the derivatives of edges suffice.

use super::posterior::Posterior;
use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable};
use crate::solve::{
    Iteration, LeastSquares, Linearization, Loss, NormalEquations, Solution, SolveError, Solver,
};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Norm of the change of the predictions (m) between adjacent samples of the coarsest scan.
const SPACING: f64 = 0.1;

/// Spacings of the scans relative to the coarsest, in descending order.
const RELATIVE_SPACINGS: [f64; 3] = [1.0, 0.3, 0.1];

/// Number of samples of a scan on each side of the state.
const SAMPLES_PER_SIDE: i32 = 24;

/// Maximum number of unknowns of a problem that is scanned.
const MAX_UNKNOWNS: usize = 12;

/// Minimum norm of a column of the Jacobian relative to the longest, for scaling.
const MIN_COLUMN_NORM: f64 = 1e-6;

/// Scan of the cost along a direction of the tangent space.
pub(super) struct Scan {
    /// Unit vector of the tangent space.
    pub direction: DVector<f64>,
    /// Distance between adjacent samples of the coarsest scan along the direction.
    pub spacing: f64,
}

/// Refines a state near its minimum by scans of the cost, then by the solver without edges.
pub(super) fn refine_by_rays(
    problem: &FitProblem,
    solver: &Solver,
    start: Vec<Variable>,
    observe: &mut dyn FnMut(&Iteration<Vec<Variable>>),
) -> Result<Solution<Vec<Variable>>, SolveError> {
    if !problem.model.is_planar() {
        return solver.solve_observed(problem, start, observe);
    }
    let by_rays = problem.by_rays();
    let mut state = start;
    for fine in RELATIVE_SPACINGS {
        for scan in scans(problem, solver.loss, &state) {
            let middle = scan.lowest_step(&by_rays, solver, &state, fine);
            state = state.retract((&scan.direction * middle).as_slice());
        }
    }
    if let Some(posterior) = Posterior::along_edges(problem, solver, &state) {
        state = state.retract(posterior.mean.as_slice());
    }
    solver.solve_observed(&by_rays, state, observe)
}

/// Scans along the principal directions of the normal matrix of the rays, in ascending order of
/// eigenvalue; none for models without edges, and none along directions that change no prediction.
pub(super) fn scans(problem: &FitProblem, loss: Loss, state: &Vec<Variable>) -> Vec<Scan> {
    // Return early for problems that are not scanned.
    let has_fine_steps = !problem.model.is_planar();
    if has_fine_steps || state.dimension() > MAX_UNKNOWNS || problem.model.edges.is_none() {
        return Vec::new();
    }
    // Scale the normal matrix of the rays to columns of unit length.
    let in_metres = problem.in_metres().linearize(state);
    let normal = NormalEquations::new(&problem.by_rays().linearize(state), loss).matrix;
    if normal.diagonal().amax() == 0.0 {
        return Vec::new();
    }
    let min_norm = MIN_COLUMN_NORM * normal.diagonal().amax().sqrt();
    let norms = normal.diagonal().map(|d| d.sqrt().max(min_norm));
    let scaled = DMatrix::from_fn(normal.nrows(), normal.ncols(), |i, j| {
        normal[(i, j)] / (norms[i] * norms[j])
    });
    // Scan along its eigenvectors, so that the predictions change equally between samples.
    let eigen = SymmetricEigen::new(scaled);
    let mut order: Vec<usize> = (0..norms.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let scan = |i: usize| {
        let direction = eigen.eigenvectors.column(i).component_div(&norms);
        let direction = direction.normalize();
        let change = change(&in_metres, &direction);
        (change > 0.0).then(|| Scan {
            spacing: SPACING / change,
            direction,
        })
    };
    order.into_iter().filter_map(scan).collect()
}

/// Norm of the directional derivative of the residuals.
fn change(linearization: &Linearization, direction: &DVector<f64>) -> f64 {
    let along = |row: &[f64]| -> f64 { row.iter().zip(direction).map(|(j, d)| j * d).sum() };
    let squares = linearization.rows().map(|row| along(row).powi(2));
    squares.sum::<f64>().sqrt()
}

impl Scan {
    /// Middle of the step of lowest cost around a state, with the spacing of the scan multiplied by `fine`.
    fn lowest_step(
        &self,
        by_rays: &FitProblem,
        solver: &Solver,
        state: &Vec<Variable>,
        fine: f64,
    ) -> f64 {
        // Sample the cost.
        let spacing = self.spacing * fine;
        let gate = solver.limits.gate;
        let residuals = |place: i32| {
            let along = &self.direction * (f64::from(place) * spacing);
            by_rays.residuals(&state.retract(along.as_slice()))
        };
        let costs: Vec<f64> = (-SAMPLES_PER_SIDE..=SAMPLES_PER_SIDE)
            .map(|place| residuals(place).cost(solver.loss, gate))
            .collect();
        let lowest = costs.iter().copied().fold(f64::INFINITY, f64::min);
        // Find the interval whose costs differ from the lowest by less than the noise.
        let at_state = residuals(0);
        let weights = at_state.weights(solver.loss);
        let squares = at_state.values.iter().zip(&weights).map(|(r, w)| w * r * r);
        // Increase of the cost by one residual of one standard deviation.
        let margin = 0.5 * squares.sum::<f64>() / weights.iter().sum::<f64>().max(1.0);
        middle_of_lowest(&costs, lowest + margin, spacing)
    }
}

/// Middle of the interval of costs up to `limit` around the lowest cost.
fn middle_of_lowest(costs: &[f64], limit: f64, spacing: f64) -> f64 {
    let lowest = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let lowest = lowest.unwrap_or(0);
    let is_above = |i: &usize| costs[*i] > limit;
    let from = (0..lowest).rev().find(is_above).map_or(0, |i| i + 1);
    let to = (lowest..costs.len()).find(is_above).unwrap_or(costs.len());
    let middle = 0.5 * (from + to - 1) as f64 - f64::from(SAMPLES_PER_SIDE);
    middle * spacing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_lowest_step_is_taken() {
        let costs: Vec<f64> = (-SAMPLES_PER_SIDE..=SAMPLES_PER_SIDE)
            .map(|place| match place {
                -5..=3 => 1.0,
                4..=9 => 2.0,
                _ => 3.0,
            })
            .collect();
        let middle = middle_of_lowest(&costs, 1.5, 0.1);
        assert!((middle + 0.1).abs() < 1e-12, "{middle}");
    }
}
