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
//! of the step of lowest cost, and along directions that edges determine to the mean of the likelihood
//! $e^{-C}$ of the cost $C$; the solver ends the fit without edges. The variance of the likelihood is that
//! of the estimate: $h^2/3$ on one step of half width $h$, and that of the normal distribution where many steps
//! are near the lowest.
//!
//! Sweeps over several elevations are not scanned. They have hundreds of beams across an edge where a
//! planar sweep has a few: the steps of their cost are small, and the derivatives of edges suffice.

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

/// Information by edges relative to that of smooth surfaces above which edges determine a direction.
const BY_EDGES: f64 = 1.0;

/// Standard deviation of a likelihood in spacings of its samples: smallest and largest.
const RESOLUTION: [f64; 2] = [2.0, 8.0];

/// Likelihood at the ends of a scan, relative to the greatest, above which the scan is too short.
const NEGLIGIBLE: f64 = 1e-2;

/// Maximum number of scans until the samples resolve a likelihood.
const MAX_SCANS: usize = 12;

/// Scan of the cost along a direction of the tangent space.
struct Scan {
    /// Unit vector of the tangent space.
    direction: DVector<f64>,
    /// Coordinate along the direction as a linear form of a step: zero for the other directions.
    dual: DVector<f64>,
    /// Distance between adjacent samples of the coarsest scan along the direction.
    spacing: f64,
    /// Information on the coordinate from smooth surfaces, and with that of edges.
    information: [f64; 2],
}

/// Mean and variance of the likelihood along a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moments {
    mean: f64,
    variance: f64,
}

/// Refines a state near its minimum by scans of the cost, then by the solver without edges.
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
    for fine in RELATIVE_SPACINGS {
        for scan in scans(problem, solver.loss, &state) {
            let middle = scan.lowest_step(&by_rays, solver, &state, fine);
            state = state.retract((&scan.direction * middle).as_slice());
        }
    }
    for scan in scans(problem, solver.loss, &state) {
        if !scan.is_by_edges() {
            continue;
        }
        if let Some(position) = scan.position(&by_rays, solver, &state) {
            state = state.retract((&scan.direction * position.mean).as_slice());
        }
    }
    solver.solve_observed(&by_rays, state, observe)
}

/// Linearisation without edges, with one row for each direction that edges determine: its information is the
/// inverse variance of the likelihood, or that of the derivatives of edges if the samples do not resolve it. `None` for
/// problems that are not scanned.
pub(super) fn linearize_with_steps(
    problem: &FitProblem,
    solver: &Solver,
    state: &Vec<Variable>,
) -> Option<Linearization> {
    let scans = scans(problem, solver.loss, state);
    if scans.is_empty() {
        return None;
    }
    let by_rays = problem.by_rays();
    let mut linearization = by_rays.linearize(state);
    for scan in scans.iter().filter(|scan| scan.is_by_edges()) {
        let [smooth, with_edges] = scan.information;
        let position = scan.position(&by_rays, solver, state);
        let whole = position.map_or(with_edges, |position| 1.0 / position.variance);
        let information = (whole - smooth).max(0.0);
        linearization.residuals.values.push(0.0);
        linearization.residuals.priors += 1;
        let row = &scan.dual * information.sqrt();
        linearization.jacobian.extend(row.iter());
    }
    Some(linearization)
}

/// Scans along the principal directions of the normal matrix of the rays, in ascending order of
/// eigenvalue; none for models without edges, and none along directions that change no prediction.
fn scans(problem: &FitProblem, loss: Loss, state: &Vec<Variable>) -> Vec<Scan> {
    // Return early for problems that are not scanned.
    let has_fine_steps = !problem.model.sensor().is_planar();
    if has_fine_steps || state.dimension() > MAX_UNKNOWNS || problem.model.edges.is_none() {
        return Vec::new();
    }
    // Scale the normal matrix of the rays to columns of unit length.
    let in_metres = problem.in_metres().linearize(state);
    let normal = NormalEquations::new(&problem.by_rays().linearize(state), loss).matrix;
    let with_edges = NormalEquations::new(&problem.linearize(state), loss).matrix;
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
        let vector = eigen.eigenvectors.column(i);
        let direction = vector.component_div(&norms);
        let length = direction.norm();
        let direction = direction / length;
        let change = change(&in_metres, &direction);
        (change > 0.0).then(|| Scan {
            spacing: SPACING / change,
            dual: vector.component_mul(&norms) * length,
            information: [&normal, &with_edges].map(|of| direction.dot(&(of * &direction))),
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
    /// Whether edges determine the direction.
    fn is_by_edges(&self) -> bool {
        let [smooth, with_edges] = self.information;
        with_edges - smooth > BY_EDGES * smooth
    }

    /// Position along the direction by the likelihood; `None` if the samples do not resolve it, such as along a direction
    /// that the scan does not determine.
    fn position(
        &self,
        by_rays: &FitProblem,
        solver: &Solver,
        state: &Vec<Variable>,
    ) -> Option<Moments> {
        let gate = solver.limits.gate;
        let cost_at = |place: f64| {
            let along = &self.direction * place;
            by_rays
                .residuals(&state.retract(along.as_slice()))
                .cost(solver.loss, gate)
        };
        // Unit of the costs: half of the mean square of a residual, at least that of the noise.
        let at_state = by_rays.residuals(state);
        let weights = at_state.weights(solver.loss);
        let squares = at_state.values.iter().zip(&weights).map(|(r, w)| w * r * r);
        let unit = (squares.sum::<f64>() / weights.iter().sum::<f64>().max(1.0)).max(1.0);
        // Sample the likelihood with a spacing that resolves it.
        let mut spacing = self.spacing;
        let mut centre = 0.0;
        for _ in 0..MAX_SCANS {
            let places: Vec<f64> = (-SAMPLES_PER_SIDE..=SAMPLES_PER_SIDE)
                .map(|sample| centre + f64::from(sample) * spacing)
                .collect();
            let costs: Vec<f64> = places.iter().map(|&place| cost_at(place) / unit).collect();
            let likelihoods = likelihoods(&costs);
            let found = moments(&places, &likelihoods, spacing);
            let sd = found.variance.sqrt();
            let ends = [likelihoods.first(), likelihoods.last()];
            let is_truncated = ends.into_iter().flatten().any(|end| *end > NEGLIGIBLE);
            if is_truncated || sd > RESOLUTION[1] * spacing {
                spacing *= 2.0;
            } else if sd < RESOLUTION[0] * spacing {
                spacing *= 0.25;
            } else {
                return Some(found);
            }
            centre = found.mean;
        }
        None
    }

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

/// Likelihoods $e^{-C}$ of costs, relative to the greatest.
fn likelihoods(costs: &[f64]) -> Vec<f64> {
    let lowest = costs.iter().copied().fold(f64::INFINITY, f64::min);
    costs.iter().map(|cost| (lowest - cost).exp()).collect()
}

/// Mean and variance by the likelihoods at equidistant places; a sample is uniform over its spacing.
fn moments(places: &[f64], likelihoods: &[f64], spacing: f64) -> Moments {
    let sum: f64 = likelihoods.iter().sum();
    let mean_of = |value: &dyn Fn(f64) -> f64| {
        let values = places.iter().zip(likelihoods);
        values
            .map(|(&place, likelihood)| value(place) * likelihood)
            .sum::<f64>()
            / sum
    };
    let mean = mean_of(&|place| place);
    Moments {
        mean,
        variance: mean_of(&|place| (place - mean).powi(2)) + spacing * spacing / 12.0,
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

    #[test]
    fn the_moments_are_those_of_a_step_and_of_a_parabola() {
        let places: Vec<f64> = (-24..=24).map(|place| 0.1 * f64::from(place)).collect();
        // Uniform over 11 samples of width 0.1, from -0.55 to 0.55.
        let step: Vec<f64> = (-24_i32..=24)
            .map(|place| if place.abs() <= 5 { 3.0 } else { 60.0 })
            .collect();
        let found = moments(&places, &likelihoods(&step), 0.1);
        assert!(found.mean.abs() < 1e-12, "{found:?}");
        assert!(
            (found.variance - 1.1 * 1.1 / 12.0).abs() < 1e-12,
            "{found:?}"
        );
        // Half of a chi-square variable: normal with a standard deviation of 0.4 around 0.2.
        let cost = |place: &f64| 0.5 * ((place - 0.2) / 0.4).powi(2);
        let parabola: Vec<f64> = places.iter().map(cost).collect();
        let found = moments(&places, &likelihoods(&parabola), 0.1);
        assert!((found.mean - 0.2).abs() < 1e-6, "{found:?}");
        let sampled = 0.16 + 0.01 / 12.0;
        assert!((found.variance - sampled).abs() < 1e-5, "{found:?}");
    }
}
