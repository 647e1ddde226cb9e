//! Parsers of numbers in arguments.

/// Finite number above zero.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number > 0.0);
    number.ok_or_else(|| expected(text, "a number above zero"))
}

/// Finite number, zero or more.
pub fn zero_or_more(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number >= 0.0);
    number.ok_or_else(|| expected(text, "zero or a number above zero"))
}

/// Fraction of a whole, above zero and at most one.
pub fn share(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| *number > 0.0 && *number <= 1.0);
    number.ok_or_else(|| expected(text, "a number above 0, at most 1"))
}

/// Whole number, one or more.
pub fn count(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number >= 1);
    number.ok_or_else(|| expected(text, "a whole number, 1 or more"))
}

/// Number of points that determine a plane.
pub fn at_least_three(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number >= 3);
    number.ok_or_else(|| expected(text, "a whole number, 3 or more"))
}

/// Angle from -360 to 360 degrees.
pub fn angle(text: &str) -> Result<f64, String> {
    let number = finite(text).filter(|number| number.abs() <= 360.0);
    number.ok_or_else(|| expected(text, "an angle from -360 to 360 degrees"))
}

/// What is expected in place of a text, with the number in it where it has a unit.
fn expected(text: &str, what: &str) -> String {
    let digits =
        text.trim_end_matches(|letter: char| letter.is_alphabetic() || "/%°".contains(letter));
    match finite(digits.trim()) {
        Some(number) if digits != text && number > 0.0 => {
            format!("expected {what} without a unit, as in {number}")
        }
        _ => format!("expected {what}"),
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_unit_is_refused_with_the_number() {
        assert_eq!(positive("50"), Ok(50.0));
        let error = positive("50m").expect_err("a unit");
        assert_eq!(
            error,
            "expected a number above zero without a unit, as in 50"
        );
        assert_eq!(positive("-3"), Err("expected a number above zero".into()));
        assert_eq!(positive("inf"), Err("expected a number above zero".into()));
    }
}
