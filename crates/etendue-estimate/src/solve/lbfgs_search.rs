//! L-BFGS (Liu and Nocedal 1989, doi:10.1007/BF01589116) with the line search of Moré and Thuente 1994
//! (doi:10.1145/192115.192132), by the crate `argmin`.

use argmin::core::{CostFunction, Error, Gradient, IterState, Problem, Solver as _, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use thiserror::Error as ThisError;

/// Differentiable real function of several variables.
pub trait DifferentiableFunction {
    /// Value at a point.
    fn value(&self, point: &[f64]) -> f64;

    /// Gradient at a point.
    fn gradient(&self, point: &[f64]) -> Vec<f64>;
}

/// Error: L-BFGS cannot continue.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[error("L-BFGS failed: {reason}")]
pub struct LbfgsError {
    /// Message of the line search.
    pub reason: String,
}

/// L-BFGS solver of `argmin`.
type Search = LBFGS<MoreThuenteLineSearch<Vec<f64>, Vec<f64>, f64>, Vec<f64>, Vec<f64>, f64>;
/// State of the solver of `argmin`.
type SearchState = IterState<Vec<f64>, Vec<f64>, (), (), (), f64>;

/// Minimisation of a function by L-BFGS, one iteration at a time.
///
/// ```
/// use etendue_estimate::solve::{DifferentiableFunction, LbfgsSearch};
/// struct Parabola;
/// impl DifferentiableFunction for Parabola {
///     fn value(&self, x: &[f64]) -> f64 {
///         (x[0] - 3.0).powi(2)
///     }
///     fn gradient(&self, x: &[f64]) -> Vec<f64> {
///         vec![2.0 * (x[0] - 3.0)]
///     }
/// }
/// let mut search = LbfgsSearch::new(Parabola, vec![0.0], 5)?;
/// while search.gradient().iter().any(|g| g.abs() > 1e-9) {
///     search.advance()?;
/// }
/// assert!((search.point()[0] - 3.0).abs() < 1e-8);
/// # Ok::<(), etendue_estimate::solve::LbfgsError>(())
/// ```
pub struct LbfgsSearch<'f> {
    search: Search,
    problem: Problem<Objective<'f>>,
    state: Option<SearchState>,
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl<'f> LbfgsSearch<'f> {
    /// Evaluates the function at the start; the curvature is estimated from the last `memory` steps.
    ///
    /// # Errors
    /// Where the search cannot start.
    pub fn new(
        function: impl DifferentiableFunction + 'f,
        start: Vec<f64>,
        memory: usize,
    ) -> Result<Self, LbfgsError> {
        Self::start(Objective(Box::new(function)), start, memory)
    }

    /// [`LbfgsSearch::new`] for functions of any type.
    fn start(objective: Objective<'f>, start: Vec<f64>, memory: usize) -> Result<Self, LbfgsError> {
        let mut search: Search = LBFGS::new(MoreThuenteLineSearch::new(), memory);
        let mut problem = Problem::new(objective);
        let first = SearchState::new().param(start.clone());
        let (mut state, _) = search
            .init(&mut problem, first)
            .map_err(|error| failed(&error))?;
        state.update();
        Ok(Self {
            value: state.get_cost(),
            gradient: state.get_gradient().cloned().unwrap_or_default(),
            search,
            problem,
            state: Some(state),
            point: start,
        })
    }

    /// Performs one iteration.
    ///
    /// # Errors
    /// Where the line search finds no step, as at a minimum to within rounding; the point is unchanged.
    pub fn advance(&mut self) -> Result<(), LbfgsError> {
        let ended = || LbfgsError {
            reason: "the search has ended".to_owned(),
        };
        let state = self.state.take().ok_or_else(ended)?;
        let next = self.search.next_iter(&mut self.problem, state);
        let (mut state, _) = next.map_err(|error| failed(&error))?;
        state.increment_iter();
        self.point = state.get_param().cloned().ok_or_else(ended)?;
        self.value = state.get_cost();
        self.gradient = state.get_gradient().cloned().unwrap_or_default();
        self.state = Some(state);
        Ok(())
    }

    /// Current point.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// Value at the current point.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Gradient at the current point.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }
}

/// Error of a message of `argmin`.
fn failed(error: &Error) -> LbfgsError {
    LbfgsError {
        reason: error.to_string(),
    }
}

/// Adapter of a function to the interfaces of `argmin`.
struct Objective<'f>(Box<dyn DifferentiableFunction + 'f>);

impl CostFunction for Objective<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.0.value(point))
    }
}

impl Gradient for Objective<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.0.gradient(point))
    }
}
