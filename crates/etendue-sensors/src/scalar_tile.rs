//! Tiles of sixteen scalars, for vectorised loops.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use etendue_physics::{Dual, DualParts, Scalar};
use std::array::from_fn;
use std::hint::black_box;

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
/// let square: DualTile<1> = ScalarTile::<Dual<1>>::chained([16.0; 16], [(&x, &[8.0; 16])]);
/// let lane: Dual<1> = square.lane(5);
/// assert_eq!((lane.re, lane.eps), (16.0, [8.0]));
/// ```
pub trait ScalarTile<S>: Copy + Send + Sync {
    /// A tile of plain numbers, with zero derivatives.
    fn plain(values: [f64; 16]) -> Self;

    /// The scalar of a lane.
    fn lane(&self, lane: usize) -> S;

    /// Replaces the scalar of a lane.
    fn put(&mut self, lane: usize, scalar: S);

    /// Replaces the scalars of all lanes.
    fn fill(&mut self, scalar: S);

    /// The values without their derivatives.
    fn values(&self) -> &[f64; 16];

    /// A function of several tiles, from its values and its derivatives by each (chain rule). The values of the
    /// tiles have no effect.
    #[must_use]
    fn chained<const K: usize>(values: [f64; 16], parts: [(&Self, &[f64; 16]); K]) -> Self;

    /// [`chained`](Self::chained) of scalars that are the same in all lanes.
    #[must_use]
    fn chained_scalars<const K: usize>(
        values: [f64; 16],
        scalars: &[S; K],
        slopes: &[[f64; 16]; K],
    ) -> Self;

    /// Adds [`chained`](Self::chained).
    fn add<const K: usize>(&mut self, values: &[f64; 16], parts: [(&Self, &[f64; 16]); K]);

    /// Multiplies each lane by a plain number.
    #[must_use]
    fn scaled(&self, factors: &[f64; 16]) -> Self;

    /// Keeps the lanes of a mask and sets the others to zero.
    #[must_use]
    fn only(&self, lanes: &[bool; 16]) -> Self;
}

/// Functions of `K` scalars in each lane. A trait, because closures cannot be marked for inlining, and other functions
/// would not have the vector instructions of the caller.
pub(crate) trait LaneFunctions<const K: usize, const M: usize> {
    /// The functions of the scalars in a lane, and whether they exist.
    fn of(&self, lane: usize, scalars: [Dual<K>; K]) -> ([Dual<K>; M], bool);
}

/// Values of `M` functions of `K` scalars in each lane, with their derivatives by the scalars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvaluatedLanes<const K: usize, const M: usize> {
    /// The values, by function and lane.
    pub values: [[f64; 16]; M],
    /// Their derivatives, by function, scalar and lane.
    pub slopes: [[[f64; 16]; K]; M],
    /// Lanes in which the functions exist; the other lanes are unspecified.
    pub exist: [bool; 16],
}

impl<const K: usize, const M: usize> EvaluatedLanes<K, M> {
    /// No values.
    pub const NONE: Self = Self {
        values: [[0.0; 16]; M],
        slopes: [[[0.0; 16]; K]; M],
        exist: [false; 16],
    };

    /// Evaluates functions of the values of scalars, in dual numbers of these scalars, however many derivatives the
    /// scalars have.
    #[inline(always)]
    pub fn evaluate_lanes(
        &mut self,
        scalars: [&[f64; 16]; K],
        functions: &impl LaneFunctions<K, M>,
    ) {
        for lane in 0..16 {
            self.evaluate(lane, scalars, functions);
        }
    }

    /// Evaluates the functions in one lane.
    #[inline(always)]
    pub fn evaluate(
        &mut self,
        lane: usize,
        scalars: [&[f64; 16]; K],
        functions: &impl LaneFunctions<K, M>,
    ) {
        let mut own = [Dual::<K>::from(0.0); K];
        for k in 0..K {
            own[k] = Dual::variable(scalars[k][lane], k);
        }
        let (found, are_found) = functions.of(lane, own);
        self.exist[lane] = are_found;
        for m in 0..M {
            self.values[m][lane] = found[m].re;
            for k in 0..K {
                self.slopes[m][k][lane] = found[m].eps[k];
            }
        }
    }
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

impl<const N: usize, S: Parts<N> + Copy> ScalarTile<S> for DualTile<N> {
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
    fn fill(&mut self, scalar: S) {
        let (value, derivatives) = scalar.parts();
        self.re = [value; 16];
        self.eps = derivatives.map(|derivative| [derivative; 16]);
    }

    #[inline(always)]
    fn values(&self) -> &[f64; 16] {
        &self.re
    }

    #[inline(always)]
    fn chained<const K: usize>(values: [f64; 16], parts: [(&Self, &[f64; 16]); K]) -> Self {
        let mut out = <Self as ScalarTile<S>>::plain(values);
        for k in variables::<N>() {
            out.eps[k] = sum_of_slopes([0.0; 16], k, &parts);
        }
        out
    }

    #[inline(always)]
    fn chained_scalars<const K: usize>(
        values: [f64; 16],
        scalars: &[S; K],
        slopes: &[[f64; 16]; K],
    ) -> Self {
        let derivatives = scalars.map(|scalar| scalar.parts().1);
        let mut out = <Self as ScalarTile<S>>::plain(values);
        for k in variables::<N>() {
            let mut sum = [0.0; 16];
            for (own, slopes) in derivatives.iter().zip(slopes) {
                for i in 0..16 {
                    sum[i] += own[k] * slopes[i];
                }
            }
            out.eps[k] = sum;
        }
        out
    }

    #[inline(always)]
    fn add<const K: usize>(&mut self, values: &[f64; 16], parts: [(&Self, &[f64; 16]); K]) {
        for i in 0..16 {
            self.re[i] += values[i];
        }
        for k in variables::<N>() {
            self.eps[k] = sum_of_slopes(self.eps[k], k, &parts);
        }
    }

    #[inline(always)]
    fn scaled(&self, factors: &[f64; 16]) -> Self {
        let mut out = *self;
        for i in 0..16 {
            out.re[i] *= factors[i];
        }
        for k in variables::<N>() {
            for i in 0..16 {
                out.eps[k][i] *= factors[i];
            }
        }
        out
    }

    #[inline(always)]
    fn only(&self, lanes: &[bool; 16]) -> Self {
        let mut out = *self;
        for i in 0..16 {
            out.re[i] = if lanes[i] { out.re[i] } else { 0.0 };
        }
        for k in variables::<N>() {
            for i in 0..16 {
                out.eps[k][i] = if lanes[i] { out.eps[k][i] } else { 0.0 };
            }
        }
        out
    }
}

/// Indices of the variables. The compiler does not know them: it would vectorise loops over the few variables, with gathers
/// and scatters, instead of those over the sixteen lanes.
#[inline(always)]
pub(crate) fn variables<const N: usize>() -> impl Iterator<Item = usize> {
    (0..N).map(black_box)
}

/// Adds the derivatives by one variable of the parts of a chain rule to `sum`, part by part: the loop over the lanes is
/// the inner one, and becomes vector instructions.
#[inline(always)]
fn sum_of_slopes<const N: usize, const K: usize>(
    mut sum: [f64; 16],
    variable: usize,
    parts: &[(&DualTile<N>, &[f64; 16]); K],
) -> [f64; 16] {
    for (part, slopes) in parts {
        let own = &part.eps[variable];
        for i in 0..16 {
            sum[i] += own[i] * slopes[i];
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// The chain rule in lanes equals arithmetic of the scalars: products within rounding, scaling and selection
    /// bit for bit.
    #[test]
    fn lanes_equal_scalars() {
        let a = tile(0.5);
        let b = tile(4.2);
        let product = from_fn(|i| a.re[i] * b.re[i]);
        let parts = [(&a, &b.re), (&b, &a.re)];
        let tile: DualTile<2> = ScalarTile::<Dual<2>>::chained(product, parts);
        let mut sum = a;
        ScalarTile::<Dual<2>>::add(&mut sum, &product, parts);
        let scaled = ScalarTile::<Dual<2>>::scaled(&a, &[0.7; 16]);
        let only = ScalarTile::<Dual<2>>::only(&a, &from_fn(|lane| lane == 3));
        let bits = |x: Dual<2>| (x.re.to_bits(), x.gradient().map(f64::to_bits));
        for lane in 0..16 {
            let [x, y]: [Dual<2>; 2] = [a.lane(lane), b.lane(lane)];
            for (tile, scalar) in [(&tile, x * y), (&sum, x + x * y)] {
                let tile: Dual<2> = tile.lane(lane);
                assert_eq!(tile.re.to_bits(), scalar.re.to_bits());
                let pairs = tile.gradient().into_iter().zip(scalar.gradient());
                assert!(pairs.map(|(a, b)| (a - b).abs()).all(|apart| apart < 1e-15));
            }
            assert_eq!(bits(scaled.lane(lane)), bits(x * 0.7));
            let kept = if lane == 3 { x } else { 0.0.into() };
            assert_eq!(bits(only.lane(lane)), bits(kept));
        }
    }

    /// Two functions of two scalars, where the first is positive.
    struct Functions;

    impl Functions {
        fn of_scalars<S: Scalar>(x: S, y: S) -> ([S; 2], bool) {
            ([(x * y).sin(), x / (y * y + 1.0)], x.value() > 0.0)
        }
    }

    impl LaneFunctions<2, 2> for Functions {
        fn of(&self, _: usize, [x, y]: [Dual<2>; 2]) -> ([Dual<2>; 2], bool) {
            Self::of_scalars(x, y)
        }
    }

    /// Evaluated functions equal arithmetic of the scalars: values bit for bit, derivatives within rounding.
    #[test]
    fn evaluated_functions_equal_scalars() {
        let [a, b] = [tile(0.5), tile(4.2)];
        let mut evaluated = EvaluatedLanes::NONE;
        evaluated.evaluate_lanes([&a.re, &b.re], &Functions);
        let chained = |m: usize| {
            let [of_a, of_b] = &evaluated.slopes[m];
            <DualTile<2> as ScalarTile<Dual<2>>>::chained(
                evaluated.values[m],
                [(&a, of_a), (&b, of_b)],
            )
        };
        let results = [chained(0), chained(1)];
        let exist = evaluated.exist;
        for lane in 0..16 {
            let (expected, is_positive) =
                Functions::of_scalars::<Dual<2>>(a.lane(lane), b.lane(lane));
            assert_eq!(exist[lane], is_positive);
            for (tile, scalar) in results.iter().zip(expected) {
                let tile: Dual<2> = tile.lane(lane);
                assert_eq!(tile.re.to_bits(), scalar.re.to_bits());
                let pairs = tile.gradient().into_iter().zip(scalar.gradient());
                assert!(pairs.map(|(a, b)| (a - b).abs()).all(|apart| apart < 1e-15));
            }
        }
        assert!((3..13).contains(&exist.iter().filter(|exists| **exists).count()));
    }
}
