//! The scalar trait: plain `f64`, or a dual number that carries derivatives.

use crate::dual::Dual;
use nalgebra::RealField;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Sub, SubAssign};

/// A real number that may carry derivatives.
///
/// Physics is written once, generic in `S: Scalar`, and runs on `f64` (simulation) or
/// [`Dual`] (estimation). Arithmetic with `f64` on the right is available: write
/// `-x + 1.0`, not `1.0 - x`. Elementary functions come from [`RealField`].
///
/// ```
/// use etendue_physics::{Dual, DualParts, Scalar};
///
/// fn square<S: Scalar>(x: S) -> S {
///     x * x + 1.0
/// }
/// let x = Dual::<2>::variable(3.0, 0);
/// assert_eq!(square(x).value(), 10.0);
/// assert_eq!(square(x).gradient(), [6.0, 0.0]);
/// ```
pub trait Scalar:
    RealField
    + Copy
    + From<f64>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign<f64>
    + SubAssign<f64>
    + MulAssign<f64>
    + DivAssign<f64>
{
    /// The value without its derivatives. Discrete choices (which triangle, which echo) are made with it.
    fn value(self) -> f64;
}

impl Scalar for f64 {
    fn value(self) -> f64 {
        self
    }
}

impl<const N: usize> Scalar for Dual<N> {
    #[inline]
    fn value(self) -> f64 {
        self.re
    }
}
