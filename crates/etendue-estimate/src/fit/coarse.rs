//! A coarse search over many candidates.

use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable};
use crate::solve::{LeastSquares, Loss};
use etendue_physics::{Purpose, Stream};

/// How a coarse search is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoarseSearch {
    /// Every how many beams are looked at.
    pub every: usize,
    /// How a residual is charged.
    pub loss: Loss,
    /// What a missing beam is charged for, in the unit of a residual.
    pub gate: f64,
    /// How many candidates are kept.
    pub keep: usize,
    /// Of two candidates nearer to each other than this (length of the tangent) the better is kept.
    pub apart: f64,
}

/// The best candidates, best first, with their costs: one ray a beam, every few beams, a robust loss.
/// Candidates whose model sees nothing cost the gate for every beam.
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

/// Each of some states and `count` more about it, uniform in a box of half widths `spread` in the
/// tangent: candidates for a second, finer search.
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
