//! Restarts of a fit whose first solution does not explain the scans.

use super::problem::FitProblem;
use super::report::Misfits;
use super::soft_visibility::SoftVisibility;
use super::stages::solve_in_stages;
use crate::manifold::{Manifold, Variable, VariableValue};
use crate::model::{Parameter, Unknown};
use crate::solve::{Iteration, LeastSquares, Solution, SolveError, Solver};
use nalgebra::Vector3;
use std::f64::consts::PI;

/// Rotations of the objects from the start, in units of a sixth of pi, in the order of the restarts.
const ROTATIONS: [i32; 12] = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6];

/// Fraction of outlying residuals and missing beams above which a solution does not explain the scans.
const MAX_OUTLIERS: f64 = 0.01;

/// Maximum number of descents with soft visibility that are solved in stages.
const REFINED: usize = 4;

/// Norm of the tangent below which the ends of two descents count as one.
const MIN_DISTANCE: f64 = 0.05;

/// Solves a fit from its start, with restarts where the solution does not explain the scans.
///
/// The first descent is [`solve_in_stages`] from the start. Where more than 1 % of the beams are outliers
/// ([`Misfits`]) or missing, and the pose of an object is unknown, the fit descends again with soft
/// visibility, from the start and from the start with the objects rotated about their upright axes by
/// multiples of 30 degrees: rotations of a mirror have several minima of the cost, because different walls
/// appear in it. The descents of lowest cost are solved in stages, in ascending order, until one explains
/// the scans. The solution of lowest cost is returned, with the log of its stages.
///
/// # Errors
/// As [`Solver::solve`], where no descent has a solution.
pub fn solve_from_start(
    problem: &FitProblem,
    solver: &Solver,
    widths: &[f64],
    start: &[Variable],
    observe: &mut dyn FnMut(&Iteration<Vec<Variable>>),
) -> Result<Solution<Vec<Variable>>, SolveError> {
    let first = solve_in_stages(problem, solver, widths, start.to_vec(), observe);
    if first.as_ref().is_ok_and(|found| explains(problem, found)) {
        return first;
    }
    let Some(soft) = SoftVisibility::new(problem) else {
        return first;
    };
    // Descend with soft visibility from rotated starts.
    let by_rays = problem.by_rays();
    let mut ends: Vec<(Vec<Variable>, f64)> = Vec::new();
    for rotation in ROTATIONS {
        let angle = f64::from(rotation) * PI / 6.0;
        let end = soft.descend(rotated(problem, start, angle));
        let cost = by_rays
            .residuals(&end)
            .cost(solver.loss, solver.limits.gate);
        ends.push((end, cost));
    }
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut distinct: Vec<Vec<Variable>> = Vec::new();
    for (end, _) in ends {
        if distinct
            .iter()
            .all(|other| distance(other, &end) > MIN_DISTANCE)
        {
            distinct.push(end);
        }
    }
    // Solve the best in stages, until one explains the scans.
    let mut best = first;
    for end in distinct.into_iter().take(REFINED) {
        let found = solve_in_stages(problem, solver, widths, end, observe);
        let is_better = match (&found, &best) {
            (Ok(found), Ok(best)) => found.cost < best.cost,
            (Ok(_), Err(_)) => true,
            _ => false,
        };
        if is_better {
            best = found;
        }
        if best.as_ref().is_ok_and(|found| explains(problem, found)) {
            break;
        }
    }
    best
}

/// Norm of the tangent from `a` to `b`.
fn distance(a: &Vec<Variable>, b: &Vec<Variable>) -> f64 {
    a.local(b).iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Whether few beams are outliers or missing at a solution.
fn explains(problem: &FitProblem, found: &Solution<Vec<Variable>>) -> bool {
    let misfits = Misfits::among(problem.range_residuals(&found.state).into_iter());
    let beams = misfits.of + found.residuals.missing;
    (misfits.count + found.residuals.missing) as f64 <= MAX_OUTLIERS * beams as f64
}

/// A state with the objects of unknown pose rotated about their upright axes by an angle, rad.
fn rotated(problem: &FitProblem, state: &[Variable], angle: f64) -> Vec<Variable> {
    let unknowns = problem.model.unknowns().iter();
    let turn = |(unknown, variable): (&Unknown, &Variable)| {
        if !matches!(unknown.parameter, Parameter::ObjectPose(_)) {
            return variable.clone();
        }
        match variable.value() {
            VariableValue::Spatial(pose) => {
                let axis = pose.rotation.inverse() * Vector3::z();
                variable.retract(&[
                    0.0,
                    0.0,
                    0.0,
                    angle * axis.x,
                    angle * axis.y,
                    angle * axis.z,
                ])
            }
            VariableValue::Planar(_) => variable.retract(&[0.0, 0.0, angle]),
            VariableValue::Number(_) => variable.clone(),
        }
    };
    unknowns.zip(state).map(turn).collect()
}
