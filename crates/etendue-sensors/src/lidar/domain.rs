//! Checks that values are in their domains.

/// A value outside its domain.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutsideDomain {
    /// The quantity, with its unit.
    pub what: &'static str,
    /// Its value.
    pub value: f64,
    /// Its admissible values.
    pub domain: &'static str,
}

/// Whether a number is positive and finite.
pub(super) fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

/// Whether a number is zero or more and finite.
pub(super) fn is_zero_or_more(number: f64) -> bool {
    number >= 0.0 && number.is_finite()
}

/// Checks a value: `ok` says whether it is in its domain.
pub(super) fn value(
    what: &'static str,
    value: f64,
    ok: bool,
    domain: &'static str,
) -> Result<(), OutsideDomain> {
    let outside = OutsideDomain {
        what,
        value,
        domain,
    };
    ok.then_some(()).ok_or(outside)
}

/// Checks that every number is positive and finite.
pub(super) fn positive(numbers: &[(&'static str, f64)]) -> Result<(), OutsideDomain> {
    numbers
        .iter()
        .try_for_each(|(what, n)| value(what, *n, is_positive(*n), "positive"))
}

/// Checks that every number is zero or more and finite.
pub(super) fn zero_or_more(numbers: &[(&'static str, f64)]) -> Result<(), OutsideDomain> {
    numbers
        .iter()
        .try_for_each(|(what, n)| value(what, *n, is_zero_or_more(*n), "0 or more"))
}
