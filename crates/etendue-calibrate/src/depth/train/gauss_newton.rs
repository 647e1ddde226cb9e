//! Gauss-Newton with the damping of Levenberg and Marquardt (Marquardt 1963, doi:10.1137/0111030).

use crate::depth::loss::{DepthObjective, DepthUnknowns};
use etendue_estimate::solve::{DampedSearch, DampingSchedule, NormalEquations};
use nalgebra::DVector;

/// Predicted decrease, relative to the loss, below which the descent ends.
const MIN_DECREASE: f64 = 1e-15;

/// Damping of the first step, relative to the diagonal of the curvature.
const FIRST_DAMPING: f64 = 1e-6;

/// Minimises an objective with the damped steps of [`DampedSearch`].
pub(super) fn descend(
    objective: &DepthObjective<'_>,
    start: DepthUnknowns,
    iterations: usize,
    observe: &mut dyn FnMut(&DepthUnknowns, f64),
) -> DepthUnknowns {
    // Damping of the search.
    let mut reached = start;
    let mut search = DampedSearch {
        damping: FIRST_DAMPING,
        schedule: DampingSchedule::Marquardt,
        min_step: 0.0,
        min_decrease: MIN_DECREASE,
    };
    for _ in 0..iterations {
        // Normal equations at the reached unknowns.
        let curvature = objective.curvature(&reached);
        let normal = NormalEquations {
            matrix: curvature.matrix,
            gradient: DVector::from_vec(curvature.gradient),
        };
        // Damp until the loss decreases.
        let step = search.step(&normal, curvature.value, |step, _| {
            let next = reached.moved(step.as_slice());
            (objective.value(&next), next)
        });
        let Some(step) = step else { break };
        reached = step.evaluation;
        observe(&reached, step.cost);
    }
    reached
}
