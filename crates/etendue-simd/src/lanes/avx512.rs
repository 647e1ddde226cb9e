//! Sixteen lanes of AVX-512, and eight whose masks are AVX-512's.
#![expect(
    unsafe_code,
    reason = "vector intrinsics and code for a detected instruction set"
)]

use super::avx2;
use super::kernel::{Kernel, Lanes};
use super::vector::{Float, Mask};
use std::arch::x86_64::{
    __m512, __mmask8, __mmask16, _CMP_LE_OQ, _CMP_LT_OQ, _mm256_cmp_ps_mask, _mm256_mask_blend_ps,
    _mm512_abs_ps, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_div_ps, _mm512_fmadd_ps,
    _mm512_fnmadd_ps, _mm512_loadu_ps, _mm512_mask_blend_ps, _mm512_max_ps, _mm512_min_ps,
    _mm512_mul_ps, _mm512_reduce_max_ps, _mm512_reduce_min_ps, _mm512_set1_ps, _mm512_storeu_ps,
    _mm512_sub_ps,
};

/// Calls intrinsics of AVX-512.
macro_rules! intrinsic {
    ($call:expr) => {
        // SAFETY: the intrinsics need AVX-512 F and VL. Only `Isa` names these vector types, and only
        // after it detected both on this processor. Loads and stores go through a reference to
        // exactly sixteen numbers and need no alignment. Measured: up to 6 times as many rays per
        // second as with plain arrays (BENCHMARKS.md).
        unsafe { $call }
    };
}

/// The instruction set AVX-512 with F, VL, DQ and BW.
pub struct Avx512;

impl Lanes for Avx512 {
    type F8 = Eight;
    type F16 = Sixteen;
    const BRANCHLESS: bool = true;

    #[inline]
    fn call<K: Kernel>(kernel: K) -> K::Output {
        // SAFETY: the function needs the features that it enables. Only `Isa` names this type, and
        // only after it detected all of them on this processor. Measured: up to 6 times as many rays per
        // second as with plain arrays.
        unsafe { run(kernel) }
    }
}

/// Runs a kernel in a function that is compiled for the instruction set.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn run<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx512>()
}

/// Eight lanes.
#[derive(Clone, Copy)]
pub struct Eight(avx2::Eight);

/// A mask of eight lanes.
#[derive(Clone, Copy)]
pub struct EightMask(__mmask8);

impl Float<8> for Eight {
    type Mask = EightMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(avx2::Eight::splat(value))
    }
    #[inline(always)]
    fn load(from: &[f32; 8]) -> Self {
        Self(avx2::Eight::load(from))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 8]) {
        self.0.store(to);
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0.mul(other.0))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(self.0.div(other.0))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs())
    }
    #[inline(always)]
    fn reduce_min(self) -> f32 {
        self.0.reduce_min()
    }
    #[inline(always)]
    fn reduce_max(self) -> f32 {
        self.0.reduce_max()
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(self.0.mul_add(factor.0, term.0))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        Self(self.0.neg_mul_add(factor.0, term.0))
    }
    #[inline(always)]
    fn le(self, other: Self) -> EightMask {
        EightMask(intrinsic!(_mm256_cmp_ps_mask::<_CMP_LE_OQ>(
            self.0.0, other.0.0
        )))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> EightMask {
        EightMask(intrinsic!(_mm256_cmp_ps_mask::<_CMP_LT_OQ>(
            self.0.0, other.0.0
        )))
    }
    #[inline(always)]
    fn select(self, mask: EightMask, other: Self) -> Self {
        Self(avx2::Eight(intrinsic!(_mm256_mask_blend_ps(
            mask.0, other.0.0, self.0.0
        ))))
    }
}

impl Mask for EightMask {
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
        u32::from(self.0)
    }
}

/// Sixteen lanes.
#[derive(Clone, Copy)]
pub struct Sixteen(__m512);

/// A mask of sixteen lanes.
#[derive(Clone, Copy)]
pub struct SixteenMask(__mmask16);

impl Float<16> for Sixteen {
    type Mask = SixteenMask;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(intrinsic!(_mm512_set1_ps(value)))
    }
    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        Self(intrinsic!(_mm512_loadu_ps(from.as_ptr())))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        intrinsic!(_mm512_storeu_ps(to.as_mut_ptr(), self.0));
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_add_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_sub_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_mul_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_div_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(intrinsic!(_mm512_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(intrinsic!(_mm512_abs_ps(self.0)))
    }
    #[inline(always)]
    fn reduce_min(self) -> f32 {
        intrinsic!(_mm512_reduce_min_ps(self.0))
    }
    #[inline(always)]
    fn reduce_max(self) -> f32 {
        intrinsic!(_mm512_reduce_max_ps(self.0))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(intrinsic!(_mm512_fmadd_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        Self(intrinsic!(_mm512_fnmadd_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> SixteenMask {
        SixteenMask(intrinsic!(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(
            self.0, other.0
        )))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> SixteenMask {
        SixteenMask(intrinsic!(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(
            self.0, other.0
        )))
    }
    #[inline(always)]
    fn select(self, mask: SixteenMask, other: Self) -> Self {
        Self(intrinsic!(_mm512_mask_blend_ps(mask.0, other.0, self.0)))
    }
}

impl Mask for SixteenMask {
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
        u32::from(self.0)
    }
}
