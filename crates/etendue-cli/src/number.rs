//! Parsers of numbers in arguments.

/// Finite number above zero.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number > 0.0);
    number.ok_or_else(|| "expected a number above zero".into())
}

/// Finite number, zero or more.
pub fn zero_or_more(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number >= 0.0);
    number.ok_or_else(|| "expected zero or a number above zero".into())
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
