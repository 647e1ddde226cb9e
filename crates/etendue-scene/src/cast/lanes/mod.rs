//! Many numbers at once: the instruction sets, behind one face.
//!
//! This module holds the crate's only `unsafe` code: a processor's vector instructions, called
//! where they were found at run time, and its hint to fetch memory. It pays: one core traces 3 to 6
//! times as many rays with them as with plain arrays (BENCHMARKS.md, "Ray casting").
#![expect(
    unsafe_code,
    reason = "vector instructions; measured, and confined to this module"
)]
#![expect(
    clippy::inline_always,
    reason = "code must land in a function compiled for the instruction set"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod fetch;
mod isa;
#[cfg(target_arch = "aarch64")]
mod neon;
mod pair;
mod plain;

pub use fetch::fetch;
pub(crate) use isa::{Chosen, Job, Plainly, run};
pub use isa::{Isa, Loops, UnknownIsa};

/// `N` single-precision numbers.
///
/// `min` and `max` of a NaN may give either operand; a comparison with NaN is false.
pub(crate) trait Float<const N: usize>: Copy {
    type Mask: Mask;

    fn splat(value: f32) -> Self;
    fn load(from: &[f32; N]) -> Self;
    fn store(self, to: &mut [f32; N]);
    #[inline(always)]
    fn array(self) -> [f32; N] {
        let mut array = [0.0; N];
        self.store(&mut array);
        array
    }
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    /// The least lane.
    fn least(self) -> f32;
    /// The greatest lane.
    fn greatest(self) -> f32;
    /// `self * factor + term`, rounded once or twice.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `term - self * factor`, rounded once or twice.
    fn neg_mul_add(self, factor: Self, term: Self) -> Self;
    fn le(self, other: Self) -> Self::Mask;
    fn lt(self, other: Self) -> Self::Mask;
    /// `self` where `mask` holds, else `other`.
    fn select(self, mask: Self::Mask, other: Self) -> Self;
}

/// One truth value for each lane.
pub(crate) trait Mask: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// Lane `i` in bit `i`.
    fn bits(self) -> u32;
}

/// The lane types of one instruction set.
pub(crate) trait Lanes: 'static {
    type F8: Float<8>;
    type F16: Float<16>;

    /// Whether testing sixteen rays against a triangle to the end takes less time than a mispredicted
    /// branch now and then. Not measured for NEON.
    const TO_THE_END: bool;
}
