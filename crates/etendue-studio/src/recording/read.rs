//! Recordings of files.

use super::{RecordedScan, Recording};
use crate::refusal::Refusal;
use etendue::estimate::model::BeamMeasurement;
use etendue::io::packets::PacketSource;
use etendue::io::points::parse_points;
use etendue::io::scan_log::{is_scan_log, parse_scan_log};
use etendue::io::table::PointTable;
use etendue::sensors::Scan;
use nalgebra::Point3;
use std::path::Path;

/// Maximum number of scans of a recording that are kept.
const MAX_SCANS: usize = 5000;

/// Reads a scan log or the points of a file. `name` determines formats that the content does not.
///
/// # Errors
/// If the content is damaged, has no points, or has an unknown format.
pub fn read(name: &str, bytes: Vec<u8>) -> Result<Recording, Refusal> {
    let path = Path::new(name);
    let text = std::str::from_utf8(&bytes).ok();
    let log = text.filter(|text| is_scan_log(text) && !names_coordinates(text));
    let (scans, mut warnings): (Vec<RecordedScan>, Vec<String>) = if let Some(text) = log {
        let log = parse_scan_log(path, text)?;
        let scans = log.scans.iter().take(MAX_SCANS).map(of_scan);
        (scans.collect(), log.warnings)
    } else {
        let points = parse_points(path, bytes, &PacketSource::default())?;
        let sweeps = points.sweeps.iter().flat_map(PointTable::sweeps);
        (
            sweeps
                .take(MAX_SCANS)
                .map(|table| of_table(&table))
                .collect(),
            points.warnings,
        )
    };
    if scans.iter().all(|scan| scan.points.is_empty()) {
        return Err(Refusal::new(
            format!("{name} has no points"),
            "drop another file",
        ));
    }
    if scans.len() == MAX_SCANS {
        warnings.push(format!("scans after the first {MAX_SCANS} are not read"));
    }
    Ok(Recording {
        name: name.to_owned(),
        scans,
        warnings,
        file: None,
    })
}

/// Whether the first line of a text names the columns of points: rows of three numbers may be points or a scan.
fn names_coordinates(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let names: Vec<&str> = first.split([',', ';', ' ', '\t']).map(str::trim).collect();
    ["x", "y", "z"].iter().all(|name| names.contains(name))
}

/// A scan of a log.
fn of_scan(scan: &Scan) -> RecordedScan {
    let has_intensities = scan.intensities.len() == scan.readings.len();
    let intensity = |beam: usize| has_intensities.then(|| f64::from(scan.intensities[beam]));
    let beams = 0..scan.readings.len();
    let returned = beams.filter_map(|beam| Some((beam, scan.point(beam)?)));
    let mut recorded = RecordedScan::default();
    for (beam, point) in returned {
        recorded.points.push(point);
        recorded.intensities.extend(intensity(beam));
    }
    let measured = scan.readings.iter().enumerate();
    let measured =
        measured.map(|(beam, reading)| BeamMeasurement::new(reading.range(), intensity(beam)));
    recorded.beams = measured.collect();
    recorded
}

/// A cloud, without points that have no finite position.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rings are few"
)]
fn of_table(table: &PointTable) -> RecordedScan {
    let finite = |name: &str, point| table.number(name, point).filter(|value| value.is_finite());
    let has_rings = table.column("ring").is_some();
    let intensity = ["intensity", "reflectance", "reflectivity"];
    let intensity = intensity
        .into_iter()
        .find(|name| table.column(name).is_some());
    let mut recorded = RecordedScan::default();
    for point in 0..table.points {
        let (Some(x), Some(y), Some(z)) =
            (finite("x", point), finite("y", point), finite("z", point))
        else {
            continue;
        };
        recorded.points.push(Point3::new(x, y, z));
        if let Some(name) = intensity {
            recorded
                .intensities
                .push(finite(name, point).unwrap_or(0.0));
        }
        if has_rings {
            recorded
                .rings
                .push(finite("ring", point).unwrap_or(0.0).max(0.0) as u32);
        }
    }
    recorded
}
