//! Nonlinear least squares on manifolds: problems, robust losses and solvers.
//!
//! $$\min_\theta \tfrac12 \sum_i \rho(\lVert r_i(\theta) \rVert^2)$$
//!
//! A measurement without a prediction (a beam without a return) is *missing*: it has no residual and
//! the cost $\rho(g^2)$ with $g$ = [`SolverLimits::gate`]. Without this cost, states in which the
//! model predicts no returns would be minima.
//!
//! [`LbfgsSearch`] and [`DampedSearch`] are the iterations of L-BFGS and Levenberg-Marquardt for
//! objectives that are not sums of squares.

mod damped_search;
mod error;
mod extrapolation;
mod gauss_newton;
mod lbfgs;
mod lbfgs_search;
mod levenberg_marquardt;
mod limits;
mod loss;
mod multi_start;
mod normal;
mod prior;
mod problem;
mod solution;
mod solver;
mod walk;

pub use damped_search::{DampedSearch, DampedStep, DampingSchedule};
pub use error::SolveError;
pub use lbfgs_search::{DifferentiableFunction, LbfgsError, LbfgsSearch};
pub use limits::SolverLimits;
pub use loss::{Continuation, Loss};
pub use multi_start::{MultiStart, multi_start, multi_start_by};
pub use normal::NormalEquations;
pub use prior::WithPrior;
pub use problem::{LeastSquares, Linearization, Residuals};
pub use solution::{Iteration, Solution, StopReason};
pub use solver::{Solver, SolverMethod};
