//! A coarse search over many candidates.

use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable};
use crate::solve::{LeastSquares, Loss};
use etendue_physics::{Purpose, Stream};

/// Settings of a coarse search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoarseSearch {
    /// Step between the beams that are compared.
    pub every: usize,
    /// Loss of the residuals.
    pub loss: Loss,
    /// Residual that a missing beam counts as.
    pub gate: f64,
    /// Number of candidates that are kept.
    pub keep: usize,
    /// Least distance of two kept candidates (length of the tangent).
    pub apart: f64,
}

/// The best candidates with their costs, in ascending order of cost. Costs are those of a subset of the
/// beams with one ray per beam and a robust loss; beams without a prediction cost the gate.
pub fn coarse_search(
    problem: &FitProblem,
    candidates: impl IntoIterator<Item = Vec<Variable>>,
    settings: &CoarseSearch,
) -> Vec<(Vec<Variable>, f64)> {
    let thin = problem.thinned(settings.every);
    let mut rated: Vec<(Vec<Variable>, f64)> = candidates
        .into_iter()
        .map(|state| {
            let cost = thin.residuals(&state).cost(settings.loss, settings.gate);
            (state, cost)
        })
        .collect();
    rated.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut kept: Vec<(Vec<Variable>, f64)> = Vec::new();
    for (state, cost) in rated {
        if kept.len() == settings.keep {
            break;
        }
        if kept
            .iter()
            .all(|(known, _)| distance(known, &state) >= settings.apart)
        {
            kept.push((state, cost));
        }
    }
    kept
}

fn distance(a: &Vec<Variable>, b: &Vec<Variable>) -> f64 {
    a.local(b).iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Every state and `count` samples around it, uniform in a box of half widths `spread` in the tangent
/// space: candidates of a finer search.
pub fn scatter(
    states: Vec<(Vec<Variable>, f64)>,
    spread: &[f64],
    count: u32,
    seed: u64,
) -> Vec<Vec<Variable>> {
    let mut candidates = Vec::new();
    for (number, (state, _)) in (0..).zip(states) {
        for draw in 0..count {
            let mut stream = Stream::new(seed, 3, number, draw, Purpose::Search);
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
