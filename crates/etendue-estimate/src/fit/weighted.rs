//! Refinement of a fit with weights from the noise of the sensor.
//!
//! The stages of [`solve_in_stages`](super::solve_in_stages) weigh all ranges equally, because the
//! variance of a beam depends on the surface that it hits, which is unknown far from the minimum. Near the
//! minimum, the refinement divides every residual by its standard deviation, predicted at the current
//! state, solves, and repeats with the new state. The cost is then half of a chi-square variable, and beams
//! at edges, whose range is unpredictable, have no weight. The weights are constant while the solver
//! runs: weights that follow the state would favour states with noisy predictions.

use super::problem::FitProblem;
use super::refine_by_rays::refine_by_rays;
use crate::manifold::{Manifold, Variable};
use crate::model::Parameter;
use crate::solve::{
    Iteration, LeastSquares, NormalEquations, Solution, SolveError, Solver, SolverLimits,
    StopReason,
};
use nalgebra::DVector;

/// Scale of robust losses in standard deviations. Cauchy's loss has an efficiency of 99 % there.
const ROBUST_SCALE: f64 = 4.0;

/// Residual of a beam that was measured but is not predicted, in standard deviations.
const GATE: f64 = 10.0;

/// Standard deviation of the direction of a beam by the uncertainty of the pose in the first round, rad.
const FIRST_POINTING_SD: f64 = 3e-3;

/// Maximum number of evaluations of the weights.
const MAX_ROUNDS: usize = 5;

/// Squared length of a step, in standard deviations of the estimate, below which the refinement ends.
const MIN_SQUARED_STEP: f64 = 1e-2;

/// Fit with weights from the noise of the sensor.
#[derive(Clone, Debug)]
pub struct WeightedFit {
    /// Problem with residuals in standard deviations.
    pub problem: FitProblem,
    /// Solver with the scale of its loss in standard deviations.
    pub solver: Solver,
    /// Solution; its log includes the iterations before the refinement.
    pub solution: Solution<Vec<Variable>>,
}

/// Refines a solution with weights from the noise of the sensor.
///
/// A robust loss of the solver is used with a scale of four standard deviations.
///
/// # Errors
/// As [`Solver::solve`].
pub fn refine_weighted(
    problem: &FitProblem,
    solver: &Solver,
    solution: Solution<Vec<Variable>>,
) -> Result<WeightedFit, SolveError> {
    let solver = Solver {
        loss: solver.loss.with_scale(ROBUST_SCALE),
        continuation: None,
        limits: SolverLimits {
            gate: GATE,
            ..solver.limits
        },
        ..*solver
    };
    let mut fit = WeightedFit {
        problem: problem.weighted(&solution.state, FIRST_POINTING_SD),
        solver,
        solution,
    };
    for round in 1..=MAX_ROUNDS {
        let step = fit.solve()?;
        if (round > 1 && step < MIN_SQUARED_STEP) || round == MAX_ROUNDS {
            break;
        }
        fit.problem = problem.weighted(&fit.solution.state, fit.pointing_sd());
    }
    Ok(fit)
}

impl WeightedFit {
    /// Standard deviation of the direction of a beam, at the median range, by the uncertainty of the pose of
    /// the sensor, rad: the largest of all scans, at most that of the first round.
    ///
    /// Residuals above the noise increase the uncertainty. With the squared loss, beams on the wrong side of an edge
    /// are then near an edge, and have no weight in the next round.
    fn pointing_sd(&self) -> f64 {
        let linearization = self.problem.linearize(&self.solution.state);
        let normal = NormalEquations::new(&linearization, self.solver.loss);
        let Some(inverse) = normal.matrix.cholesky().map(|c| c.inverse()) else {
            return FIRST_POINTING_SD;
        };
        let residuals = &linearization.residuals;
        let freedom = residuals.values.len().saturating_sub(inverse.nrows());
        let cost = residuals.cost(self.solver.loss, GATE);
        let excess = (2.0 * cost / freedom.max(1) as f64).max(1.0);
        let range = self.problem.median_range();
        let mut largest = 0.0_f64;
        let mut first = 0;
        let unknowns = self.problem.model.unknowns().iter();
        for (unknown, variable) in unknowns.zip(&self.solution.state) {
            let next = first + variable.dimension();
            if matches!(unknown.parameter, Parameter::SensorPose(_)) {
                let components = variable.components().iter().zip(variable.slopes());
                let variance = (first..next)
                    .zip(components)
                    .map(|(i, ((_, unit), slope))| {
                        let angle = if *unit == "m" { slope / range } else { slope };
                        angle * angle * inverse[(i, i)]
                    });
                largest = largest.max(variance.sum());
            }
            first = next;
        }
        (excess * largest).sqrt().min(FIRST_POINTING_SD)
    }

    /// Solves with the current weights; the squared length of the step, in standard deviations.
    fn solve(&mut self) -> Result<f64, SolveError> {
        // Solve, and number the iterations consecutively.
        let start = self.solution.state.clone();
        let before = self.solution.log.len();
        let mut log = std::mem::take(&mut self.solution.log);
        let mut observe = |iteration: &Iteration<Vec<Variable>>| {
            let number = iteration.number + before;
            log.push(Iteration {
                number,
                ..iteration.clone()
            });
        };
        let mut found = if self.problem.model.edges.is_some() {
            refine_by_rays(&self.problem, &self.solver, start.clone(), &mut observe)?
        } else {
            self.solver
                .solve_observed(&self.problem, start.clone(), &mut observe)?
        };
        // Measure the step, and the predicted next one, which steps of the cost may prevent.
        let linearization = self.problem.linearize(&found.state);
        let normal = NormalEquations::new(&linearization, self.solver.loss);
        let step = DVector::from_vec(found.state.local(&start));
        let next = normal.step(1e-9);
        let is_minimum =
            next.is_some_and(|next| 2.0 * normal.predicted_decrease(&next) < MIN_SQUARED_STEP);
        if found.stop == StopReason::NoDescent && is_minimum {
            found.stop = StopReason::Cost;
        }
        self.solution = Solution { log, ..found };
        Ok(step.dot(&(&normal.matrix * &step)))
    }
}
