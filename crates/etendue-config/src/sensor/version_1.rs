//! Errors for files of version 1, with the new name of each key.

use crate::toml_file::{Document, DocumentError, TomlProblem};
use serde::Deserialize;
use toml::{Spanned, Table};

/// Supported version.
const VERSION: u32 = 2;

/// Keys of version 1 and their names in version 2, by table.
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

/// Version and tables of a file, for detection of version 1.
#[derive(Deserialize)]
struct Probe {
    version: Option<Spanned<u32>>,
    continuous_wave: Option<Spanned<Table>>,
    scanner: Option<Spanned<Table>>,
}

/// Checks the version. The error refers to the table of version 1, if there is one.
pub(super) fn refuse(document: &Document) -> Result<(), DocumentError> {
    // Other invalid text is an error of the parser of the current version.
    let Ok(probe) = document.parse_any::<Probe>() else {
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
        let problem = TomlProblem::value(
            format!(
                "[{name}] is a table of version 1; version 2 has one set of tables for all lidars"
            ),
            format!("write version = 2; {}", new.join(", ")),
        );
        return Err(document.error(table.span(), problem));
    }
    match probe.version {
        Some(version) if *version.get_ref() != VERSION => {
            let problem = TomlProblem::Version {
                found: *version.get_ref(),
                known: VERSION,
            };
            Err(document.error(version.span(), problem))
        }
        _ => Ok(()),
    }
}

/// Whether a table has a key; dots separate nested tables.
fn has(table: &Table, key: &str) -> bool {
    match key.split_once('.') {
        Some((first, rest)) => {
            let inner = table.get(first).and_then(toml::Value::as_table);
            inner.is_some_and(|inner| has(inner, rest))
        }
        None => table.contains_key(key),
    }
}
