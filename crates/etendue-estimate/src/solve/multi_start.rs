//! Solving from many starts.

use super::problem::LeastSquares;
use super::solution::{Solution, SolveError};
use super::solver::Solver;
use crate::manifold::Manifold;

/// Minima reached from many starts.
#[derive(Clone, Debug)]
pub struct MultiStart<M> {
    /// Distinct minima in ascending order of cost.
    pub minima: Vec<Solution<M>>,
    /// For each start the index of its minimum, or its error.
    pub ended: Vec<Result<usize, SolveError>>,
}

impl<M> MultiStart<M> {
    /// The minimum of lowest cost.
    pub fn best(&self) -> Option<&Solution<M>> {
        self.minima.first()
    }
}

/// Solves from every start and collects the distinct minima: two closer than `same` (length of the
/// tangent between them) count as one, represented by the one of lower cost.
pub fn multi_start<P: LeastSquares>(
    solver: &Solver,
    problem: &P,
    starts: impl IntoIterator<Item = P::State>,
    same: f64,
) -> MultiStart<P::State> {
    let solve = |start| solver.solve(problem, start);
    multi_start_by(starts, same, solve)
}

/// Distinct minima as by [`multi_start`], with the solver `solve`.
pub fn multi_start_by<M: Manifold>(
    starts: impl IntoIterator<Item = M>,
    same: f64,
    solve: impl FnMut(M) -> Result<Solution<M>, SolveError>,
) -> MultiStart<M> {
    let ends: Vec<_> = starts.into_iter().map(solve).collect();
    let mut order: Vec<usize> = (0..ends.len()).filter(|&i| ends[i].is_ok()).collect();
    order.sort_by(|&a, &b| cost(&ends[a]).total_cmp(&cost(&ends[b])));
    let mut minima: Vec<Solution<M>> = Vec::new();
    let mut ended: Vec<Result<usize, SolveError>> = ends
        .iter()
        .map(|end| end.as_ref().map(|_| 0).map_err(Clone::clone))
        .collect();
    for index in order {
        let Ok(end) = &ends[index] else { continue };
        let known = minima
            .iter()
            .position(|minimum| distance(&minimum.state, &end.state) < same);
        ended[index] = Ok(known.unwrap_or(minima.len()));
        if known.is_none() {
            minima.push(end.clone());
        }
    }
    MultiStart { minima, ended }
}

fn cost<M>(end: &Result<Solution<M>, SolveError>) -> f64 {
    end.as_ref().map_or(f64::INFINITY, |solution| solution.cost)
}

fn distance<M: Manifold>(a: &M, b: &M) -> f64 {
    a.local(b).iter().map(|x| x * x).sum::<f64>().sqrt()
}
