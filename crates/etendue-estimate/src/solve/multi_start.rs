//! Multi-start minimisation.

use super::error::SolveError;
use super::problem::LeastSquares;
use super::solution::Solution;
use super::solver::Solver;
use crate::manifold::Manifold;

/// Distinct minima reached from several starts.
#[derive(Clone, Debug)]
pub struct MultiStart<M> {
    /// Distinct minima in ascending order of cost.
    pub minima: Vec<Solution<M>>,
    /// Index in `minima` of the minimum of each start, or the error of the solver.
    pub ended: Vec<Result<usize, SolveError>>,
}

impl<M> MultiStart<M> {
    /// The minimum of lowest cost.
    pub fn best(&self) -> Option<&Solution<M>> {
        self.minima.first()
    }
}

/// Solves from every start and collects the distinct minima.
///
/// Minima closer than `min_distance` (norm of the tangent between them) count as one, represented by
/// the one of lower cost.
pub fn multi_start<P: LeastSquares>(
    solver: &Solver,
    problem: &P,
    starts: impl IntoIterator<Item = P::State>,
    min_distance: f64,
) -> MultiStart<P::State> {
    let solve = |start| solver.solve(problem, start);
    multi_start_by(starts, min_distance, solve)
}

/// [`multi_start`] with the solver `solve`.
pub fn multi_start_by<M: Manifold>(
    starts: impl IntoIterator<Item = M>,
    min_distance: f64,
    solve: impl FnMut(M) -> Result<Solution<M>, SolveError>,
) -> MultiStart<M> {
    // Solve, and order the solutions by cost.
    let ends: Vec<_> = starts.into_iter().map(solve).collect();
    let mut order: Vec<usize> = (0..ends.len()).filter(|&i| ends[i].is_ok()).collect();
    order.sort_by(|&a, &b| cost(&ends[a]).total_cmp(&cost(&ends[b])));
    // Merge solutions closer than the minimum distance.
    let mut minima: Vec<Solution<M>> = Vec::new();
    let mut ended: Vec<Result<usize, SolveError>> = ends
        .iter()
        .map(|end| end.as_ref().map(|_| 0).map_err(Clone::clone))
        .collect();
    for index in order {
        let Ok(end) = &ends[index] else { continue };
        let known = minima
            .iter()
            .position(|minimum| distance(&minimum.state, &end.state) < min_distance);
        ended[index] = Ok(known.unwrap_or(minima.len()));
        if known.is_none() {
            minima.push(end.clone());
        }
    }
    MultiStart { minima, ended }
}

/// Cost of a solution; infinite for an error.
fn cost<M>(end: &Result<Solution<M>, SolveError>) -> f64 {
    end.as_ref().map_or(f64::INFINITY, |solution| solution.cost)
}

/// Norm of the tangent from `a` to `b`.
fn distance<M: Manifold>(a: &M, b: &M) -> f64 {
    a.local(b).iter().map(|x| x * x).sum::<f64>().sqrt()
}
