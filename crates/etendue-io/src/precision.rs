//! Conversion of numbers to the smaller types of files.

/// Converts to single precision.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the format has single precision"
)]
pub(crate) fn single(value: f64) -> f32 {
    value as f32
}

/// Converts a number to an index below `count`; `None` if it is not one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is a non-negative integer below a count"
)]
pub(crate) fn index_below(value: f64, count: usize) -> Option<u32> {
    let is_index = value >= 0.0 && value < count as f64 && value.fract() == 0.0;
    (is_index && value <= f64::from(u32::MAX)).then_some(value as u32)
}
