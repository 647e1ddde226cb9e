//! Files of version 1: they are refused with the new name of each key.

use crate::toml_file::{Document, DocumentError, Problem};
use serde::Deserialize;
use toml::{Spanned, Table};

/// The version that is read.
const VERSION: u32 = 2;

/// Keys of version 1 with those of version 2, by table.
const CONTINUOUS_WAVE: [(&str, &str); 17] = [
    ("wavelength_nm", "wavelength_nm, before the first table"),
    ("range_min_m", "range.near_m"),
    ("range_max_m", "range.far_m"),
    ("range_resolution_mm", "range.step_mm"),
    ("turn_time_ms", "pattern.encoder.rate_hz (1000 over it)"),
    ("beams.count", "pattern.encoder.columns"),
    (
        "beams.azimuth_first_deg",
        "pattern.encoder.azimuth_first_deg",
    ),
    ("beams.azimuth_step_deg", "pattern.encoder.azimuth_step_deg"),
    ("beams.azimuth_jitter_mrad", "beam.azimuth_jitter_mrad"),
    ("beams.divergence_mrad", "beam.cone.divergence_mrad"),
    ("beams.pattern", "beam.cone.rays"),
    ("modulation", "receiver.phase.modulation"),
    ("receiver.gain", "receiver.phase.gain"),
    ("receiver.noise", "receiver.phase.noise"),
    ("receiver.window", "receiver.phase.window"),
    ("receiver.bias", "receiver.phase.bias"),
    ("receiver", "receiver.phase"),
];
const SCANNER: [(&str, &str); 7] = [
    ("wavelength_nm", "wavelength_nm, before the first table"),
    ("pattern", "pattern"),
    ("channels", "channels"),
    ("beam", "beam.elliptical"),
    ("range", "range"),
    ("receiver", "receiver"),
    ("intensity", "intensity"),
];

/// The version of a file, without its other keys.
#[derive(Deserialize)]
struct Probe {
    version: Option<Spanned<u32>>,
    continuous_wave: Option<Spanned<Table>>,
    scanner: Option<Spanned<Table>>,
}

/// Refuses a file of another version than [`VERSION`]: at the table of version 1 if it has one.
pub(super) fn refuse(document: &Document) -> Result<(), DocumentError> {
    // Text that is no sensor file of any version is left to the parser of this one.
    let Ok(probe) = document.parse::<Probe>() else {
        return Ok(());
    };
    let tables = [
        (
            "continuous_wave",
            &probe.continuous_wave,
            &CONTINUOUS_WAVE[..],
        ),
        ("scanner", &probe.scanner, &SCANNER[..]),
    ];
    for (name, table, renamed) in tables {
        let Some(table) = table else {
            continue;
        };
        let new = (renamed.iter())
            .filter(|(old, _)| has(table.get_ref(), old))
            .map(|(old, new)| format!("{name}.{old} is {new}"));
        let new: Vec<String> = new.collect();
        let problem = Problem::value(
            format!(
                "[{name}] is a table of version 1; version 2 has one set of tables for all lidars"
            ),
            format!("write version = 2; {}", new.join(", ")),
        );
        return Err(document.error(table.span(), problem));
    }
    match probe.version {
        Some(version) if *version.get_ref() != VERSION => {
            let problem = Problem::Version {
                found: *version.get_ref(),
                known: VERSION,
            };
            Err(document.error(version.span(), problem))
        }
        _ => Ok(()),
    }
}

/// Whether a table has a key, which may be in a table of it.
fn has(table: &Table, key: &str) -> bool {
    match key.split_once('.') {
        Some((first, rest)) => {
            let inner = table.get(first).and_then(toml::Value::as_table);
            inner.is_some_and(|inner| has(inner, rest))
        }
        None => table.contains_key(key),
    }
}
