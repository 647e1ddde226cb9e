//! Eight lanes of AVX2 with fused multiply-add.

use super::pair::Pair;
use super::{Float, Lanes, Mask};
use std::arch::x86_64::{
    __m256, _CMP_LE_OQ, _CMP_LT_OQ, _mm_cvtss_f32, _mm_max_ps, _mm_max_ss, _mm_min_ps, _mm_min_ss,
    _mm_movehdup_ps, _mm_movehl_ps, _mm256_add_ps, _mm256_and_ps, _mm256_andnot_ps,
    _mm256_blendv_ps, _mm256_castps256_ps128, _mm256_cmp_ps, _mm256_div_ps, _mm256_extractf128_ps,
    _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_min_ps,
    _mm256_movemask_ps, _mm256_mul_ps, _mm256_or_ps, _mm256_set1_ps, _mm256_storeu_ps,
    _mm256_sub_ps,
};

/// AVX2 and FMA.
pub(crate) struct Avx2;

impl Lanes for Avx2 {
    type F8 = Eight;
    type F16 = Pair<Eight>;
    const TO_THE_END: bool = true;
}

/// Made only inside a [`Job`](super::Job) that [`run`](super::run) started for AVX2 or AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct Eight(pub(super) __m256);

#[derive(Clone, Copy)]
pub(crate) struct EightFlags(__m256);

// SAFETY (every block below): the instructions need AVX2 and FMA. `run` is the only caller that
// names the lane types, and names these only after it has seen both features on this processor.
// The two that touch memory read or write eight numbers behind a reference to eight numbers, and
// need no alignment.
impl Float<8> for Eight {
    type Mask = EightFlags;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(unsafe { _mm256_set1_ps(value) })
    }
    #[inline(always)]
    fn load(from: &[f32; 8]) -> Self {
        Self(unsafe { _mm256_loadu_ps(from.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; 8]) {
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(unsafe { _mm256_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(unsafe { _mm256_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(unsafe { _mm256_mul_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(unsafe { _mm256_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(unsafe { _mm256_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(unsafe { _mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn least(self) -> f32 {
        unsafe {
            let four = _mm_min_ps(
                _mm256_castps256_ps128(self.0),
                _mm256_extractf128_ps::<1>(self.0),
            );
            let two = _mm_min_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)))
        }
    }
    #[inline(always)]
    fn greatest(self) -> f32 {
        unsafe {
            let four = _mm_max_ps(
                _mm256_castps256_ps128(self.0),
                _mm256_extractf128_ps::<1>(self.0),
            );
            let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
        }
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, term.0) })
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        Self(unsafe { _mm256_fnmadd_ps(self.0, factor.0, term.0) })
    }
    #[inline(always)]
    fn le(self, other: Self) -> EightFlags {
        EightFlags(unsafe { _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> EightFlags {
        EightFlags(unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn select(self, mask: EightFlags, other: Self) -> Self {
        Self(unsafe { _mm256_blendv_ps(other.0, self.0, mask.0) })
    }
}

impl Mask for EightFlags {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(unsafe { _mm256_and_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(unsafe { _mm256_or_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        unsafe { _mm256_movemask_ps(self.0) }.cast_unsigned()
    }
}
