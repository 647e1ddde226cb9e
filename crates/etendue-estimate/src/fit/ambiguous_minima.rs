//! Ambiguous solutions of a fit: distinct minima that the scans do not distinguish.
//!
//! Two minima of the cost are compared by their likelihood ratio. The cost $C$ is half a sum of squared
//! residuals (or of their loss), so that with residuals of variance $\sigma^2$
//! $$\Delta\chi^2 = \frac{2(C - C_0)}{\sigma^2}, \qquad \frac{L}{L_0} = e^{-\Delta\chi^2/2}$$
//! for the likelihoods $L$ of a minimum and $L_0$ of the minimum of lowest cost (Wilks 1938,
//! doi:10.1214/aoms/1177732360). A minimum is ambiguous where $\Delta\chi^2$ is below
//! [`EXCLUSION_LEVEL`].

use super::problem::FitProblem;
use super::stages::solve_in_stages;
use crate::manifold::{Manifold, Variable};
use crate::solve::{MultiStart, Solution, SolveError, Solver, multi_start_by};

/// Difference $\Delta\chi^2$ from which a minimum is excluded: three standard deviations of a normally
/// distributed unknown.
pub const EXCLUSION_LEVEL: f64 = 9.0;

/// Minimum standard deviation of a residual of a noise-free scan, in the unit of the residuals.
const MIN_SIGMA: f64 = 1e-6;

/// Distinct minima of a fit.
#[derive(Clone, Debug)]
pub struct AmbiguousMinima {
    /// The minimum of lowest cost and those that the scans do not exclude, in ascending order of cost.
    pub solutions: Vec<ComparedMinimum>,
    /// The excluded minima, in ascending order of cost.
    pub others: Vec<ComparedMinimum>,
    /// Standard deviation $\sigma$ of a residual by which the costs were compared, in its unit.
    pub sigma: f64,
}

/// Minimum of a fit, compared with the minimum of lowest cost.
#[derive(Clone, Debug)]
pub struct ComparedMinimum {
    /// The minimum.
    pub solution: Solution<Vec<Variable>>,
    /// Difference $\Delta\chi^2$ from the minimum of lowest cost, at least 0.
    pub chi_square_difference: f64,
}

impl ComparedMinimum {
    /// Likelihood of the minimum divided by that of the minimum of lowest cost, at most 1.
    pub fn likelihood_ratio(&self) -> f64 {
        (-0.5 * self.chi_square_difference).exp()
    }

    /// Whether the scans exclude the minimum at [`EXCLUSION_LEVEL`].
    pub fn is_excluded(&self) -> bool {
        self.chi_square_difference >= EXCLUSION_LEVEL
    }
}

/// Standard deviation of a residual that gives a solution the expected cost: $\sigma^2 = 2C/(n - p)$ for
/// $n$ measurements and $p$ unknowns, at least 1e-6.
///
/// For scans whose noise is not given. Outliers and errors of the model are part of it.
pub fn sigma_of_cost(solution: &Solution<Vec<Variable>>) -> f64 {
    let measured = solution.residuals.values.len() + solution.residuals.missing;
    let freedom = measured.saturating_sub(solution.state.dimension()).max(1);
    (2.0 * solution.cost / freedom as f64).sqrt().max(MIN_SIGMA)
}

/// Solves from every start and compares the distinct minima with that of lowest cost.
///
/// Each start is solved in stages of beams of `widths` times their width ([`solve_in_stages`]). Minima
/// closer than `min_distance` (norm of the tangent between them) count as one. `sigma` is the standard
/// deviation of a residual, in its unit, as a function of the minimum of lowest cost: that of the sensor, or
/// [`sigma_of_cost`].
///
/// # Errors
/// Where no start has a solution: the first start's error.
pub fn find_ambiguous_minima(
    problem: &FitProblem,
    solver: &Solver,
    widths: &[f64],
    starts: impl IntoIterator<Item = Vec<Variable>>,
    min_distance: f64,
    sigma: impl Fn(&Solution<Vec<Variable>>) -> f64,
) -> Result<AmbiguousMinima, SolveError> {
    // Solve from every start.
    let solve = |start| solve_in_stages(problem, solver, widths, start, &mut |_| {});
    let MultiStart { minima, ended } = multi_start_by(starts, min_distance, solve);
    let Some(best) = minima.first() else {
        let error = ended.into_iter().find_map(Result::err);
        return Err(error.unwrap_or(SolveError::NothingPredicted { missing: 0 }));
    };
    let sigma = sigma(best).max(MIN_SIGMA);
    Ok(compare(minima, sigma))
}

/// Compares minima in ascending order of cost with the first.
fn compare(minima: Vec<Solution<Vec<Variable>>>, sigma: f64) -> AmbiguousMinima {
    let lowest = minima.first().map_or(0.0, |best| best.cost);
    let compared = minima.into_iter().map(|solution| ComparedMinimum {
        chi_square_difference: 2.0 * (solution.cost - lowest).max(0.0) / (sigma * sigma),
        solution,
    });
    let (others, solutions) = compared.partition(ComparedMinimum::is_excluded);
    AmbiguousMinima {
        solutions,
        others,
        sigma,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::{Residuals, StopReason};

    /// Minimum of 682 residuals with a cost.
    fn minimum(cost: f64) -> Solution<Vec<Variable>> {
        Solution {
            state: Vec::new(),
            cost,
            residuals: Residuals::of(vec![0.0; 682]),
            stop: StopReason::Cost,
            log: Vec::new(),
        }
    }

    /// With a reduced chi-square of 1 at the best minimum, 0.90, 3.7 is 2,122 above it, and 0.9001 is 0.08.
    #[test]
    fn a_minimum_of_four_times_the_lowest_cost_is_excluded() {
        let minima = vec![minimum(0.90), minimum(0.9001), minimum(3.7)];
        let sigma = sigma_of_cost(&minima[0]);
        let compared = compare(minima, sigma);
        let [best, twin] = &compared.solutions[..] else {
            panic!("{:?}", compared.solutions)
        };
        let [other] = &compared.others[..] else {
            panic!("{:?}", compared.others)
        };
        assert_eq!(best.chi_square_difference.to_bits(), 0);
        assert!((twin.likelihood_ratio() - 0.963).abs() < 1e-3);
        assert!((other.chi_square_difference - 2122.0).abs() < 1.0);
    }
}
