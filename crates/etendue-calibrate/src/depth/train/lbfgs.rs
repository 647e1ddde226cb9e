//! L-BFGS through `argmin`, in the tangent space at the start.

use crate::depth::{DepthError, Objective, Unknowns};
use argmin::core::{CostFunction, Error, Gradient, IterState, Problem, Solver as _, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

type Search = LBFGS<MoreThuenteLineSearch<Vec<f64>, Vec<f64>, f64>, Vec<f64>, Vec<f64>, f64>;
type Point = IterState<Vec<f64>, Vec<f64>, (), (), (), f64>;

/// Gradient, in the scaled unknowns and relative to the loss at the start, that counts as none.
const FLAT: f64 = 1e-9;

pub(super) fn descend(
    objective: &Objective<'_>,
    start: Unknowns,
    memory: usize,
    iterations: usize,
    observe: &mut dyn FnMut(&Unknowns, f64),
) -> Result<Unknowns, DepthError> {
    let scaled = Scaled::new(objective, start);
    let place = |at: &[f64]| scaled.start.moved(&scaled.step(at));
    let mut search: Search = LBFGS::new(MoreThuenteLineSearch::new(), memory);
    let mut problem = Problem::new(&scaled);
    let first = Point::new().param(vec![0.0; scaled.scales.len()]);
    let (mut point, _) = search.init(&mut problem, first).map_err(|e| failed(&e))?;
    point.update();
    let mut reached = scaled.start.clone();
    let mut loss = point.get_cost();
    for _ in 0..iterations {
        if flat(point.get_gradient()) {
            break;
        }
        (point, _) = match search.next_iter(&mut problem, point) {
            Ok(next) => next,
            // At the bottom rounding lets the line search fail: what was reached stands.
            Err(_) if loss < 1.0 => break,
            Err(error) => return Err(failed(&error)),
        };
        point.increment_iter();
        let Some(at) = point.get_param() else { break };
        if point.get_cost() >= loss {
            break;
        }
        (reached, loss) = (place(at), point.get_cost());
        observe(&reached, loss * scaled.unit);
    }
    Ok(reached)
}

fn flat(gradient: Option<&Vec<f64>>) -> bool {
    gradient.is_none_or(|g| g.iter().all(|x| x.abs() < FLAT))
}

fn failed(error: &Error) -> DepthError {
    DepthError::Optimiser {
        reason: error.to_string(),
    }
}

/// The loss relative to that at the start, over unknowns scaled so that each has about unit
/// curvature.
struct Scaled<'a> {
    objective: &'a Objective<'a>,
    start: Unknowns,
    scales: Vec<f64>,
    unit: f64,
}

impl<'a> Scaled<'a> {
    fn new(objective: &'a Objective<'a>, start: Unknowns) -> Self {
        let here = objective.curvature(&start);
        let unit = if here.value > 0.0 { here.value } else { 1.0 };
        let scale = |&h: &f64| if h > 0.0 { (unit / h).sqrt() } else { 0.0 };
        Self {
            objective,
            scales: here.matrix.diagonal().iter().map(scale).collect(),
            start,
            unit,
        }
    }

    fn step(&self, at: &[f64]) -> Vec<f64> {
        at.iter().zip(&self.scales).map(|(a, s)| a * s).collect()
    }
}

impl CostFunction for &Scaled<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, at: &Vec<f64>) -> Result<f64, Error> {
        let place = self.start.moved(&self.step(at));
        Ok(self.objective.value(&place) / self.unit)
    }
}

impl Gradient for &Scaled<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    // Corrections compose, so away from the start the derivative over the summed twist is that of
    // the composed one only to first order; with corrections of a degree that is 1 %.
    fn gradient(&self, at: &Vec<f64>) -> Result<Vec<f64>, Error> {
        let place = self.start.moved(&self.step(at));
        let (_, gradient) = self.objective.gradient(&place);
        let scaled = gradient.iter().zip(&self.scales);
        Ok(scaled.map(|(g, s)| g * s / self.unit).collect())
    }
}
