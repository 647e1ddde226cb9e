//! What a run gave, in short.

use super::staged::Done;
use etendue::io::output::ReadingCounts;
use etendue::physics::atmosphere::Weather;
use etendue::sensors::lidar::Air;
use etendue::sensors::{Measurement, PlanarSweep, RangeReading};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// What a run gave.
#[derive(Serialize)]
pub struct Summary<'a> {
    scene: &'a str,
    sensor: &'a str,
    seed: u64,
    sweeps: usize,
    counts: ReadingCounts,
    /// Ranges whose light came from no surface: of the air, or of noise.
    ranges_of_no_surface: usize,
    #[serde(skip)]
    has_echoes: bool,
    error_codes: BTreeMap<u8, usize>,
    /// Median distance of measured and true range, m.
    median_range_error_m: Option<f64>,
    /// What was odd.
    warnings: &'a [String],
    files: &'a [PathBuf],
}

impl<'a> Summary<'a> {
    /// Sums up.
    pub fn of(done: &'a Done) -> Self {
        let metadata = &done.metadata;
        Self {
            scene: &metadata.scene.name,
            sensor: &metadata.sensor.name,
            seed: metadata.seed,
            sweeps: metadata.sweeps,
            counts: metadata.counts,
            ranges_of_no_surface: of_no_surface(&done.sweeps),
            has_echoes: done.has_echoes,
            error_codes: error_codes(&done.sweeps),
            median_range_error_m: range_error(&done.sweeps),
            warnings: &metadata.warnings,
            files: &done.files,
        }
    }

    /// The summary in words.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text)
            .expect("writing to a string does not fail");
        text
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
        let several = if self.has_echoes {
            "with several echoes"
        } else {
            "mixed pixels"
        };
        let (scene, sensor, sweeps, seed) = (self.scene, self.sensor, self.sweeps, self.seed);
        writeln!(out, "{sensor} in {scene}, sweeps: {sweeps}, seed: {seed}")?;
        writeln!(
            out,
            "  {beams} beams: {ranges} ranges ({mixed} of them {several}), {no_returns} no return, {too_near} too near"
        )?;
        let nowhere = self.ranges_of_no_surface;
        if nowhere > 0 {
            writeln!(
                out,
                "  {nowhere} of the ranges are of the air or of noise, not of a surface"
            )?;
        }
        for (code, count) in &self.error_codes {
            writeln!(out, "  error code {code}: {count}")?;
        }
        if let Some(error) = self.median_range_error_m {
            let others = if nowhere > 0 { "other " } else { "" };
            let mm = error * 1e3;
            writeln!(
                out,
                "  half of the {others}ranges are within {mm:.1} mm of the first surface on the beam's axis"
            )?;
        }
        self.files
            .iter()
            .try_for_each(|file| writeln!(out, "  wrote {}", file.display()))
    }
}

/// A warning where beams met something and yet none has a range.
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
            why_nothing(air)
        )
    })
}

/// What may be the reason where nothing is measured.
pub fn why_nothing(air: &Air) -> String {
    let weather: Vec<_> = { air.atmosphere.weather.iter() }
        .map(Weather::to_string)
        .collect();
    let dense = match &weather[..] {
        [] => String::new(),
        weather => format!(", or the air too dense ({})", weather.join(", ")),
    };
    format!("surfaces may be too far, too dark or too near for this sensor{dense}")
}

fn error_codes(sweeps: &[PlanarSweep]) -> BTreeMap<u8, usize> {
    let mut codes = BTreeMap::new();
    for measurement in sweeps.iter().flat_map(|sweep| &sweep.measurements) {
        if let RangeReading::Error(code) = measurement.reading {
            *codes.entry(code).or_insert(0) += 1;
        }
    }
    codes
}

fn of_no_surface(sweeps: &[PlanarSweep]) -> usize {
    let beams = sweeps.iter().flat_map(|sweep| &sweep.measurements);
    let nowhere = |beam: &&Measurement| beam.reading.range().is_some() && beam.truth.is_none();
    beams.filter(nowhere).count()
}

/// Median of the distance between measured and true range: behind a mirror the two differ much.
fn range_error(sweeps: &[PlanarSweep]) -> Option<f64> {
    let beams = sweeps.iter().flat_map(|sweep| &sweep.measurements);
    let errors = beams.filter_map(|beam| Some((beam.reading.range()? - beam.truth?.range).abs()));
    let mut errors: Vec<_> = errors.collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len() / 2).copied()
}
