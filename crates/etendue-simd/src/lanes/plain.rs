//! Vectors as plain arrays, for every processor.

use super::kernel::{Kernel, Lanes};
use super::vector::{Float, Mask};

/// No intrinsics: loops over arrays, which the compiler vectorises for its baseline target.
pub struct Plain;

impl Lanes for Plain {
    type F8 = Array<8>;
    type F16 = Array<16>;
    const BRANCHLESS: bool = false;

    #[inline(never)]
    fn call<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Self>()
    }
}

/// `N` lanes.
#[derive(Clone, Copy)]
pub struct Array<const N: usize>([f32; N]);

/// A mask of up to 32 lanes, lane `i` in bit `i`.
#[derive(Clone, Copy)]
pub struct ArrayMask(u32);

impl<const N: usize> Array<N> {
    #[inline(always)]
    fn zip(self, other: Self, op: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| op(self.0[i], other.0[i])))
    }
}

impl<const N: usize> Float<N> for Array<N> {
    type Mask = ArrayMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; N])
    }
    #[inline(always)]
    fn load(from: &[f32; N]) -> Self {
        Self(*from)
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; N]) {
        *to = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn reduce_min(self) -> f32 {
        self.0
            .into_iter()
            .fold(self.0[0], |a, b| if b < a { b } else { a })
    }
    #[inline(always)]
    fn reduce_max(self) -> f32 {
        self.0
            .into_iter()
            .fold(self.0[0], |a, b| if b > a { b } else { a })
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self.mul(factor).add(term)
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        term.sub(self.mul(factor))
    }
    #[inline(always)]
    fn le(self, other: Self) -> ArrayMask {
        ArrayMask((0..N).fold(0, |bits, i| bits | u32::from(self.0[i] <= other.0[i]) << i))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> ArrayMask {
        ArrayMask((0..N).fold(0, |bits, i| bits | u32::from(self.0[i] < other.0[i]) << i))
    }
    #[inline(always)]
    fn select(self, mask: ArrayMask, other: Self) -> Self {
        Self(std::array::from_fn(|i| {
            if mask.0 >> i & 1 == 1 {
                self.0[i]
            } else {
                other.0[i]
            }
        }))
    }
}

impl Mask for ArrayMask {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0
    }
}
