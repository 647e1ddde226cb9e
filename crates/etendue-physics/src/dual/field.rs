//! Dual numbers as a field: the traits of num-traits, approx and simba that nalgebra requires.

use super::Dual;
use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use nalgebra::{Field, RealField, SimdValue};
use num_traits::{FromPrimitive, Num, One, Signed, Zero};
use simba::scalar::SubsetOf;

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

/// nalgebra requires SIMD operations of its fields: a dual number is a vector of one lane.
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
        reason = "the result is the nearest f32"
    )]
    fn from_superset_unchecked(element: &Dual<N>) -> Self {
        element.re as Self
    }
    fn is_in_subset(element: &Dual<N>) -> bool {
        <f64 as SubsetOf<Dual<N>>>::is_in_subset(element)
    }
}
