//! Coarse search over candidate states.

use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable};
use crate::solve::{LeastSquares, Loss};
use etendue_physics::{Purpose, Stream};

/// Sensor number of the random streams of [`scatter`].
const SCATTER_SENSOR: u32 = 3;

/// Settings of a coarse search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoarseSearch {
    /// Stride over the beams: every n-th beam is simulated.
    pub every: usize,
    /// Loss of the residuals.
    pub loss: Loss,
    /// Residual assigned to a missing beam, in the unit of the residuals.
    pub gate: f64,
    /// Maximum number of candidates returned.
    pub keep: usize,
    /// Minimum distance between two returned candidates (norm of the tangent between them).
    pub apart: f64,
}

/// The candidates of lowest cost with their costs, in ascending order of cost.
///
/// The cost is the robust cost of a subset of the beams, simulated with one ray per beam; beams without
/// a prediction cost the gate.
pub fn coarse_search(
    problem: &FitProblem,
    candidates: impl IntoIterator<Item = Vec<Variable>>,
    settings: &CoarseSearch,
) -> Vec<(Vec<Variable>, f64)> {
    // Rate the candidates on a subset of the beams.
    let thin = problem.thinned(settings.every);
    let mut rated: Vec<(Vec<Variable>, f64)> = candidates
        .into_iter()
        .map(|state| {
            let cost = thin.residuals(&state).cost(settings.loss, settings.gate);
            (state, cost)
        })
        .collect();
    rated.sort_by(|a, b| a.1.total_cmp(&b.1));
    // Select the best, at least the minimum distance apart.
    let mut kept: Vec<(Vec<Variable>, f64)> = Vec::new();
    for (state, cost) in rated {
        if kept.len() == settings.keep {
            break;
        }
        if kept
            .iter()
            .all(|(other, _)| distance(other, &state) >= settings.apart)
        {
            kept.push((state, cost));
        }
    }
    kept
}

/// Norm of the tangent from `a` to `b`.
fn distance(a: &Vec<Variable>, b: &Vec<Variable>) -> f64 {
    a.local(b).iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Candidates of a finer search: every state and `count` samples around it.
///
/// The samples are uniform in a box of the tangent space of the state, of half widths `spread` in the
/// units of its components.
pub fn scatter(
    states: Vec<(Vec<Variable>, f64)>,
    spread: &[f64],
    count: u32,
    seed: u64,
) -> Vec<Vec<Variable>> {
    let mut candidates = Vec::new();
    for (number, (state, _)) in (0..).zip(states) {
        for draw in 0..count {
            let mut stream = Stream::new(seed, SCATTER_SENSOR, number, draw, Purpose::Search);
            let step: Vec<f64> = spread
                .iter()
                .map(|half| half * (2.0 * stream.uniform() - 1.0))
                .collect();
            candidates.push(state.retract(&step));
        }
        candidates.push(state);
    }
    candidates
}
