//! Conversion of numbers to the smaller types of files.

/// Converts to single precision.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the format has single precision"
)]
pub(crate) fn single(value: f64) -> f32 {
    value as f32
}

/// Decimals of lengths (m), times (s) and angles (rad) in text files: far below the resolution of any sensor.
pub(crate) const DECIMALS: i32 = 9;

/// Decimals of the numbers of rotations in text files.
pub(crate) const ROTATION_DECIMALS: i32 = 12;

/// A number rounded to a number of decimals, without a negative zero: its shortest text has no digits that only rounding
/// errors made. Large numbers, whose last digit is not below that, are unchanged.
pub(crate) fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    let scaled = value * scale;
    if scaled.abs() < LARGEST_SCALED {
        scaled.round() / scale + 0.0
    } else {
        value
    }
}

/// Largest number of units of the last decimal that are rounded.
const LARGEST_SCALED: f64 = 1e15;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_numbers_have_short_texts_and_no_negative_zero() {
        assert_eq!(rounded(4.5040000000000004, 9).to_string(), "4.504");
        assert_eq!(
            rounded(0.00029296875000000004, 12).to_string(),
            "0.00029296875"
        );
        assert_eq!(rounded(-1e-17, 9).to_string(), "0");
        assert_eq!(rounded(1.7e9 + 0.1, 9), 1.7e9 + 0.1);
        assert!(rounded(f64::INFINITY, 9).is_infinite());
    }
}
