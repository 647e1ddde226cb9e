//! Least squares on manifolds: what a problem is, and the ways to its minimum.
//!
//! $$\min_\theta \tfrac12 \sum_i \rho(\lVert r_i(\theta) \rVert^2)$$
//!
//! A measurement that the model cannot predict at all (a beam that meets nothing) has no residual.
//! It is *missing*, and pays $\rho(g^2)$ with the stated [`Limits::gate`] $g$: skipping it silently
//! would make a minimum of zero cost wherever the model predicts nothing.

mod gauss_newton;
mod lbfgs;
mod levenberg_marquardt;
mod loss;
mod multi_start;
mod normal;
mod prior;
mod problem;

pub use loss::{Continuation, Loss};
pub use multi_start::{MultiStart, multi_start, multi_start_by};
pub use normal::Normal;
pub use prior::WithPrior;
pub use problem::{Linearization, Problem, Residuals};

use crate::manifold::Manifold;
use thiserror::Error;

/// A way to a minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Gauss-Newton: full steps, no test of the cost. For problems that choose anew in every step
    /// what a residual means (ICP).
    GaussNewton,
    /// Levenberg-Marquardt with Marquardt's scaling: only steps that lower the cost.
    LevenbergMarquardt {
        /// Damping of the first step, relative to the diagonal of the normal matrix.
        damping: f64,
    },
    /// L-BFGS with the line search of Moré and Thuente (strong Wolfe conditions), in the tangent
    /// space at the start. Needs gradients only.
    Lbfgs {
        /// Steps remembered.
        memory: usize,
    },
}

/// When to stop, and what a missing measurement costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Iterations at most, over all stages of a continuation.
    pub iterations: usize,
    /// Converged where the step's length falls below this.
    pub step: f64,
    /// Converged where the cost falls by less than this fraction.
    pub cost: f64,
    /// Converged where the largest component of the gradient falls below this.
    pub gradient: f64,
    /// Norm of the residual that a missing measurement is charged for.
    pub gate: f64,
}

impl Default for Limits {
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

/// A method with its loss and its limits.
///
/// ```
/// use etendue_estimate::solve::{Linearization, Problem, Residuals, Solver, Stop};
///
/// /// Where is the square of x two?
/// struct Root;
/// impl Problem for Root {
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
    /// The way.
    pub method: Method,
    /// How a residual is charged.
    pub loss: Loss,
    /// Graduated non-convexity: the loss begins wide and narrows to its own scale.
    pub continuation: Option<Continuation>,
    /// When to stop.
    pub limits: Limits,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            method: Method::LevenbergMarquardt { damping: 1e-4 },
            loss: Loss::Squared,
            continuation: None,
            limits: Limits::default(),
        }
    }
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The step became shorter than [`Limits::step`].
    Step,
    /// The cost fell by less than [`Limits::cost`] of itself.
    Cost,
    /// The gradient fell below [`Limits::gradient`].
    Gradient,
    /// [`Limits::iterations`] were made.
    Iterations,
    /// No step lowered the cost although the gradient is not zero: the model jumps here.
    NoDescent,
}

impl Stop {
    /// Whether this is a minimum, as far as the tolerances tell.
    pub fn converged(self) -> bool {
        matches!(self, Self::Step | Self::Cost | Self::Gradient)
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Step => "converged: the step became too short to matter",
            Self::Cost => "converged: the cost no longer falls",
            Self::Gradient => "converged: the gradient vanished",
            Self::Iterations => "stopped at the limit of iterations, not converged",
            Self::NoDescent => "stopped: no step lowers the cost, though the gradient is not zero",
        })
    }
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration<M> {
    /// Its number, from 1.
    pub number: usize,
    /// The state after it.
    pub state: M,
    /// Cost after it, under the loss of its stage.
    pub cost: f64,
    /// Largest component of the gradient before it.
    pub gradient: f64,
    /// Length of the step.
    pub step: f64,
    /// Damping of the step; zero where the method has none.
    pub damping: f64,
    /// Factor on the loss's scale (graduated non-convexity); 1 at the end.
    pub widening: f64,
    /// Measurements without a prediction after it.
    pub missing: usize,
}

/// Where a solver ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<M> {
    /// The estimate.
    pub state: M,
    /// Its cost under the final loss.
    pub cost: f64,
    /// Its residuals.
    pub residuals: Residuals,
    /// Why the solver stopped.
    pub stop: Stop,
    /// Every step taken.
    pub log: Vec<Iteration<M>>,
}

/// Why there is no estimate.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SolveError {
    /// Not one measurement has a prediction at the start.
    #[error(
        "none of the {missing} measurements has a prediction at the start: start where the model sees something"
    )]
    NothingPredicted {
        /// Measurements without a prediction.
        missing: usize,
    },
    /// Fewer residuals than unknowns.
    #[error(
        "{residuals} residuals cannot determine {unknowns} unknowns: free fewer, or measure more"
    )]
    TooFew {
        /// Residuals there are.
        residuals: usize,
        /// Unknowns to find.
        unknowns: usize,
    },
    /// A residual or derivative is not finite.
    #[error("residual {index} is not finite at iteration {iteration}")]
    NotFinite {
        /// The number of the residual.
        index: usize,
        /// The iteration.
        iteration: usize,
    },
    /// Gauss-Newton met a singular normal matrix.
    #[error(
        "the normal matrix is singular at iteration {iteration}: some combination of the unknowns changes no residual; fix one, add a prior, or use Levenberg-Marquardt"
    )]
    Singular {
        /// The iteration.
        iteration: usize,
    },
    /// The library behind L-BFGS failed.
    #[error("L-BFGS failed: {reason}")]
    Lbfgs {
        /// What it says.
        reason: String,
    },
}

impl Solver {
    /// Walks from `start` to a minimum.
    ///
    /// # Errors
    /// Where there is nothing to fit at the start, a residual is not finite, or the method cannot go
    /// on ([`SolveError`]).
    pub fn solve<P: Problem>(
        &self,
        problem: &P,
        start: P::State,
    ) -> Result<Solution<P::State>, SolveError> {
        self.solve_observed(problem, start, &mut |_| {})
    }

    /// As [`Solver::solve`], telling `observe` of every iteration.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    pub fn solve_observed<P: Problem>(
        &self,
        problem: &P,
        start: P::State,
        observe: &mut dyn FnMut(&Iteration<P::State>),
    ) -> Result<Solution<P::State>, SolveError> {
        let mut walk = Walk::new(problem, start, self.limits, observe);
        self.begin(&mut walk)?;
        let stages = self.continuation.map_or(vec![1.0], Continuation::stages);
        let last = stages.len() - 1;
        for (number, widening) in stages.into_iter().enumerate() {
            let stage = Stage {
                loss: self.loss.widened(widening),
                widening,
                is_last: number == last,
            };
            walk.stop = match self.method {
                Method::GaussNewton => gauss_newton::descend(&mut walk, stage)?,
                Method::LevenbergMarquardt { damping } => {
                    levenberg_marquardt::descend(&mut walk, stage, damping)?
                }
                Method::Lbfgs { memory } => lbfgs::descend(&mut walk, stage, memory)?,
            };
        }
        Ok(walk.finish(self.loss))
    }

    /// Looks at the start, with the derivatives that the method needs there.
    fn begin<P: Problem>(&self, walk: &mut Walk<'_, P>) -> Result<(), SolveError> {
        if matches!(self.method, Method::Lbfgs { .. }) {
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

/// A stage before the last only leads into the basin of the next: it ends where the cost falls by
/// less than this.
const LOOSE: f64 = 1e-2;

/// One stage of a continuation.
#[derive(Clone, Copy, Debug)]
struct Stage {
    loss: Loss,
    widening: f64,
    is_last: bool,
}

impl Stage {
    /// The fall of the cost, relative to the cost, below which the stage has converged.
    fn least_fall(self, limits: &Limits) -> f64 {
        if self.is_last {
            limits.cost
        } else {
            limits.cost.max(LOOSE)
        }
    }
}

/// What is common to the methods: where the walk stands and what it has seen.
struct Walk<'a, P: Problem> {
    problem: &'a P,
    state: P::State,
    limits: Limits,
    stop: Stop,
    log: Vec<Iteration<P::State>>,
    observe: &'a mut dyn FnMut(&Iteration<P::State>),
    /// Residuals and derivatives where the walk stands, if they are known.
    known: Option<Linearization>,
    /// The residuals where the walk stands, if they alone are known.
    residuals: Option<Residuals>,
}

impl<'a, P: Problem> Walk<'a, P> {
    fn new(
        problem: &'a P,
        state: P::State,
        limits: Limits,
        observe: &'a mut dyn FnMut(&Iteration<P::State>),
    ) -> Self {
        Self {
            problem,
            state,
            limits,
            stop: Stop::Iterations,
            log: Vec::new(),
            observe,
            known: None,
            residuals: None,
        }
    }

    fn exhausted(&self) -> bool {
        self.log.len() >= self.limits.iterations
    }

    fn note(&mut self, iteration: Iteration<P::State>) {
        (self.observe)(&iteration);
        self.log.push(iteration);
    }

    /// Moves to a state of which nothing is known.
    fn move_to(&mut self, state: P::State) {
        self.state = state;
        self.known = None;
        self.residuals = None;
    }

    /// Residuals and derivatives where the walk stands.
    fn linearize(&mut self) -> Result<Linearization, SolveError> {
        if let Some(known) = self.known.take() {
            return Ok(known);
        }
        let linearization = self.problem.linearize(&self.state);
        linearization.check(self.log.len())?;
        Ok(linearization)
    }

    fn finish(self, loss: Loss) -> Solution<P::State> {
        let known = self.known.map(|known| known.residuals).or(self.residuals);
        let residuals = known.unwrap_or_else(|| self.problem.residuals(&self.state));
        Solution {
            cost: residuals.cost(loss, self.limits.gate),
            residuals,
            state: self.state,
            stop: self.stop,
            log: self.log,
        }
    }
}

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
