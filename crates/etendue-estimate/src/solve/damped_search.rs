//! Damped steps of the Levenberg-Marquardt method.
//!
//! Source: Marquardt 1963, doi:10.1137/0111030; Madsen, Nielsen, Tingleff 2004, "Methods for
//! non-linear least squares problems", algorithm 3.16.

use super::normal::NormalEquations;
use nalgebra::DVector;

/// Update rule of the damping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DampingSchedule {
    /// Nielsen's rule: after an accepted step of gain ratio $\varrho$ the damping is multiplied by
    /// $1 - (2\varrho - 1)^3$, limited to [0.1, 2]; after rejected steps by 2, 4, 8, ...
    Nielsen,
    /// Marquardt's rule: the damping is divided by ten after an accepted step and multiplied by ten
    /// after a rejected one.
    Marquardt,
}

/// Search for damped steps that lower a cost, with the damping carried from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DampedSearch {
    /// Damping $\lambda$ of the next step, relative to the diagonal of the normal matrix.
    pub damping: f64,
    /// Update rule of the damping.
    pub schedule: DampingSchedule,
    /// Length below which a step is returned although it does not lower the cost.
    pub min_step: f64,
    /// Predicted decrease $-\delta^\top g$, relative to the cost, below which the search ends.
    pub min_decrease: f64,
}

/// Result of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct DampedStep<T> {
    /// Evaluation at the end of the step, from the closure of [`DampedSearch::step`].
    pub evaluation: T,
    /// Cost after the step.
    pub cost: f64,
    /// Length of the step.
    pub length: f64,
    /// Damping of the step.
    pub damping: f64,
    /// Whether the first trial was this step; longer steps were rejected otherwise.
    pub is_first: bool,
}

/// Damping of Nielsen's rule above which steps are negligible.
const MAX_DAMPING: f64 = 1e12;

/// Damping of Marquardt's rule above which steps are negligible.
const MAX_MARQUARDT_DAMPING: f64 = 1e9;

/// Minimum damping of Nielsen's rule: smaller values have no effect in double precision.
const MIN_DAMPING: f64 = 1e-15;

/// Minimum damping of Marquardt's rule.
const MIN_MARQUARDT_DAMPING: f64 = 1e-12;

impl DampedSearch {
    /// Increases the damping until a step lowers `cost` or is shorter than
    /// [`min_step`](DampedSearch::min_step); `None` where no step does.
    ///
    /// `evaluate` returns the cost after a step and any other evaluation there. Its second argument is
    /// whether the step is the first trial.
    pub fn step<T>(
        &mut self,
        normal: &NormalEquations,
        cost: f64,
        mut evaluate: impl FnMut(&DVector<f64>, bool) -> (f64, T),
    ) -> Option<DampedStep<T>> {
        let mut growth = self.schedule.first_growth();
        let mut is_first = true;
        while self.damping < self.schedule.max_damping() {
            // Solve for the step at the current damping.
            if let Some(step) = normal.step(self.damping) {
                if -step.dot(&normal.gradient) < self.min_decrease * cost {
                    return None;
                }
                // Evaluate it.
                let (new_cost, evaluation) = evaluate(&step, is_first);
                let damped = DampedStep {
                    evaluation,
                    cost: new_cost,
                    length: step.norm(),
                    damping: self.damping,
                    is_first,
                };
                // Accept a step that lowers the cost, and relax the damping.
                if new_cost < cost {
                    let gain = (cost - new_cost) / normal.predicted_decrease(&step);
                    self.damping = self.schedule.relaxed(self.damping, gain);
                    return Some(damped);
                }
                if damped.length < self.min_step {
                    return Some(damped);
                }
            }
            // Increase the damping.
            self.damping *= growth;
            growth = self.schedule.next_growth(growth);
            is_first = false;
        }
        None
    }
}

impl DampingSchedule {
    /// Factor on the damping after the first rejected step.
    fn first_growth(self) -> f64 {
        match self {
            Self::Nielsen => 2.0,
            Self::Marquardt => 10.0,
        }
    }

    /// Factor on the damping after the next rejected step.
    fn next_growth(self, growth: f64) -> f64 {
        match self {
            Self::Nielsen => 2.0 * growth,
            Self::Marquardt => growth,
        }
    }

    /// Damping at which the search ends.
    fn max_damping(self) -> f64 {
        match self {
            Self::Nielsen => MAX_DAMPING,
            Self::Marquardt => MAX_MARQUARDT_DAMPING,
        }
    }

    /// Damping after an accepted step with the ratio of actual to predicted decrease.
    fn relaxed(self, damping: f64, gain: f64) -> f64 {
        match self {
            Self::Nielsen => {
                let factor = (1.0 - (2.0 * gain - 1.0).powi(3)).clamp(0.1, 2.0);
                (damping * factor).max(MIN_DAMPING)
            }
            Self::Marquardt => (damping * 0.1).max(MIN_MARQUARDT_DAMPING),
        }
    }
}
