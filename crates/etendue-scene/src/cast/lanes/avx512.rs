//! Sixteen lanes of AVX-512, and eight whose masks are AVX-512's.

use super::avx2;
use super::{Float, Lanes, Mask};
use std::arch::x86_64::{
    __m512, __mmask8, __mmask16, _CMP_LE_OQ, _CMP_LT_OQ, _mm256_cmp_ps_mask, _mm256_mask_blend_ps,
    _mm512_abs_ps, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_div_ps, _mm512_fmadd_ps,
    _mm512_fnmadd_ps, _mm512_loadu_ps, _mm512_mask_blend_ps, _mm512_max_ps, _mm512_min_ps,
    _mm512_mul_ps, _mm512_reduce_max_ps, _mm512_reduce_min_ps, _mm512_set1_ps, _mm512_storeu_ps,
    _mm512_sub_ps,
};

/// AVX-512 F, VL, DQ and BW.
pub(crate) struct Avx512;

impl Lanes for Avx512 {
    type F8 = Eight;
    type F16 = Sixteen;
    const TO_THE_END: bool = true;
}

/// Eight lanes.
#[derive(Clone, Copy)]
pub(crate) struct Eight(avx2::Eight);

#[derive(Clone, Copy)]
pub(crate) struct EightFlags(__mmask8);

// SAFETY (both blocks below): as for `Sixteen`; AVX-512 VL is among the features.
impl Float<8> for Eight {
    type Mask = EightFlags;

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
    fn least(self) -> f32 {
        self.0.least()
    }
    #[inline(always)]
    fn greatest(self) -> f32 {
        self.0.greatest()
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
    fn le(self, other: Self) -> EightFlags {
        EightFlags(unsafe { _mm256_cmp_ps_mask::<_CMP_LE_OQ>(self.0.0, other.0.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> EightFlags {
        EightFlags(unsafe { _mm256_cmp_ps_mask::<_CMP_LT_OQ>(self.0.0, other.0.0) })
    }
    #[inline(always)]
    fn select(self, mask: EightFlags, other: Self) -> Self {
        Self(avx2::Eight(unsafe {
            _mm256_mask_blend_ps(mask.0, other.0.0, self.0.0)
        }))
    }
}

impl Mask for EightFlags {
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

/// Made only inside a [`Job`](super::Job) that [`run`](super::run) started for AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct Sixteen(__m512);

#[derive(Clone, Copy)]
pub(crate) struct SixteenFlags(__mmask16);

// SAFETY (every block below): the instructions need AVX-512. `run` is the only caller that names
// the lane types, and names these only after it has seen the features on this processor. The two
// that touch memory read or write sixteen numbers behind a reference to sixteen numbers, and need
// no alignment.
impl Float<16> for Sixteen {
    type Mask = SixteenFlags;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(unsafe { _mm512_set1_ps(value) })
    }
    #[inline(always)]
    fn load(from: &[f32; 16]) -> Self {
        Self(unsafe { _mm512_loadu_ps(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 16]) {
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(unsafe { _mm512_mul_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(unsafe { _mm512_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(unsafe { _mm512_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(unsafe { _mm512_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(unsafe { _mm512_abs_ps(self.0) })
    }
    #[inline(always)]
    fn least(self) -> f32 {
        unsafe { _mm512_reduce_min_ps(self.0) }
    }
    #[inline(always)]
    fn greatest(self) -> f32 {
        unsafe { _mm512_reduce_max_ps(self.0) }
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, term.0) })
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        Self(unsafe { _mm512_fnmadd_ps(self.0, factor.0, term.0) })
    }
    #[inline(always)]
    fn le(self, other: Self) -> SixteenFlags {
        SixteenFlags(unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> SixteenFlags {
        SixteenFlags(unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn select(self, mask: SixteenFlags, other: Self) -> Self {
        Self(unsafe { _mm512_mask_blend_ps(mask.0, other.0, self.0) })
    }
}

impl Mask for SixteenFlags {
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
