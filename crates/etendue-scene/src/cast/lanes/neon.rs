//! Four lanes of NEON, taken two and four times.

use super::pair::Pair;
use super::{Float, Lanes, Mask};
use std::arch::aarch64::{
    float32x4_t, uint32x4_t, vabsq_f32, vaddq_f32, vaddvq_u32, vandq_u32, vbslq_f32, vcleq_f32,
    vcltq_f32, vdivq_f32, vdupq_n_f32, vfmaq_f32, vfmsq_f32, vld1q_f32, vld1q_u32, vmaxq_f32,
    vmaxvq_f32, vminq_f32, vminvq_f32, vmulq_f32, vorrq_u32, vst1q_f32, vsubq_f32,
};

/// NEON, which every 64-bit ARM processor has.
pub(crate) struct Neon;

impl Lanes for Neon {
    type F8 = Pair<Four>;
    type F16 = Pair<Pair<Four>>;
    const TO_THE_END: bool = false;
}

#[derive(Clone, Copy)]
pub(crate) struct Four(float32x4_t);

#[derive(Clone, Copy)]
pub(crate) struct FourFlags(uint32x4_t);

// SAFETY (every block below): NEON is part of the base instruction set of the target. The
// instructions that touch memory read or write four numbers behind a reference to four numbers.
impl Float<4> for Four {
    type Mask = FourFlags;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(unsafe { vdupq_n_f32(value) })
    }
    #[inline(always)]
    fn load(from: &[f32; 4]) -> Self {
        Self(unsafe { vld1q_f32(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 4]) {
        unsafe { vst1q_f32(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(unsafe { vaddq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(unsafe { vsubq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(unsafe { vmulq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(unsafe { vdivq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(unsafe { vminq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(unsafe { vmaxq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(unsafe { vabsq_f32(self.0) })
    }
    #[inline(always)]
    fn least(self) -> f32 {
        unsafe { vminvq_f32(self.0) }
    }
    #[inline(always)]
    fn greatest(self) -> f32 {
        unsafe { vmaxvq_f32(self.0) }
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(unsafe { vfmaq_f32(term.0, self.0, factor.0) })
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        Self(unsafe { vfmsq_f32(term.0, self.0, factor.0) })
    }
    #[inline(always)]
    fn le(self, other: Self) -> FourFlags {
        FourFlags(unsafe { vcleq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> FourFlags {
        FourFlags(unsafe { vcltq_f32(self.0, other.0) })
    }
    #[inline(always)]
    fn select(self, mask: FourFlags, other: Self) -> Self {
        Self(unsafe { vbslq_f32(mask.0, self.0, other.0) })
    }
}

impl Mask for FourFlags {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(unsafe { vandq_u32(self.0, other.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(unsafe { vorrq_u32(self.0, other.0) })
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        const WEIGHTS: [u32; 4] = [1, 2, 4, 8];
        unsafe { vaddvq_u32(vandq_u32(self.0, vld1q_u32(WEIGHTS.as_ptr()))) }
    }
}
