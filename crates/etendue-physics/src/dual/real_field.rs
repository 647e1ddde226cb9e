//! Dual numbers as real numbers: what nalgebra asks of a field.

use super::Dual;
use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use nalgebra::{ComplexField, Field, RealField, SimdValue};
use num_traits::{FromPrimitive, Num, One, Signed, Zero};
use simba::scalar::SubsetOf;
use std::f64::consts;

impl<const N: usize> Zero for Dual<N> {
    #[inline]
    fn zero() -> Self {
        Self::from(0.0)
    }
    #[inline]
    fn is_zero(&self) -> bool {
        self.re == 0.0
    }
}

impl<const N: usize> One for Dual<N> {
    #[inline]
    fn one() -> Self {
        Self::from(1.0)
    }
}

impl<const N: usize> Num for Dual<N> {
    type FromStrRadixErr = <f64 as Num>::FromStrRadixErr;
    fn from_str_radix(text: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
        <f64 as Num>::from_str_radix(text, radix).map(Self::from)
    }
}

impl<const N: usize> FromPrimitive for Dual<N> {
    fn from_i64(n: i64) -> Option<Self> {
        <f64 as FromPrimitive>::from_i64(n).map(Self::from)
    }
    fn from_u64(n: u64) -> Option<Self> {
        <f64 as FromPrimitive>::from_u64(n).map(Self::from)
    }
    fn from_f64(n: f64) -> Option<Self> {
        Some(Self::from(n))
    }
}

impl<const N: usize> Signed for Dual<N> {
    #[inline]
    fn abs(&self) -> Self {
        self.chain(self.re.abs(), self.re.signum())
    }
    fn abs_sub(&self, other: &Self) -> Self {
        RealField::max(*self - *other, Self::zero())
    }
    fn signum(&self) -> Self {
        Self::from(self.re.signum())
    }
    fn is_positive(&self) -> bool {
        self.re > 0.0
    }
    fn is_negative(&self) -> bool {
        self.re < 0.0
    }
}

impl<const N: usize> AbsDiffEq for Dual<N> {
    type Epsilon = Self;
    fn default_epsilon() -> Self {
        Self::from(f64::EPSILON)
    }
    fn abs_diff_eq(&self, other: &Self, epsilon: Self) -> bool {
        self.re.abs_diff_eq(&other.re, epsilon.re)
    }
}

impl<const N: usize> RelativeEq for Dual<N> {
    fn default_max_relative() -> Self {
        Self::from(f64::EPSILON)
    }
    fn relative_eq(&self, other: &Self, epsilon: Self, max_relative: Self) -> bool {
        self.re.relative_eq(&other.re, epsilon.re, max_relative.re)
    }
}

impl<const N: usize> UlpsEq for Dual<N> {
    fn default_max_ulps() -> u32 {
        f64::default_max_ulps()
    }
    fn ulps_eq(&self, other: &Self, epsilon: Self, max_ulps: u32) -> bool {
        self.re.ulps_eq(&other.re, epsilon.re, max_ulps)
    }
}

/// One lane.
#[expect(
    unsafe_code,
    reason = "nalgebra's trait has unsafe methods; these do nothing unsafe"
)]
impl<const N: usize> SimdValue for Dual<N> {
    const LANES: usize = 1;
    type Element = Self;
    type SimdBool = bool;
    #[inline]
    fn splat(value: Self) -> Self {
        value
    }
    #[inline]
    fn extract(&self, _: usize) -> Self {
        *self
    }
    #[inline]
    unsafe fn extract_unchecked(&self, _: usize) -> Self {
        *self
    }
    #[inline]
    fn replace(&mut self, _: usize, value: Self) {
        *self = value;
    }
    #[inline]
    unsafe fn replace_unchecked(&mut self, _: usize, value: Self) {
        *self = value;
    }
    #[inline]
    fn select(self, own: bool, other: Self) -> Self {
        if own { self } else { other }
    }
}

impl<const N: usize> Field for Dual<N> {}

impl<const N: usize> SubsetOf<Self> for Dual<N> {
    #[inline]
    fn to_superset(&self) -> Self {
        *self
    }
    #[inline]
    fn from_superset_unchecked(element: &Self) -> Self {
        *element
    }
    #[inline]
    fn is_in_subset(_: &Self) -> bool {
        true
    }
}

impl<const N: usize> SubsetOf<Dual<N>> for f64 {
    #[inline]
    fn to_superset(&self) -> Dual<N> {
        Dual::from(*self)
    }
    #[inline]
    fn from_superset_unchecked(element: &Dual<N>) -> Self {
        element.re
    }
    #[inline]
    fn is_in_subset(element: &Dual<N>) -> bool {
        element.eps.iter().all(|e| *e == 0.0)
    }
}

impl<const N: usize> SubsetOf<Dual<N>> for f32 {
    #[inline]
    fn to_superset(&self) -> Dual<N> {
        Dual::from(f64::from(*self))
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the nearest of that type is asked for"
    )]
    fn from_superset_unchecked(element: &Dual<N>) -> Self {
        element.re as Self
    }
    fn is_in_subset(element: &Dual<N>) -> bool {
        <f64 as SubsetOf<Dual<N>>>::is_in_subset(element)
    }
}

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
        let (y, x) = (self.re, other.re);
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
