//! Gauss-Newton with the damping of Levenberg and Marquardt (Marquardt 1963, doi:10.1137/0111030).

use crate::depth::loss::{DepthObjective, DepthUnknowns};
use crate::depth::model::DepthModel;
use etendue_estimate::solve::{DampedSearch, DampingSchedule, NormalEquations};
use nalgebra::DVector;

/// Predicted decrease, relative to the loss, below which the descent ends.
const MIN_DECREASE: f64 = 1e-13;

/// Damping of the first step, relative to the diagonal of the curvature.
const FIRST_DAMPING: f64 = 1e-6;

/// Longest step of a pose, m and rad: the neighbourhoods are fixed while the poses move.
const LONGEST_STEP: [f64; 2] = [0.05, 0.02];

/// Greatest change of a weight of the waveform in a step: its bias is not linear in them.
const LARGEST_CHANGE: f64 = 0.7;

/// Minimises an objective with the damped steps of [`DampedSearch`], each within the region in which the
/// linearisation holds.
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
            let is_local = is_local(&reached, step.as_slice());
            let cost = if is_local {
                objective.value(&next)
            } else {
                f64::INFINITY
            };
            (cost, next)
        });
        let Some(step) = step else { break };
        reached = step.evaluation;
        observe(&reached, step.cost);
    }
    reached
}

/// Whether a step stays within the region in which the linearisation holds.
fn is_local(from: &DepthUnknowns, step: &[f64]) -> bool {
    let (weights, twists) = step.split_at(from.model.weight_count());
    let is_linear = !matches!(from.model, DepthModel::Waveform(_));
    let model = is_linear || weights.iter().all(|change| change.abs() <= LARGEST_CHANGE);
    let within = |part: &[f64], longest: f64| part.iter().all(|x| x.abs() <= longest);
    let poses = twists
        .chunks_exact(6)
        .all(|twist| within(&twist[..3], LONGEST_STEP[0]) && within(&twist[3..], LONGEST_STEP[1]));
    model && poses
}
