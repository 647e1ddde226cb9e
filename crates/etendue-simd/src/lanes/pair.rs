//! Vectors made of two of half the length.

use super::vector::{Float, Mask};

/// A vector in two halves, the low lanes first.
#[derive(Clone, Copy)]
pub struct Pair<T>(T, T);

impl<T: Mask> Mask for MaskPair<T> {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0.and(other.0), self.1.and(other.1), self.2)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0), self.1.or(other.1), self.2)
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.bits() | self.1.bits() << self.2
    }
}

/// A mask in two halves, and the number of lanes of each.
#[derive(Clone, Copy)]
pub struct MaskPair<T>(T, T, u32);

macro_rules! pair {
    ($half:literal, $whole:literal) => {
        impl<T: Float<$half>> Float<$whole> for Pair<T> {
            type Mask = MaskPair<T::Mask>;

            #[inline(always)]
            fn splat(value: f32) -> Self {
                Self(T::splat(value), T::splat(value))
            }
            #[inline(always)]
            fn load(from: &[f32; $whole]) -> Self {
                let (low, high) = from.split_at($half);
                Self(
                    T::load(low.first_chunk().expect("half of the whole")),
                    T::load(high.first_chunk().expect("half of the whole")),
                )
            }
            #[inline(always)]
            fn store(self, to: &mut [f32; $whole]) {
                let (low, high) = to.split_at_mut($half);
                self.0
                    .store(low.first_chunk_mut().expect("half of the whole"));
                self.1
                    .store(high.first_chunk_mut().expect("half of the whole"));
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self(self.0.add(other.0), self.1.add(other.1))
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self(self.0.sub(other.0), self.1.sub(other.1))
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                Self(self.0.mul(other.0), self.1.mul(other.1))
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                Self(self.0.div(other.0), self.1.div(other.1))
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0), self.1.min(other.1))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0), self.1.max(other.1))
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self(self.0.abs(), self.1.abs())
            }
            #[inline(always)]
            fn reduce_min(self) -> f32 {
                self.0.min(self.1).reduce_min()
            }
            #[inline(always)]
            fn reduce_max(self) -> f32 {
                self.0.max(self.1).reduce_max()
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                Self(
                    self.0.mul_add(factor.0, term.0),
                    self.1.mul_add(factor.1, term.1),
                )
            }
            #[inline(always)]
            fn neg_mul_add(self, factor: Self, term: Self) -> Self {
                Self(
                    self.0.neg_mul_add(factor.0, term.0),
                    self.1.neg_mul_add(factor.1, term.1),
                )
            }
            #[inline(always)]
            fn le(self, other: Self) -> Self::Mask {
                MaskPair(self.0.le(other.0), self.1.le(other.1), $half)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> Self::Mask {
                MaskPair(self.0.lt(other.0), self.1.lt(other.1), $half)
            }
            #[inline(always)]
            fn select(self, mask: Self::Mask, other: Self) -> Self {
                Self(
                    self.0.select(mask.0, other.0),
                    self.1.select(mask.1, other.1),
                )
            }
        }
    };
}

#[cfg(target_arch = "aarch64")]
pair!(4, 8);
pair!(8, 16);
