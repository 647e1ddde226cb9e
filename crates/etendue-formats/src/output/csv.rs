//! Sweeps as comma-separated values.

use super::{OutputSet, Run};
use crate::FormatError;
use etendue_sensors::{Measurement, PlanarSweep, RangeReading};
use std::borrow::Cow;
use std::io;
use std::path::Path;

const HEADER: &str = "sweep,beam,time_s,azimuth_rad,elevation_rad,reading,range_m,error_code,\
    power_per_m2_sr,returns,true_range_m,true_object,true_material,true_incidence_rad,\
    sensor_x_m,sensor_y_m,sensor_yaw_rad";

/// Writes one row a beam. What does not apply (the range of a beam without one, the truth of a
/// beam into nothing) is empty.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_csv(outputs: &mut OutputSet, path: &Path, run: Run<'_>) -> Result<(), FormatError> {
    outputs.add(path, |file| {
        writeln!(file, "{HEADER}")?;
        for sweep in run.sweeps {
            let pose = pose_columns(sweep);
            for measurement in &sweep.measurements {
                write_row(file, run, sweep.index, measurement)?;
                writeln!(file, ",{pose}")?;
            }
        }
        Ok(())
    })
}

fn pose_columns(sweep: &PlanarSweep) -> String {
    let pose = etendue_sensors::Scan::of_sweep(sweep).odom_from_robot;
    pose.map_or_else(
        || ",,".into(),
        |pose| {
            let at = pose.translation;
            format!("{},{},{}", at.x, at.y, pose.rotation.angle())
        },
    )
}

fn write_row(
    file: &mut dyn super::whole::Sink,
    run: Run<'_>,
    sweep: u32,
    beam: &Measurement,
) -> io::Result<()> {
    let Measurement {
        time,
        azimuth,
        elevation,
        power,
        returns,
        ..
    } = beam;
    let (reading, range, code) = match beam.reading {
        RangeReading::Range(range) => ("range", range.to_string(), String::new()),
        RangeReading::NoReturn => ("no_return", String::new(), String::new()),
        RangeReading::TooNear => ("too_near", String::new(), String::new()),
        RangeReading::Error(code) => ("error", String::new(), code.to_string()),
    };
    let number = beam.beam;
    write!(
        file,
        "{sweep},{number},{time},{azimuth},{elevation},{reading},{range},{code},{power},{returns},"
    )?;
    match beam.truth {
        None => write!(file, ",,,"),
        Some(truth) => write!(
            file,
            "{},{},{},{}",
            truth.range,
            quoted(&run.scene.objects()[truth.object.0 as usize].name),
            quoted(&run.scene.materials()[truth.material.0 as usize].name),
            truth.incidence
        ),
    }
}

fn quoted(name: &str) -> Cow<'_, str> {
    if name.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!(
            "\"{}\"",
            name.replace('"', "\"\"").replace(['\n', '\r'], " ")
        ))
    } else {
        Cow::Borrowed(name)
    }
}
