//! Damped steps of Levenberg and Marquardt.
//!
//! Source: Marquardt 1963, doi:10.1137/0111030; Madsen, Nielsen, Tingleff 2004, "Methods for
//! non-linear least squares problems", algorithm 3.16.

use super::normal::NormalEquations;
use nalgebra::DVector;

/// Rule by which the damping changes from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DampingSchedule {
    /// Nielsen's rule: the damping follows the gain ratio of an accepted step, and grows by 2, 4, 8,
    /// ... after rejected ones.
    Nielsen,
    /// Marquardt's rule: division by ten after an accepted step, multiplication by ten after a
    /// rejected one.
    Marquardt,
}

/// Search for damped steps that lower a cost; keeps the damping from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DampedSearch {
    /// Damping of the next step, relative to the diagonal of the normal matrix.
    pub damping: f64,
    /// Rule by which the damping changes.
    pub schedule: DampingSchedule,
    /// Length of a step below which it is accepted although the cost does not fall.
    pub min_step: f64,
    /// Predicted decrease $-\delta^\top g$, relative to the cost, below which the search ends.
    pub min_decrease: f64,
}

/// An evaluated step.
#[derive(Clone, Debug, PartialEq)]
pub struct DampedStep<T> {
    /// Evaluation of the step.
    pub evaluation: T,
    /// Cost after the step.
    pub cost: f64,
    /// Length of the step.
    pub length: f64,
    /// Damping of the step.
    pub damping: f64,
}

/// Damping above which steps are too short to matter, per schedule.
const MAX_DAMPING: f64 = 1e12;
const MAX_MARQUARDT_DAMPING: f64 = 1e9;

/// Damping below which it has no effect in double precision, per schedule.
const MIN_DAMPING: f64 = 1e-15;
const MIN_MARQUARDT_DAMPING: f64 = 1e-12;

impl DampedSearch {
    /// Increases the damping until a step lowers `cost` or is shorter than the least step; `None`
    /// where no step does. `evaluate` gives the cost and an evaluation of a step, and receives
    /// whether the step is the first one.
    pub fn step<T>(
        &mut self,
        normal: &NormalEquations,
        cost: f64,
        mut evaluate: impl FnMut(&DVector<f64>, bool) -> (f64, T),
    ) -> Option<DampedStep<T>> {
        let mut growth = self.schedule.first_growth();
        let mut is_first = true;
        while self.damping < self.schedule.max_damping() {
            if let Some(step) = normal.step(self.damping) {
                if -step.dot(&normal.gradient) < self.min_decrease * cost {
                    return None;
                }
                let (new_cost, evaluation) = evaluate(&step, is_first);
                let damped = DampedStep {
                    evaluation,
                    cost: new_cost,
                    length: step.norm(),
                    damping: self.damping,
                };
                if new_cost < cost {
                    let gain = (cost - new_cost) / normal.predicted_fall(&step);
                    self.damping = self.schedule.relaxed(self.damping, gain);
                    return Some(damped);
                }
                if damped.length < self.min_step {
                    return Some(damped);
                }
            }
            self.damping *= growth;
            growth = self.schedule.next_growth(growth);
            is_first = false;
        }
        None
    }
}

impl DampingSchedule {
    fn first_growth(self) -> f64 {
        match self {
            Self::Nielsen => 2.0,
            Self::Marquardt => 10.0,
        }
    }

    fn next_growth(self, growth: f64) -> f64 {
        match self {
            Self::Nielsen => 2.0 * growth,
            Self::Marquardt => growth,
        }
    }

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
