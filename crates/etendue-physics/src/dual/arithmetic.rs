//! Dual numbers and their arithmetic operators.

use std::array::from_fn;
use std::fmt;
use std::ops::{
    Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

/// A forward-mode dual number $a + \sum_i b_i\varepsilon_i$ with $\varepsilon_i\varepsilon_j = 0$: a
/// value and its derivatives with respect to `N` parameters.
///
/// Comparisons use the value only. A function of a constant (all $b_i = 0$) is a constant, even where the
/// slope of the function is infinite ($\sqrt x$ at 0).
#[derive(Clone, Copy, Debug)]
pub struct Dual<const N: usize> {
    /// The value.
    pub re: f64,
    /// The derivatives.
    pub eps: [f64; N],
}

impl<const N: usize> Dual<N> {
    /// Chain rule for a function of this number with a `value` and a `slope` at it.
    #[inline]
    pub(super) fn chain(self, value: f64, slope: f64) -> Self {
        let turned = |e: f64| if e == 0.0 { 0.0 } else { e * slope };
        Self {
            re: value,
            eps: self.eps.map(turned),
        }
    }

    /// Chain rule for a function of two numbers with a `value` and partial derivatives `slopes` at them.
    #[inline]
    pub(super) fn chain2(self, other: Self, value: f64, slopes: [f64; 2]) -> Self {
        let turned = |e: f64, slope: f64| if e == 0.0 { 0.0 } else { e * slope };
        Self {
            re: value,
            eps: from_fn(|i| turned(self.eps[i], slopes[0]) + turned(other.eps[i], slopes[1])),
        }
    }
}

/// Construction and read-out of dual numbers.
pub trait DualParts<const N: usize> {
    /// The independent variable with an `index` below `N` at `value`: its derivative with respect to itself is
    /// 1.
    fn variable(value: f64, index: usize) -> Self;
    /// The derivatives with respect to the `N` variables.
    fn gradient(&self) -> [f64; N];
}

impl<const N: usize> DualParts<N> for Dual<N> {
    fn variable(value: f64, index: usize) -> Self {
        let mut eps = [0.0; N];
        eps[index] = 1.0;
        Self { re: value, eps }
    }

    fn gradient(&self) -> [f64; N] {
        self.eps
    }
}

impl<const N: usize> From<f64> for Dual<N> {
    #[inline]
    fn from(re: f64) -> Self {
        Self { re, eps: [0.0; N] }
    }
}

impl<const N: usize> Default for Dual<N> {
    fn default() -> Self {
        Self::from(0.0)
    }
}

impl<const N: usize> PartialEq for Dual<N> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re
    }
}

impl<const N: usize> PartialOrd for Dual<N> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl<const N: usize> fmt::Display for Dual<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} + {:?} eps", self.re, self.eps)
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self {
            re: -self.re,
            eps: self.eps.map(|e| -e),
        }
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            eps: from_fn(|i| self.eps[i] + other.eps[i]),
        }
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self {
            re: self.re - other.re,
            eps: from_fn(|i| self.eps[i] - other.eps[i]),
        }
    }
}

impl<const N: usize> Dual<N> {
    #[inline]
    fn product_rule(&self, other: &Self) -> [f64; N] {
        from_fn(|i| self.eps[i] * other.re + other.eps[i] * self.re)
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re,
            eps: self.product_rule(&other),
        }
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let quotient = self.re / other.re;
        let inverse = 1.0 / other.re;
        Self {
            re: quotient,
            eps: from_fn(|i| (self.eps[i] - quotient * other.eps[i]) * inverse),
        }
    }
}

impl<const N: usize> Rem for Dual<N> {
    type Output = Self;
    fn rem(self, other: Self) -> Self {
        let times = (self.re / other.re).trunc();
        let left = self - other * times;
        Self {
            re: self.re % other.re,
            ..left
        }
    }
}

impl<const N: usize> Add<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn add(self, other: f64) -> Self {
        Self {
            re: self.re + other,
            ..self
        }
    }
}

impl<const N: usize> Sub<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: f64) -> Self {
        Self {
            re: self.re - other,
            ..self
        }
    }
}

impl<const N: usize> Mul<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn mul(self, other: f64) -> Self {
        Self {
            re: self.re * other,
            eps: self.eps.map(|e| e * other),
        }
    }
}

impl<const N: usize> Div<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn div(self, other: f64) -> Self {
        let inverse = 1.0 / other;
        Self {
            re: self.re / other,
            eps: self.eps.map(|e| e * inverse),
        }
    }
}

macro_rules! assigning {
    ($($trait:ident $method:ident $operator:tt $right:ty),*) => {$(
        impl<const N: usize> $trait<$right> for Dual<N> {
            #[inline]
            fn $method(&mut self, other: $right) {
                *self = *self $operator other;
            }
        }
    )*};
}

assigning!(
    AddAssign add_assign + Self, SubAssign sub_assign - Self, MulAssign mul_assign * Self,
    DivAssign div_assign / Self, RemAssign rem_assign % Self,
    AddAssign add_assign + f64, SubAssign sub_assign - f64, MulAssign mul_assign * f64,
    DivAssign div_assign / f64
);
