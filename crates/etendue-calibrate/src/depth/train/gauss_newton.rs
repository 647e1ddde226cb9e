//! Damped Gauss-Newton.

use crate::depth::{Objective, Unknowns};
use nalgebra::{DMatrix, DVector};

/// A step shorter than this, by the curvature's own measure relative to the loss, ends it.
const LEAST_GAIN: f64 = 1e-15;
/// Damping, relative to the diagonal: at the start, and where it gives up.
const DAMPING: (f64, f64) = (1e-6, 1e9);

pub(super) fn descend(
    objective: &Objective<'_>,
    start: Unknowns,
    iterations: usize,
    observe: &mut dyn FnMut(&Unknowns, f64),
) -> Unknowns {
    let mut reached = start;
    let mut damping = DAMPING.0;
    for _ in 0..iterations {
        let here = objective.curvature(&reached);
        let gradient = DVector::from_vec(here.gradient);
        let Some((next, loss)) = better(
            objective,
            &reached,
            (here.value, &gradient, &here.matrix),
            &mut damping,
        ) else {
            break;
        };
        reached = next;
        observe(&reached, loss);
    }
    reached
}

/// The first damped step that lowers the loss, unless what is left to gain is nothing.
fn better(
    objective: &Objective<'_>,
    from: &Unknowns,
    (value, gradient, matrix): (f64, &DVector<f64>, &DMatrix<f64>),
    damping: &mut f64,
) -> Option<(Unknowns, f64)> {
    while *damping < DAMPING.1 {
        if let Some(step) = damped(matrix, gradient, *damping) {
            if -step.dot(gradient) < LEAST_GAIN * value {
                return None;
            }
            let next = from.moved(step.as_slice());
            let loss = objective.value(&next);
            if loss < value {
                *damping = (*damping * 0.1).max(1e-12);
                return Some((next, loss));
            }
        }
        *damping *= 10.0;
    }
    None
}

/// Solves for the step; unknowns without any curvature stay.
fn damped(matrix: &DMatrix<f64>, gradient: &DVector<f64>, damping: f64) -> Option<DVector<f64>> {
    let mut sum = matrix.clone();
    for i in 0..sum.nrows() {
        let diagonal = sum[(i, i)];
        sum[(i, i)] = if diagonal > 0.0 {
            diagonal * (1.0 + damping)
        } else {
            1.0
        };
    }
    Some(-sum.cholesky()?.solve(gradient))
}
