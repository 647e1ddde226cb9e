//! Summary of a run.

use super::results::{RangeErrors, SensorResults};
use crate::output::{counted, to_text};
use etendue::io::output::ReadingCounts;
use etendue::physics::atmosphere::Weather;
use etendue::sensors::lidar::Air;
use etendue::sensors::{BeamSweep, RangeReading};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Printed summary of the results of a sensor.
#[derive(Serialize)]
pub struct Summary<'a> {
    scene: &'a str,
    sensor: &'a str,
    seed: u64,
    sweeps: usize,
    counts: ReadingCounts,
    #[serde(skip)]
    counts_surfaces: bool,
    /// Number of ranges without a surface: from the air or from noise.
    ranges_of_no_surface: usize,
    error_codes: BTreeMap<u8, usize>,
    /// Median absolute range error of the returns from the first object on the beam axis, m.
    median_range_error_m: Option<f64>,
    /// Median absolute difference of the other returns from that object, m: of light over mirrors and through glass.
    median_difference_of_others_m: Option<f64>,
    #[serde(skip)]
    range_errors: RangeErrors,
    /// Warnings.
    warnings: &'a [String],
    files: &'a [PathBuf],
}

impl<'a> Summary<'a> {
    /// Summary of the results of a sensor.
    pub fn of(done: &'a SensorResults) -> Self {
        let metadata = &done.metadata;
        Self {
            scene: &metadata.scene.name,
            sensor: &metadata.sensor.name,
            seed: metadata.seed,
            sweeps: metadata.sweeps,
            counts: metadata.counts,
            counts_surfaces: done.counts_surfaces,
            ranges_of_no_surface: done.ranges_of_no_surface,
            error_codes: error_codes(&done.sweeps),
            median_range_error_m: done.range_errors.median_of_axis,
            median_difference_of_others_m: done.range_errors.median_of_others,
            range_errors: done.range_errors,
            warnings: &metadata.warnings,
            files: &done.files,
        }
    }

    /// The summary as text.
    pub fn text(&self) -> String {
        to_text(|out| self.write(out))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let ReadingCounts {
            beams,
            ranges,
            no_returns,
            too_near,
            mixed,
            ..
        } = self.counts;

        // Run and number of beams
        writeln!(
            out,
            "{} in {}, sweeps: {}, seed: {}",
            self.sensor, self.scene, self.sweeps, self.seed
        )?;
        let several = if self.counts_surfaces {
            "with light from several surfaces"
        } else {
            "with several returns"
        };
        writeln!(
            out,
            "  {beams} beams: {ranges} ranges ({mixed} of beams {several}), \
             {no_returns} no return, {too_near} too near"
        )?;

        // Beams without a surface, and error codes
        let without_surface = self.ranges_of_no_surface;
        if without_surface > 0 {
            writeln!(
                out,
                "  {without_surface} of the ranges come from the air or from noise instead of a \
                 surface"
            )?;
        }
        for (code, count) in &self.error_codes {
            writeln!(out, "  error code {code}: {count}")?;
        }

        // Range error
        if let Some(error) = self.median_range_error_m {
            let (count, mm) = (self.range_errors.of_axis, error * 1e3);
            writeln!(
                out,
                "  median absolute range error: {mm:.1} mm, of {count} ranges of the first object on the beam axis"
            )?;
        }
        if let Some(error) = self.median_difference_of_others_m {
            let ranges = counted(self.range_errors.of_others, "range");
            let mm = error * 1e3;
            writeln!(
                out,
                "  {ranges} of other objects (over mirrors, through glass, beside edges): a median difference \
                 of {mm:.1} mm"
            )?;
        }

        // Files
        self.files
            .iter()
            .try_for_each(|file| writeln!(out, "  wrote {}", file.display()))
    }
}

/// Warning if beams hit surfaces but none has a range.
pub fn no_range(counts: &ReadingCounts, air: &Air) -> Option<String> {
    let ReadingCounts {
        beams,
        errors,
        no_returns,
        too_near,
        ..
    } = counts;
    (counts.ranges == 0).then(|| {
        format!(
            "none of {beams} beams has a range: {no_returns} no return, {errors} error codes, \
             {too_near} too near; {}",
            reasons_without_ranges(air)
        )
    })
}

/// Possible reasons for a run without ranges.
pub fn reasons_without_ranges(air: &Air) -> String {
    let weather = air.atmosphere.weather.iter();
    let weather: Vec<_> = weather.map(Weather::to_string).collect();
    let dense = match &weather[..] {
        [] => String::new(),
        weather => format!(", or the air too dense ({})", weather.join(", ")),
    };
    format!("surfaces may be too far, too dark or too near for this sensor{dense}")
}

fn error_codes(sweeps: &[BeamSweep]) -> BTreeMap<u8, usize> {
    let mut codes = BTreeMap::new();
    for measurement in sweeps.iter().flat_map(|sweep| &sweep.measurements) {
        if let RangeReading::Error(code) = measurement.reading {
            *codes.entry(code).or_insert(0) += 1;
        }
    }
    codes
}
