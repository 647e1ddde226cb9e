//! L-BFGS through `argmin`, in the tangent space at the start.
//!
//! Source: Liu and Nocedal 1989, doi:10.1007/BF01589116; line search of Moré and Thuente 1994,
//! doi:10.1145/192115.192132.

use super::{Iteration, Loss, Problem, SolveError, Stage, Stop, Walk};
use crate::manifold::Manifold;
use argmin::core::{CostFunction, Error, Gradient, IterState, Solver as _, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use nalgebra::DVector;

/// Length of the first step tried, in the unit of the unknowns: without curvature known, the
/// gradient's own length means nothing.
const FIRST_STEP: f64 = 0.1;

type Search = LBFGS<MoreThuenteLineSearch<Vec<f64>, Vec<f64>, f64>, Vec<f64>, Vec<f64>, f64>;
type Point = IterState<Vec<f64>, Vec<f64>, (), (), (), f64>;

pub(super) fn descend<P: Problem>(
    walk: &mut Walk<'_, P>,
    stage: Stage,
    memory: usize,
) -> Result<Stop, SolveError> {
    let objective = Objective::new(walk, stage.loss);
    let unit = objective.unit;
    if unit * FIRST_STEP < walk.limits.gradient {
        return Ok(Stop::Gradient);
    }
    let mut search: Search = LBFGS::new(MoreThuenteLineSearch::new(), memory);
    let start = objective.start.clone();
    let mut problem = argmin::core::Problem::new(objective);
    let first = Point::new().param(vec![0.0; start.dimension()]);
    let (mut point, _) = search
        .init(&mut problem, first)
        .map_err(|error| failed(&error))?;
    point.update();
    let mut reached = (vec![0.0; start.dimension()], point.get_cost());
    while !walk.exhausted() {
        let gradient = largest(point.get_gradient()) * unit;
        if gradient < walk.limits.gradient {
            return Ok(Stop::Gradient);
        }
        (point, _) = search
            .next_iter(&mut problem, point)
            .map_err(|error| failed(&error))?;
        let Some(tangent) = point.get_param().cloned() else {
            return Ok(Stop::NoDescent);
        };
        point.increment_iter();
        let (before, cost_before) = std::mem::replace(&mut reached, (tangent, point.get_cost()));
        let length = distance(&before, &reached.0);
        walk.move_to(start.retract(&reached.0));
        note(walk, stage, gradient, length, reached.1 * unit);
        if length < walk.limits.step {
            return Ok(Stop::Step);
        }
        if cost_before - reached.1 <= walk.limits.cost * cost_before.abs() {
            return Ok(Stop::Cost);
        }
    }
    Ok(Stop::Iterations)
}

fn note<P: Problem>(walk: &mut Walk<'_, P>, stage: Stage, gradient: f64, step: f64, cost: f64) {
    let missing = walk.problem.residuals(&walk.state).missing;
    walk.note(Iteration {
        number: walk.log.len() + 1,
        state: walk.state.clone(),
        cost,
        gradient,
        step,
        damping: 0.0,
        widening: stage.widening,
        missing,
    });
}

fn failed(error: &Error) -> SolveError {
    SolveError::Lbfgs {
        reason: error.to_string(),
    }
}

fn largest(gradient: Option<&Vec<f64>>) -> f64 {
    gradient.map_or(0.0, |g| g.iter().fold(0.0, |max, x| x.abs().max(max)))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// The cost over the tangent space at the start, in a unit that makes the first step
/// [`FIRST_STEP`] long.
struct Objective<'a, P: Problem> {
    problem: &'a P,
    start: P::State,
    loss: Loss,
    gate: f64,
    unit: f64,
}

impl<'a, P: Problem> Objective<'a, P> {
    fn new(walk: &Walk<'a, P>, loss: Loss) -> Self {
        let (_, gradient) = walk.problem.gradient(&walk.state, loss, walk.limits.gate);
        Self {
            problem: walk.problem,
            start: walk.state.clone(),
            loss,
            gate: walk.limits.gate,
            unit: DVector::from_vec(gradient).norm() / FIRST_STEP,
        }
    }
}

impl<P: Problem> CostFunction for Objective<'_, P> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, tangent: &Vec<f64>) -> Result<f64, Error> {
        let residuals = self.problem.residuals(&self.start.retract(tangent));
        Ok(residuals.cost(self.loss, self.gate) / self.unit)
    }
}

impl<P: Problem> Gradient for Objective<'_, P> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, tangent: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let state = self.start.retract(tangent);
        let (_, gradient) = self.problem.gradient(&state, self.loss, self.gate);
        let turned = self
            .start
            .right_jacobian(tangent)
            .tr_mul(&DVector::from_vec(gradient));
        Ok((turned / self.unit).as_slice().to_vec())
    }
}
