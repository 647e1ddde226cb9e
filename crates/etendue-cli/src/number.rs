//! Numbers of the command line.

/// A finite number above zero.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "give a number above zero".into())
}
