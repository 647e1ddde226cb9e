//! Numbers of the command line.

/// A finite number above zero.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number > 0.0);
    number.ok_or_else(|| "give a number above zero".into())
}

/// A finite number, zero or more.
pub fn zero_or_more(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number >= 0.0);
    number.ok_or_else(|| "give 0 or a number above it".into())
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
