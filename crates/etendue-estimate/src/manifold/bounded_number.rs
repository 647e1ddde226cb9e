//! Numbers with bounds, parametrised by an unbounded coordinate.

use super::space::Manifold;
use etendue_physics::Scalar;
use thiserror::Error;

/// Number $x$ with bounds, as a smooth function of an unbounded coordinate $u$ that the solver changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundedNumber {
    /// Without bounds: $x = u$.
    Real {
        /// The coordinate $u$.
        coordinate: f64,
    },
    /// Above zero: $x = e^u$.
    Positive {
        /// The coordinate $u$.
        coordinate: f64,
    },
    /// Between two bounds: $x = m + h \tanh u$, with $m$ the middle and $h$ half the width of the
    /// interval (Heiden et al. 2019, section IV-B).
    Interval {
        /// The coordinate $u$.
        coordinate: f64,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
}

/// Error: an initial value outside its bounds.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{value} is outside the open interval ({lower}, {upper}): start inside, or widen it")]
pub struct OutOfBounds {
    /// The value.
    pub value: f64,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

impl BoundedNumber {
    /// Number without bounds.
    pub fn real(value: f64) -> Self {
        Self::Real { coordinate: value }
    }

    /// Number above zero.
    ///
    /// # Errors
    /// Where `value` is not above zero.
    pub fn positive(value: f64) -> Result<Self, OutOfBounds> {
        within(value, 0.0, f64::INFINITY)?;
        Ok(Self::Positive {
            coordinate: value.ln(),
        })
    }

    /// Number between two bounds.
    ///
    /// # Errors
    /// Where `value` is not between the bounds.
    pub fn interval(value: f64, lower: f64, upper: f64) -> Result<Self, OutOfBounds> {
        within(value, lower, upper)?;
        let (middle, half) = middle_and_half(lower, upper);
        Ok(Self::Interval {
            coordinate: ((value - middle) / half).atanh(),
            lower,
            upper,
        })
    }

    /// Value $x$.
    pub fn value(&self) -> f64 {
        self.moved(0.0)
    }

    /// Value $x$ after a step of the coordinate, in a scalar that may carry derivatives.
    pub fn moved<S: Scalar>(&self, step: S) -> S {
        match *self {
            Self::Real { coordinate } => step + coordinate,
            Self::Positive { coordinate } => (step + coordinate).exp(),
            Self::Interval {
                coordinate,
                lower,
                upper,
            } => {
                let (middle, half) = middle_and_half(lower, upper);
                tanh(step + coordinate) * half + middle
            }
        }
    }

    /// Derivative $dx/du$ of the value by the coordinate.
    pub fn slope(&self) -> f64 {
        match *self {
            Self::Real { .. } => 1.0,
            Self::Positive { coordinate } => coordinate.exp(),
            Self::Interval {
                coordinate,
                lower,
                upper,
            } => middle_and_half(lower, upper).1 / coordinate.cosh().powi(2),
        }
    }

    /// The number with another coordinate and the same bounds.
    fn at(mut self, to: f64) -> Self {
        match &mut self {
            Self::Real { coordinate }
            | Self::Positive { coordinate }
            | Self::Interval { coordinate, .. } => *coordinate = to,
        }
        self
    }

    /// Coordinate $u$.
    fn coordinate(&self) -> f64 {
        match *self {
            Self::Real { coordinate }
            | Self::Positive { coordinate }
            | Self::Interval { coordinate, .. } => coordinate,
        }
    }
}

/// Steps are added to the coordinate $u$.
impl Manifold for BoundedNumber {
    fn dimension(&self) -> usize {
        1
    }

    fn retract(&self, tangent: &[f64]) -> Self {
        self.at(self.coordinate() + tangent[0])
    }

    fn local(&self, other: &Self) -> Vec<f64> {
        vec![other.coordinate() - self.coordinate()]
    }
}

/// Hyperbolic tangent $\tanh u = \pm(1 - e^{-2|u|})/(1 + e^{-2|u|})$, whose derivatives underflow to
/// zero for large $|u|$ where the quotient of $\sinh$ and $\cosh$ overflows.
fn tanh<S: Scalar>(u: S) -> S {
    let sign = if u.value() < 0.0 { -1.0 } else { 1.0 };
    let small = (u * (-2.0 * sign)).exp();
    (-small + 1.0) / (small + 1.0) * sign
}

/// Middle and half width of an interval.
fn middle_and_half(lower: f64, upper: f64) -> (f64, f64) {
    (0.5 * (lower + upper), 0.5 * (upper - lower))
}

/// Checks that a value is inside the open interval.
fn within(value: f64, lower: f64, upper: f64) -> Result<(), OutOfBounds> {
    if lower < value && value < upper {
        return Ok(());
    }
    Err(OutOfBounds {
        value,
        lower,
        upper,
    })
}
