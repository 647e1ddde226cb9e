//! Traits of vectors and masks.

/// A vector of `N` single-precision numbers.
///
/// `min` and `max` of a NaN may give either operand; a comparison with NaN is false.
pub trait Float<const N: usize>: Copy {
    /// The result of a comparison.
    type Mask: Mask;

    /// The same value in every lane.
    fn splat(value: f32) -> Self;
    /// The lanes of an array.
    fn load(from: &[f32; N]) -> Self;
    /// Writes the lanes to an array.
    fn store(self, to: &mut [f32; N]);
    /// The lanes as an array.
    #[inline(always)]
    fn to_array(self) -> [f32; N] {
        let mut array = [0.0; N];
        self.store(&mut array);
        array
    }
    /// `self + other`
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// `self - other`
    #[must_use]
    fn sub(self, other: Self) -> Self;
    /// `self * other`
    #[must_use]
    fn mul(self, other: Self) -> Self;
    /// `self / other`
    #[must_use]
    fn div(self, other: Self) -> Self;
    /// The lesser of two numbers, lane by lane.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// The greater of two numbers, lane by lane.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// The absolute value.
    #[must_use]
    fn abs(self) -> Self;
    /// The least of all lanes.
    fn reduce_min(self) -> f32;
    /// The greatest of all lanes.
    fn reduce_max(self) -> f32;
    /// `self * factor + term`, rounded once or twice.
    #[must_use]
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `term - self * factor`, rounded once or twice.
    #[must_use]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self;
    /// Where `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// Where `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self` where `mask` is true, else `other`.
    #[must_use]
    fn select(self, mask: Self::Mask, other: Self) -> Self;
}

/// A truth value per lane.
pub trait Mask: Copy {
    /// Where both are true.
    #[must_use]
    fn and(self, other: Self) -> Self;
    /// Where either is true.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// The mask as an integer: lane `i` in bit `i`.
    fn bits(self) -> u32;
}
