//! Numbers into the smaller types that files hold.

/// In single precision, as point clouds and intensities are stored.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the format holds single precision"
)]
pub(crate) fn single(value: f64) -> f32 {
    value as f32
}

/// A number as an index below `count`, if it is one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is a whole one, not negative, and below a count"
)]
pub(crate) fn index_below(value: f64, count: usize) -> Option<u32> {
    let is_index = value >= 0.0 && value < count as f64 && value.fract() == 0.0;
    (is_index && value <= f64::from(u32::MAX)).then_some(value as u32)
}
