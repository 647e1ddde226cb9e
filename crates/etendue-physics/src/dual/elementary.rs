//! Elementary functions of dual numbers, with their derivatives.

use super::Dual;
use nalgebra::{ComplexField, RealField};
use num_traits::Zero;
use std::f64::consts;

/// Functions of one number, by value and slope of `x`.
macro_rules! functions {
    ($($name:ident($x:ident) = $value:expr, $slope:expr;)*) => {$(
        #[inline]
        fn $name(self) -> Self {
            let $x = self.re;
            self.chain($value, $slope)
        }
    )*};
}

impl<const N: usize> ComplexField for Dual<N> {
    type RealField = Self;

    functions! {
        floor(x) = x.floor(), 0.0;
        ceil(x) = x.ceil(), 0.0;
        round(x) = x.round(), 0.0;
        trunc(x) = x.trunc(), 0.0;
        fract(x) = x.fract(), 1.0;
        abs(x) = x.abs(), x.signum();
        recip(x) = 1.0 / x, -1.0 / (x * x);
        tan(x) = x.tan(), 1.0 + x.tan().powi(2);
        asin(x) = x.asin(), 1.0 / (1.0 - x * x).sqrt();
        acos(x) = x.acos(), -1.0 / (1.0 - x * x).sqrt();
        atan(x) = x.atan(), 1.0 / (1.0 + x * x);
        sinh(x) = x.sinh(), x.cosh();
        cosh(x) = x.cosh(), x.sinh();
        tanh(x) = x.tanh(), 1.0 - x.tanh().powi(2);
        asinh(x) = x.asinh(), 1.0 / (x * x + 1.0).sqrt();
        acosh(x) = x.acosh(), 1.0 / (x * x - 1.0).sqrt();
        atanh(x) = x.atanh(), 1.0 / (1.0 - x * x);
        log2(x) = x.log2(), 1.0 / (x * consts::LN_2);
        log10(x) = x.log10(), 1.0 / (x * consts::LN_10);
        ln(x) = x.ln(), 1.0 / x;
        ln_1p(x) = x.ln_1p(), 1.0 / (1.0 + x);
        exp2(x) = x.exp2(), consts::LN_2 * x.exp2();
        exp_m1(x) = x.exp_m1(), x.exp();
        cbrt(x) = x.cbrt(), 1.0 / (3.0 * x.cbrt().powi(2));
    }

    #[inline]
    fn from_real(re: Self) -> Self {
        re
    }
    #[inline]
    fn real(self) -> Self {
        self
    }
    #[inline]
    fn imaginary(self) -> Self {
        Self::zero()
    }
    #[inline]
    fn modulus(self) -> Self {
        ComplexField::abs(self)
    }
    #[inline]
    fn modulus_squared(self) -> Self {
        self * self
    }
    #[inline]
    fn argument(self) -> Self {
        Self::from(if self.re < 0.0 { consts::PI } else { 0.0 })
    }
    #[inline]
    fn norm1(self) -> Self {
        ComplexField::abs(self)
    }
    #[inline]
    fn scale(self, factor: Self) -> Self {
        self * factor
    }
    #[inline]
    fn unscale(self, factor: Self) -> Self {
        self / factor
    }
    #[inline]
    fn conjugate(self) -> Self {
        self
    }
    #[inline]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self * factor + term
    }
    #[inline]
    fn hypot(self, other: Self) -> Self {
        let length = self.re.hypot(other.re);
        self.chain2(other, length, [self.re / length, other.re / length])
    }
    #[inline]
    fn sin(self) -> Self {
        let (sin, cos) = self.re.sin_cos();
        self.chain(sin, cos)
    }
    #[inline]
    fn cos(self) -> Self {
        let (sin, cos) = self.re.sin_cos();
        self.chain(cos, -sin)
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = self.re.sin_cos();
        (self.chain(sin, cos), self.chain(cos, -sin))
    }
    #[inline]
    fn sqrt(self) -> Self {
        let root = self.re.sqrt();
        self.chain(root, 0.5 / root)
    }
    #[inline]
    fn exp(self) -> Self {
        let value = self.re.exp();
        self.chain(value, value)
    }
    fn log(self, base: Self) -> Self {
        ComplexField::ln(self) / ComplexField::ln(base)
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        let slope = match n {
            0 => 0.0,
            _ => f64::from(n) * self.re.powi(n - 1),
        };
        self.chain(self.re.powi(n), slope)
    }
    fn powf(self, n: Self) -> Self {
        let value = self.re.powf(n.re);
        let slopes = [n.re * self.re.powf(n.re - 1.0), value * self.re.ln()];
        self.chain2(n, value, slopes)
    }
    fn powc(self, n: Self) -> Self {
        ComplexField::powf(self, n)
    }
    #[inline]
    fn is_finite(&self) -> bool {
        self.re.is_finite()
    }
    #[inline]
    fn try_sqrt(self) -> Option<Self> {
        (self.re >= 0.0).then(|| ComplexField::sqrt(self))
    }
}

/// Constants.
macro_rules! constants {
    ($($name:ident = $value:expr;)*) => {$(
        #[inline]
        fn $name() -> Self {
            Self::from($value)
        }
    )*};
}

impl<const N: usize> RealField for Dual<N> {
    constants! {
        pi = consts::PI;
        two_pi = consts::TAU;
        frac_pi_2 = consts::FRAC_PI_2;
        frac_pi_3 = consts::FRAC_PI_3;
        frac_pi_4 = consts::FRAC_PI_4;
        frac_pi_6 = consts::FRAC_PI_6;
        frac_pi_8 = consts::FRAC_PI_8;
        frac_1_pi = consts::FRAC_1_PI;
        frac_2_pi = consts::FRAC_2_PI;
        frac_2_sqrt_pi = consts::FRAC_2_SQRT_PI;
        e = consts::E;
        log2_e = consts::LOG2_E;
        log10_e = consts::LOG10_E;
        ln_2 = consts::LN_2;
        ln_10 = consts::LN_10;
    }

    #[inline]
    fn is_sign_positive(&self) -> bool {
        self.re.is_sign_positive()
    }
    #[inline]
    fn is_sign_negative(&self) -> bool {
        self.re.is_sign_negative()
    }
    #[inline]
    fn copysign(self, sign: Self) -> Self {
        if self.re.is_sign_positive() == sign.re.is_sign_positive() {
            self
        } else {
            -self
        }
    }
    #[inline]
    fn max(self, other: Self) -> Self {
        if other.re > self.re { other } else { self }
    }
    #[inline]
    fn min(self, other: Self) -> Self {
        if other.re < self.re { other } else { self }
    }
    #[inline]
    fn clamp(self, lower: Self, upper: Self) -> Self {
        RealField::min(RealField::max(self, lower), upper)
    }
    /// The angle of the point (x, y) with y = `self`, x = `other`.
    #[inline]
    fn atan2(self, other: Self) -> Self {
        let y = self.re;
        let x = other.re;
        let square = x * x + y * y;
        self.chain2(other, y.atan2(x), [x / square, -y / square])
    }
    fn min_value() -> Option<Self> {
        Some(Self::from(f64::MIN))
    }
    fn max_value() -> Option<Self> {
        Some(Self::from(f64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DualParts;

    type D = Dual<2>;
    type Function = fn(D) -> D;

    /// Slopes against central differences: relative 1e-8.
    #[test]
    fn slopes_of_elementary_functions_are_their_differences() {
        // Functions with the points at which they are differentiated.
        let functions: [(&str, Function, f64); 26] = [
            ("recip", ComplexField::recip, 0.7),
            ("sin", ComplexField::sin, 0.7),
            ("cos", ComplexField::cos, 0.7),
            ("sin of sin_cos", |x| x.sin_cos().0, 0.7),
            ("cos of sin_cos", |x| x.sin_cos().1, 0.7),
            ("tan", ComplexField::tan, 0.7),
            ("asin", ComplexField::asin, 0.7),
            ("acos", ComplexField::acos, 0.7),
            ("atan", ComplexField::atan, 0.7),
            ("sinh", ComplexField::sinh, 0.7),
            ("cosh", ComplexField::cosh, 0.7),
            ("tanh", ComplexField::tanh, 0.7),
            ("asinh", ComplexField::asinh, 0.7),
            ("acosh", ComplexField::acosh, 1.7),
            ("atanh", ComplexField::atanh, 0.7),
            ("ln", ComplexField::ln, 0.7),
            ("ln_1p", ComplexField::ln_1p, 0.7),
            ("log2", ComplexField::log2, 0.7),
            ("log10", ComplexField::log10, 0.7),
            ("exp", ComplexField::exp, 0.7),
            ("exp2", ComplexField::exp2, 0.7),
            ("exp_m1", ComplexField::exp_m1, 0.7),
            ("sqrt", ComplexField::sqrt, 0.7),
            ("cbrt", ComplexField::cbrt, 0.7),
            ("abs", ComplexField::abs, -0.7),
            ("powi", |x| x.powi(-3), 0.7),
        ];
        // Compare the slope with a central difference.
        for (name, f, x) in functions {
            let h = 1e-5;
            let at = |x: f64| f(D::from(x)).re;
            let difference = (at(x + h) - at(x - h)) / (2.0 * h);
            let slope = f(D::variable(x, 1)).gradient();
            assert_eq!(slope[0], 0.0, "{name}");
            assert!(
                (slope[1] / difference - 1.0).abs() < 1e-8,
                "{name}: {} {difference}",
                slope[1]
            );
        }
    }

    #[test]
    fn slopes_of_functions_of_two_numbers_are_their_differences() {
        type OfTwo = fn(D, D) -> D;
        let functions: [(&str, OfTwo); 9] = [
            ("add", |a, b| a + b),
            ("sub", |a, b| a - b),
            ("mul", |a, b| a * b),
            ("div", |a, b| a / b),
            ("rem", |a, b| a % b),
            ("atan2", RealField::atan2),
            ("hypot", ComplexField::hypot),
            ("powf", ComplexField::powf),
            ("log", ComplexField::log),
        ];
        // Compare both slopes with central differences.
        let (a, b, h) = (2.3, 0.6, 1e-5);
        for (name, f) in functions {
            let at = |a: f64, b: f64| f(D::from(a), D::from(b)).re;
            let differences = [
                (at(a + h, b) - at(a - h, b)) / (2.0 * h),
                (at(a, b + h) - at(a, b - h)) / (2.0 * h),
            ];
            let slopes = f(D::variable(a, 0), D::variable(b, 1)).gradient();
            for (slope, difference) in slopes.iter().zip(differences) {
                assert!(
                    (slope - difference).abs() < 1e-8,
                    "{name}: {slope} {difference}"
                );
            }
        }
    }

    #[test]
    fn a_constant_has_no_derivative_even_where_the_slope_is_infinite() {
        let zero = D::from(0.0);
        for derivative in [
            zero.sqrt(),
            zero.ln(),
            D::from(1.0).acos(),
            zero.atan2(zero),
        ] {
            assert_eq!(derivative.gradient(), [0.0, 0.0]);
        }
        let touched = RealField::max(D::variable(-1.0, 0), zero).sqrt();
        assert_eq!((touched.re, touched.eps), (0.0, [0.0, 0.0]));
    }
}
