//! Four lanes of NEON, taken two and four times.
#![expect(unsafe_code, reason = "vector intrinsics, called through one macro")]

use super::kernel::{Kernel, Lanes};
use super::pair::Pair;
use super::vector::{Float, Mask};
use std::arch::aarch64::{
    float32x4_t, uint32x4_t, vabsq_f32, vaddq_f32, vaddvq_u32, vandq_u32, vbslq_f32, vcleq_f32,
    vcltq_f32, vdivq_f32, vdupq_n_f32, vfmaq_f32, vfmsq_f32, vld1q_f32, vld1q_u32, vmaxq_f32,
    vmaxvq_f32, vminq_f32, vminvq_f32, vmulq_f32, vorrq_u32, vst1q_f32, vsubq_f32,
};

/// Calls intrinsics of NEON.
macro_rules! intrinsic {
    ($call:expr) => {
        // SAFETY: NEON is part of the base instruction set of 64-bit ARM. Loads and stores go
        // through a reference to exactly four numbers.
        unsafe { $call }
    };
}

/// The instruction set NEON, which every 64-bit ARM processor has.
pub struct Neon;

impl Lanes for Neon {
    type F8 = Pair<Four>;
    type F16 = Pair<Pair<Four>>;
    const BRANCHLESS: bool = false;

    #[inline(never)]
    fn call<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Self>()
    }
}

/// Four lanes.
#[derive(Clone, Copy)]
pub struct Four(float32x4_t);

/// A mask of four lanes.
#[derive(Clone, Copy)]
pub struct FourMask(uint32x4_t);

impl Float<4> for Four {
    type Mask = FourMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(intrinsic!(vdupq_n_f32(value)))
    }
    #[inline(always)]
    fn load(from: &[f32; 4]) -> Self {
        Self(intrinsic!(vld1q_f32(from.as_ptr())))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 4]) {
        intrinsic!(vst1q_f32(to.as_mut_ptr(), self.0));
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(intrinsic!(vaddq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(intrinsic!(vsubq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(intrinsic!(vmulq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(intrinsic!(vdivq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(intrinsic!(vminq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(intrinsic!(vmaxq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(intrinsic!(vabsq_f32(self.0)))
    }
    #[inline(always)]
    fn reduce_min(self) -> f32 {
        intrinsic!(vminvq_f32(self.0))
    }
    #[inline(always)]
    fn reduce_max(self) -> f32 {
        intrinsic!(vmaxvq_f32(self.0))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(intrinsic!(vfmaq_f32(term.0, self.0, factor.0)))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        Self(intrinsic!(vfmsq_f32(term.0, self.0, factor.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> FourMask {
        FourMask(intrinsic!(vcleq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> FourMask {
        FourMask(intrinsic!(vcltq_f32(self.0, other.0)))
    }
    #[inline(always)]
    fn select(self, mask: FourMask, other: Self) -> Self {
        Self(intrinsic!(vbslq_f32(mask.0, self.0, other.0)))
    }
}

impl Mask for FourMask {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(intrinsic!(vandq_u32(self.0, other.0)))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(intrinsic!(vorrq_u32(self.0, other.0)))
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        const WEIGHTS: [u32; 4] = [1, 2, 4, 8];
        intrinsic!(vaddvq_u32(vandq_u32(self.0, vld1q_u32(WEIGHTS.as_ptr()))))
    }
}
