//! The end of a fit in which edges tell what nothing else does.
//!
//! Rays see an edge jump from one to the next: along a direction that only edges tell (a mirror's own
//! plane), the cost is a staircase. Its derivatives are zero nearly everywhere, and those of the
//! beam's integral belong to another function, whose minimum is elsewhere by millimetres. A single ray
//! on the wrong side of an edge pulls what other beams tell weakly by more than their noise. So near
//! the end the cost itself is scanned along the principal directions of what rays see, the weakest
//! first, from coarse to fine, and the middle of the lowest step is taken; then the solver ends the
//! fit without edges. Half a step's width is what is not known of its direction.
//!
//! A sweep over several elevations has hundreds of beams across an edge where a planar sweep has a
//! few: its staircase is fine, and the derivatives that edges have lead down it. It is not scanned.

use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable};
use crate::solve::{
    Iteration, LeastSquares, Linearization, Loss, NormalEquations, Solution, SolveError, Solver,
};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// The first scan's spacing changes the predictions of all beams together by this, m.
const SPACING: f64 = 0.1;

/// Spacings of the scans, relative to the first one's.
const FINER: [f64; 3] = [1.0, 0.3, 0.1];

/// Places on either side that a scan looks at.
const PLACES: i32 = 24;

/// With more unknowns than this, edges are left to their derivatives.
const MOST_UNKNOWNS: usize = 12;

/// Lengths of columns below this, relative to the longest, count as this.
const SHORTEST: f64 = 1e-6;

/// A direction that is scanned.
struct Scan {
    /// In the tangent.
    direction: DVector<f64>,
    /// Spacing of the first scan, in the direction's own length.
    spacing: f64,
}

/// The lowest step of a staircase.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    /// Where its middle is along the direction.
    middle: f64,
    /// Half its width.
    half: f64,
}

/// Ends a fit at `start`, which is near: scans, then `solver` on what rays see.
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

/// The variances that steps add, in the solver's own coordinates.
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

/// The principal directions of what rays see, the weakest first; none where there are no edges, or
/// where edges tell nothing of a direction.
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

/// How much all residuals together change along a direction.
fn change(linearization: &Linearization, direction: &DVector<f64>) -> f64 {
    let along = |row: &[f64]| -> f64 { row.iter().zip(direction).map(|(j, d)| j * d).sum() };
    let squares = linearization.rows().map(|row| along(row).powi(2));
    squares.sum::<f64>().sqrt()
}

impl Scan {
    /// The lowest step about a state, with the places of a scan `fine` times as far apart as usual.
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
        // What one standard deviation costs.
        let margin = 0.5 * squares.sum::<f64>() / weights.iter().sum::<f64>().max(1.0);
        middle_of_lowest(&costs, lowest + margin, spacing)
    }
}

/// The middle and half width of the stretch of costs up to `most` about the lowest.
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
