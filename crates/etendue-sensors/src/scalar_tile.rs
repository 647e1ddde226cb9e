//! Tiles of sixteen scalars, for vectorised loops.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use etendue_physics::{Dual, Scalar};
use std::array::from_fn;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A scalar with a tile of sixteen lanes, for vectorised code.
///
/// Plain code is generic in [`Scalar`] only.
pub trait LaneScalar: Scalar {
    /// Sixteen scalars.
    type Tile: ScalarTile<Self>;
}

impl LaneScalar for f64 {
    type Tile = DualTile<0>;
}

impl<const N: usize> LaneScalar for Dual<N> {
    type Tile = DualTile<N>;
}

/// Sixteen scalars, for loops over lanes that the compiler vectorises.
///
/// ```
/// use etendue_physics::{Dual, DualParts};
/// use etendue_sensors::{DualTile, ScalarTile};
///
/// let mut x: DualTile<1> = ScalarTile::<Dual<1>>::plain([3.0; 16]);
/// x.put(5, Dual::variable(4.0, 0));
/// let square: Dual<1> = (x * x).lane(5);
/// assert_eq!((square.re, square.eps), (16.0, [8.0]));
/// ```
pub trait ScalarTile<S>:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// A tile of plain numbers, with zero derivatives.
    fn plain(values: [f64; 16]) -> Self;

    /// The scalar of a lane.
    fn lane(&self, lane: usize) -> S;

    /// Replaces the scalar of a lane.
    fn put(&mut self, lane: usize, scalar: S);

    /// The values without their derivatives.
    fn values(&self) -> &[f64; 16];

    /// Applies a function to each lane, given its values and derivatives there (chain rule).
    #[must_use]
    fn chain(&self, values: &[f64; 16], slopes: &[f64; 16]) -> Self;

    /// Multiplies each lane by a plain number.
    #[must_use]
    fn scaled(&self, factors: &[f64; 16]) -> Self;

    /// Keeps the lanes of a mask and sets the others to zero.
    #[must_use]
    fn only(&self, lanes: &[bool; 16]) -> Self;
}

/// Sixteen [`Dual`] numbers in structure-of-arrays layout; with `N = 0`, sixteen plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct DualTile<const N: usize> {
    /// The values.
    pub re: [f64; 16],
    /// The derivatives, by variable and lane.
    pub eps: [[f64; 16]; N],
}

/// Conversion between a scalar and its value and `N` derivatives.
pub trait Parts<const N: usize> {
    /// The value and the derivatives.
    fn parts(self) -> (f64, [f64; N]);
    /// The scalar of a value and derivatives.
    fn of(value: f64, derivatives: [f64; N]) -> Self;
}

impl Parts<0> for f64 {
    #[inline(always)]
    fn parts(self) -> (f64, [f64; 0]) {
        (self, [])
    }
    #[inline(always)]
    fn of(value: f64, _: [f64; 0]) -> Self {
        value
    }
}

impl<const N: usize> Parts<N> for Dual<N> {
    #[inline(always)]
    fn parts(self) -> (f64, [f64; N]) {
        (self.re, self.eps)
    }
    #[inline(always)]
    fn of(re: f64, eps: [f64; N]) -> Self {
        Self { re, eps }
    }
}

impl<const N: usize, S: Parts<N>> ScalarTile<S> for DualTile<N> {
    #[inline(always)]
    fn plain(re: [f64; 16]) -> Self {
        Self {
            re,
            eps: [[0.0; 16]; N],
        }
    }

    #[inline(always)]
    fn lane(&self, lane: usize) -> S {
        S::of(self.re[lane], from_fn(|k| self.eps[k][lane]))
    }

    #[inline(always)]
    fn put(&mut self, lane: usize, scalar: S) {
        let (value, derivatives) = scalar.parts();
        self.re[lane] = value;
        for k in 0..N {
            self.eps[k][lane] = derivatives[k];
        }
    }

    #[inline(always)]
    fn values(&self) -> &[f64; 16] {
        &self.re
    }

    #[inline(always)]
    fn chain(&self, values: &[f64; 16], slopes: &[f64; 16]) -> Self {
        let mut out = *self;
        out.re = *values;
        for k in 0..N {
            for i in 0..16 {
                out.eps[k][i] *= slopes[i];
            }
        }
        out
    }

    #[inline(always)]
    fn scaled(&self, factors: &[f64; 16]) -> Self {
        let mut values = self.re;
        for i in 0..16 {
            values[i] *= factors[i];
        }
        ScalarTile::<S>::chain(self, &values, factors)
    }

    #[inline(always)]
    fn only(&self, lanes: &[bool; 16]) -> Self {
        let mut out = *self;
        for i in 0..16 {
            out.re[i] = if lanes[i] { out.re[i] } else { 0.0 };
        }
        for k in 0..N {
            for i in 0..16 {
                out.eps[k][i] = if lanes[i] { out.eps[k][i] } else { 0.0 };
            }
        }
        out
    }
}

impl<const N: usize> Neg for DualTile<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(mut self) -> Self {
        for i in 0..16 {
            self.re[i] = -self.re[i];
        }
        for k in 0..N {
            for i in 0..16 {
                self.eps[k][i] = -self.eps[k][i];
            }
        }
        self
    }
}

impl<const N: usize> Add for DualTile<N> {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for i in 0..16 {
            self.re[i] += other.re[i];
        }
        for k in 0..N {
            for i in 0..16 {
                self.eps[k][i] += other.eps[k][i];
            }
        }
        self
    }
}

impl<const N: usize> Sub for DualTile<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<const N: usize> Mul for DualTile<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let mut out = self;
        for i in 0..16 {
            out.re[i] = self.re[i] * other.re[i];
        }
        for k in 0..N {
            for i in 0..16 {
                out.eps[k][i] = self.eps[k][i] * other.re[i] + other.eps[k][i] * self.re[i];
            }
        }
        out
    }
}

impl<const N: usize> Div for DualTile<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let mut out = self;
        let mut inverse = [0.0; 16];
        for i in 0..16 {
            out.re[i] = self.re[i] / other.re[i];
            inverse[i] = 1.0 / other.re[i];
        }
        for k in 0..N {
            for i in 0..16 {
                out.eps[k][i] = (self.eps[k][i] - out.re[i] * other.eps[k][i]) * inverse[i];
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::DualParts;

    fn tile(first: f64) -> DualTile<2> {
        let mut tile = DualTile::<2> {
            re: [0.0; 16],
            eps: [[0.0; 16]; 2],
        };
        for lane in 0..16 {
            let part = |k: usize| (first + lane as f64 + 0.3 * k as f64).sin();
            let eps = [part(1), part(2)];
            tile.put(lane, Dual { re: part(0), eps });
        }
        tile
    }

    /// Each lane of an operation equals the operation of the scalars, bit for bit.
    #[test]
    fn lanes_equal_scalars_bit_for_bit() {
        // Arithmetic.
        let a = tile(0.5);
        let b = tile(4.2);
        let bits = |x: Dual<2>| (x.re.to_bits(), x.gradient().map(f64::to_bits));
        for lane in 0..16 {
            let x: Dual<2> = a.lane(lane);
            let y: Dual<2> = b.lane(lane);
            for (tile, scalar) in [
                (a + b, x + y),
                (a - b, x - y),
                (a * b, x * y),
                (a / b, x / y),
                (-a, -x),
            ] {
                assert_eq!(bits(tile.lane(lane)), bits(scalar));
            }
            let scaled: Dual<2> = ScalarTile::<Dual<2>>::scaled(&a, &[0.7; 16]).lane(lane);
            assert_eq!(bits(scaled), bits(x * 0.7));
        }
        // Selection of lanes.
        let only = ScalarTile::<Dual<2>>::only(&a, &from_fn(|lane| lane == 3));
        let lanes: [Dual<2>; 16] = from_fn(|lane| only.lane(lane));
        assert_eq!(lanes[3], a.lane(3));
        assert!(
            lanes
                .iter()
                .enumerate()
                .all(|(lane, x)| lane == 3 || x.value() == 0.0)
        );
    }
}
