//! Comparison of Jacobians with central differences.

use etendue_estimate::fit::FitProblem;
use etendue_estimate::manifold::Manifold;
use etendue_estimate::solve::LeastSquares;

/// Asserts that derivatives equal central differences within `tolerance`, for every residual and
/// component.
///
/// Returns the numbers of compared derivatives and of skipped ones, whose residual jumps within the
/// step because the beam hits another surface.
pub fn compare(problem: &FitProblem, step: f64, tolerance: f64) -> (usize, usize) {
    let state = problem.model.start();
    let at = problem.linearize(&state);
    let residuals = |component: usize, by: f64| {
        let mut tangent = vec![0.0; state.dimension()];
        tangent[component] = by;
        problem.residuals(&state.retract(&tangent)).values
    };
    let mut compared = 0;
    let mut jumps = 0;
    for component in 0..state.dimension() {
        let plus = residuals(component, step);
        let minus = residuals(component, -step);
        assert_eq!(plus.len(), at.residuals.values.len());
        for (beam, row) in at.rows().enumerate() {
            let middle = at.residuals.values[beam];
            if (plus[beam] - middle - (middle - minus[beam])).abs() > 10.0 * tolerance * step {
                jumps += 1;
                continue;
            }
            let difference = (plus[beam] - minus[beam]) / (2.0 * step);
            assert!(
                (row[component] - difference).abs() < tolerance * (1.0 + difference.abs()),
                "beam {beam} by {component}: {} against {difference}",
                row[component]
            );
            compared += 1;
        }
    }
    (compared, jumps)
}
