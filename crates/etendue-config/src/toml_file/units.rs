//! Units of numbers by the endings of their keys.

use std::f64::consts::PI;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Unit of the numbers of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    ending: &'static str,
    /// The unit as it is printed.
    pub name: &'static str,
    /// One unit in SI units.
    si: f64,
    /// Largest magnitude.
    pub most: f64,
}

const fn unit(ending: &'static str, name: &'static str, si: f64, most: f64) -> Unit {
    Unit {
        ending,
        name,
        si,
        most,
    }
}

/// One degree, rad.
const DEGREE: f64 = PI / 180.0;

/// Units by the ending of a key, of which the longest matches.
const UNITS: &[Unit] = &[
    unit("_m", "m", 1.0, 1e7),
    unit("_mm", "mm", 1e-3, 1e7),
    unit("_um", "um", 1e-6, 1e7),
    unit("_nm", "nm", 1e-9, 1e6),
    unit("_deg", "deg", DEGREE, 36_000.0),
    unit("_rad", "rad", 1.0, 1e3),
    unit("_mrad", "mrad", 1e-3, 1e4),
    unit("_urad", "urad", 1e-6, 1e7),
    unit("_deg_s", "deg/s", DEGREE, 1e6),
    unit("_dps", "deg/s", DEGREE, 1e6),
    unit("_m_s", "m/s", 1.0, 1e4),
    unit("_mps", "m/s", 1.0, 1e4),
    unit("_mps2", "m/s²", 1.0, 1e5),
    unit("_s", "s", 1.0, 1e7),
    unit("_ms", "ms", 1e-3, 1e7),
    unit("_us", "us", 1e-6, 1e9),
    unit("_ns", "ns", 1e-9, 1e9),
    unit("_hz", "Hz", 1.0, 1e6),
    unit("_mhz", "MHz", 1e6, 1e6),
    unit("_ghz", "GHz", 1e9, 1e6),
    unit("_rpm", "rpm", 1.0 / 60.0, 1e6),
    unit("_mm_h", "mm/h", 1e-3 / 3600.0, 1e4),
    unit("_g_m3", "g/m³", 1e-3, 1e4),
    unit("_percent", "%", 1e-2, 1e6),
    unit("_kelvin", "K", 1.0, 1e4),
    unit("_k", "K", 1.0, 1e5),
    unit("_px", "px", 1.0, 1e6),
    unit("_kg", "kg", 1.0, 1e6),
];

/// Numbers without a unit of [`UNITS`].
const PLAIN: Unit = unit("", "", 1.0, 1e12);

/// Relative difference of equal numbers after a conversion of units.
const ROUNDING: f64 = 1e-9;

/// Unit of the numbers of a key.
pub(super) fn unit_of(key: &str) -> Unit {
    let matching = UNITS.iter().filter(|unit| key.ends_with(unit.ending));
    let longest = matching.max_by_key(|unit| unit.ending.len());
    longest.copied().unwrap_or(PLAIN)
}

/// Position of the only number below the table `path` of a text that has a value in SI units; `None` if there is none,
/// or several.
pub(super) fn number_with_value(text: &str, path: &[&str], value: f64) -> Option<Range<usize>> {
    let mut table = DeTable::parse(text).ok()?.into_inner();
    for key in path {
        let (_, part) = table.into_iter().find(|(name, _)| name.get_ref() == key)?;
        match part.into_inner() {
            DeValue::Table(part) => table = part,
            _ => return None,
        }
    }
    let mut found = Vec::new();
    for (name, part) in &table {
        find(part, name.get_ref(), value, &mut found);
    }
    match &found[..] {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// Position of the value of the key at the end of `path`, or of its element with an index.
pub(super) fn value_span(text: &str, path: &[&str], index: Option<usize>) -> Option<Range<usize>> {
    let (last, tables) = path.split_last()?;
    let mut table = DeTable::parse(text).ok()?.into_inner();
    for key in tables {
        let (_, part) = table.into_iter().find(|(name, _)| name.get_ref() == key)?;
        match part.into_inner() {
            DeValue::Table(part) => table = part,
            _ => return None,
        }
    }
    let (_, value) = table.into_iter().find(|(name, _)| name.get_ref() == last)?;
    match index {
        None => Some(value.span()),
        Some(index) => Some(value.get_ref().as_array()?.get(index)?.span()),
    }
}

/// Collects the positions of the numbers of a key that have a value in SI units.
fn find(part: &Spanned<DeValue<'_>>, key: &str, value: f64, found: &mut Vec<Range<usize>>) {
    let number: f64 = match part.get_ref() {
        DeValue::Table(table) => {
            table
                .iter()
                .for_each(|(name, part)| find(part, name.get_ref(), value, found));
            return;
        }
        DeValue::Array(items) => {
            items.iter().for_each(|item| find(item, key, value, found));
            return;
        }
        DeValue::Integer(number) => number.as_str().parse().unwrap_or(f64::NAN),
        DeValue::Float(number) => number.as_str().parse().unwrap_or(f64::NAN),
        _ => return,
    };
    let in_si = number * unit_of(key).si;
    if (in_si - value).abs() <= ROUNDING * value.abs() {
        found.push(part.span());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_ending_is_the_unit() {
        assert_eq!(unit_of("velocity_deg_s").name, "deg/s");
        assert_eq!(unit_of("start_s").name, "s");
        assert_eq!(unit_of("converter").name, "");
    }

    #[test]
    fn the_only_number_with_a_value_is_found() {
        let text = "[range]\nnear_m = 3\nstep_mm = 200\n[beam]\nwidth_mm = [200, 2]\n";
        let found =
            |path: &[&str], value| number_with_value(text, path, value).map(|span| &text[span]);
        assert_eq!(found(&["range"], 0.2), Some("200"));
        assert_eq!(found(&["beam"], 0.002), Some("2"));
        assert_eq!(found(&["range"], 0.4), None);
        assert_eq!(found(&[], 0.2), None, "two numbers");
    }

    #[test]
    fn values_and_their_elements_have_positions() {
        let text = "[channels]\nelevation_deg = [1, 2]\ntime_us = [0, 25]\n";
        let found = |path: &[&str], index| value_span(text, path, index).map(|span| &text[span]);
        assert_eq!(found(&["channels", "time_us"], None), Some("[0, 25]"));
        assert_eq!(found(&["channels", "time_us"], Some(1)), Some("25"));
        assert_eq!(found(&["channels", "time_us"], Some(2)), None);
        assert_eq!(found(&["beam", "time_us"], None), None);
    }
}
