//! Stopping criteria of a solver.

/// Stopping criteria of a solver, and the residual of a missing measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverLimits {
    /// Maximum number of iterations, over all stages of a continuation.
    pub iterations: usize,
    /// Norm of a step below which the solver has converged, in the units of the unknowns.
    pub step: f64,
    /// Relative decrease of the cost below which the solver has converged.
    pub cost: f64,
    /// Maximum norm of the gradient below which the solver has converged.
    pub gradient: f64,
    /// Norm of the residual assigned to a missing measurement, in the unit of the residuals.
    pub gate: f64,
}

impl Default for SolverLimits {
    fn default() -> Self {
        Self {
            iterations: 100,
            step: 1e-9,
            cost: 1e-12,
            gradient: 1e-14,
            gate: 1.0,
        }
    }
}
