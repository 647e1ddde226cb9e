//! Solver of nonlinear least-squares problems.

use super::error::SolveError;
use super::extrapolation::Extrapolation;
use super::limits::SolverLimits;
use super::loss::{Continuation, Loss};
use super::problem::{LeastSquares, Residuals};
use super::solution::{Iteration, Solution};
use super::walk::{Stage, Walk};
use super::{gauss_newton, lbfgs, levenberg_marquardt};
use crate::manifold::Manifold;

/// Minimisation method.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SolverMethod {
    /// Gauss-Newton: full steps without a test of the cost, for problems whose correspondences change
    /// in every step (ICP).
    GaussNewton,
    /// [`SolverMethod::GaussNewton`] whose steps are extended where they shrink slowly in one direction, as in
    /// point-to-point ICP (Besl and McKay 1992, section IV.C, doi:10.1109/34.121791).
    ExtrapolatedGaussNewton,
    /// Levenberg-Marquardt with Marquardt's scaling: damped steps that lower the cost.
    LevenbergMarquardt {
        /// Damping of the first step, relative to the diagonal of the normal matrix.
        damping: f64,
    },
    /// L-BFGS with the line search of Moré and Thuente (strong Wolfe conditions), in the tangent
    /// space at the start. Uses gradients only.
    Lbfgs {
        /// Number of steps from which the curvature is estimated.
        memory: usize,
    },
}

/// Solver of nonlinear least-squares problems: method, loss and stopping criteria.
///
/// ```
/// use etendue_estimate::solve::{LeastSquares, Linearization, Residuals, Solver, StopReason};
///
/// /// The square root of two.
/// struct Root;
/// impl LeastSquares for Root {
///     type State = f64;
///     fn residuals(&self, x: &f64) -> Residuals {
///         Residuals::of(vec![x * x - 2.0])
///     }
///     fn linearize(&self, x: &f64) -> Linearization {
///         Linearization::new(self.residuals(x), 1, vec![2.0 * x])
///     }
/// }
/// let solution = Solver::default().solve(&Root, 1.0)?;
/// assert!((solution.state - 2.0_f64.sqrt()).abs() < 1e-12);
/// assert!(solution.stop.converged());
/// # Ok::<(), etendue_estimate::solve::SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solver {
    /// Minimisation method.
    pub method: SolverMethod,
    /// Loss of the residuals.
    pub loss: Loss,
    /// Graduated non-convexity: schedule of the scale of the loss.
    pub continuation: Option<Continuation>,
    /// Stopping criteria.
    pub limits: SolverLimits,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            method: SolverMethod::LevenbergMarquardt { damping: 1e-4 },
            loss: Loss::Squared,
            continuation: None,
            limits: SolverLimits::default(),
        }
    }
}

impl Solver {
    /// Minimises the cost from `start`.
    ///
    /// # Errors
    /// Where the start has no residuals, a residual is not finite, or the method cannot continue
    /// ([`SolveError`]).
    pub fn solve<P: LeastSquares>(
        &self,
        problem: &P,
        start: P::State,
    ) -> Result<Solution<P::State>, SolveError> {
        self.solve_observed(problem, start, &mut |_| {})
    }

    /// Minimises the cost from `start` and passes every iteration to `observe`.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    pub fn solve_observed<P: LeastSquares>(
        &self,
        problem: &P,
        start: P::State,
        observe: &mut dyn FnMut(&Iteration<P::State>),
    ) -> Result<Solution<P::State>, SolveError> {
        self.minimise(problem, start, observe)
    }

    /// [`Solver::solve_observed`] for problems of any type, compiled once for all problems with the
    /// same unknowns.
    fn minimise<M: Manifold>(
        &self,
        problem: &dyn LeastSquares<State = M>,
        start: M,
        observe: &mut dyn FnMut(&Iteration<M>),
    ) -> Result<Solution<M>, SolveError> {
        // Evaluate the start.
        let mut walk = Walk::new(problem, start, self.limits, observe);
        self.begin(&mut walk)?;
        // Minimise the cost of every stage of the continuation.
        let stages = self.continuation.map_or(vec![1.0], Continuation::stages);
        let last = stages.len() - 1;
        for (number, widening) in stages.into_iter().enumerate() {
            let stage = Stage {
                loss: self.loss.widened(widening),
                widening,
                is_last: number == last,
            };
            walk.stop = match self.method {
                SolverMethod::GaussNewton => gauss_newton::descend(&mut walk, stage, None)?,
                SolverMethod::ExtrapolatedGaussNewton => {
                    let extrapolation = Some(Extrapolation::default());
                    gauss_newton::descend(&mut walk, stage, extrapolation)?
                }
                SolverMethod::LevenbergMarquardt { damping } => {
                    levenberg_marquardt::descend(&mut walk, stage, damping)?
                }
                SolverMethod::Lbfgs { memory } => lbfgs::descend(&mut walk, stage, memory)?,
            };
        }
        Ok(walk.finish(self.loss))
    }

    /// Evaluates the start, with the derivatives that the method needs.
    fn begin<M: Manifold>(&self, walk: &mut Walk<'_, M>) -> Result<(), SolveError> {
        if matches!(self.method, SolverMethod::Lbfgs { .. }) {
            let residuals = walk.problem.residuals(&walk.state);
            return check_start(&residuals, walk.state.dimension());
        }
        let linearization = walk.problem.linearize(&walk.state);
        check_start(&linearization.residuals, walk.state.dimension())?;
        linearization.check(0)?;
        walk.known = Some(linearization);
        Ok(())
    }
}

/// Checks that the start has at least as many residuals as unknowns.
fn check_start(residuals: &Residuals, unknowns: usize) -> Result<(), SolveError> {
    if residuals.values.is_empty() {
        return Err(SolveError::NothingPredicted {
            missing: residuals.missing,
        });
    }
    if residuals.values.len() < unknowns {
        return Err(SolveError::TooFew {
            residuals: residuals.values.len(),
            unknowns,
        });
    }
    Ok(())
}
