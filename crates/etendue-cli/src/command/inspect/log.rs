//! Report of a scan log.

use super::spread_chart::RangeNoise;
use crate::failure::Failure;
use crate::output::{to_text, write_warnings};
use etendue::io::scan_log::read_scan_log;
use etendue::sensors::{ScanLog, ScanStatistics, StationaryWindow, StatisticsOptions};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Printed report of a scan log.
#[derive(Serialize)]
pub struct LogReport {
    file: String,
    description: String,
    scans: usize,
    beams: usize,
    beams_in_scan: (usize, usize),
    duration_s: f64,
    period_s: f64,
    path_m: Option<f64>,
    valid_fraction: f64,
    no_returns: usize,
    too_near: usize,
    error_codes: BTreeMap<u8, usize>,
    range_percentiles_m: Option<Percentiles>,
    histogram: Vec<Bin>,
    stationary: Vec<StationaryReport>,
    warnings: Vec<String>,
    #[serde(skip)]
    range_noise: Option<RangeNoise>,
}

#[derive(Serialize)]
struct Percentiles {
    p1: f64,
    p50: f64,
    p99: f64,
    max: f64,
}

#[derive(Serialize)]
struct Bin {
    from_m: f64,
    to_m: f64,
    count: usize,
}

#[derive(Serialize)]
struct StationaryReport {
    first_scan: usize,
    scans: usize,
    flickering_beams: usize,
    spread: Vec<Band>,
}

#[derive(Serialize)]
struct Band {
    from_m: f64,
    to_m: f64,
    beams: usize,
    median_sd_mm: f64,
    p90_sd_mm: f64,
}

/// Median range beyond which ranges are probably in millimetres, m: planar scanners reach less.
const IMPLAUSIBLE_MEDIAN: f64 = 100.0;

impl LogReport {
    /// Reads a log and computes its statistics.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        Ok(Self::of_log(file, read_scan_log(file)?))
    }

    /// Statistics of the scans of a log or a bag.
    pub fn of_log(file: &Path, log: ScanLog) -> Self {
        let statistics = ScanStatistics::of(&log.scans, &StatisticsOptions::default());
        let name = file.display().to_string();

        // Distribution of the ranges, and their noise while the sensor was stationary
        let percentiles = statistics.ranges;
        let histogram = statistics.histogram.iter();
        let first_window = statistics.stationary.first();
        let range_noise = first_window.map(|window| range_noise(&name, window));
        Self {
            file: name,
            description: log.description,
            scans: statistics.scans,
            beams: statistics.beams,
            beams_in_scan: statistics.beams_in_scan,
            duration_s: statistics.duration,
            period_s: statistics.period,
            path_m: statistics.path,
            valid_fraction: statistics.valid_fraction(),
            no_returns: statistics.no_returns,
            too_near: statistics.too_near,
            range_percentiles_m: percentiles.map(|[p1, p50, p99, max]| Percentiles {
                p1,
                p50,
                p99,
                max,
            }),
            histogram: histogram
                .map(|(bin, count)| Bin {
                    from_m: bin.start,
                    to_m: bin.end,
                    count: *count,
                })
                .collect(),
            stationary: statistics
                .stationary
                .iter()
                .map(StationaryReport::of)
                .collect(),
            error_codes: statistics.errors,
            warnings: (log.warnings.into_iter())
                .chain(percentiles.and_then(|[_, median, ..]| implausible(median)))
                .collect(),
            range_noise,
        }
    }

    /// Range noise in the longest window with a stationary sensor.
    pub fn range_noise(&self) -> Option<RangeNoise> {
        self.range_noise.clone()
    }

    /// The report as text.
    pub fn text(&self) -> String {
        to_text(|out| self.write(out))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        // Number, period and size of the scans
        writeln!(out, "{}: scan log, {}", self.file, self.description)?;
        let (fewest, most) = self.beams_in_scan;
        let beams = if fewest == most {
            format!("{most}")
        } else {
            format!("{fewest} to {most}")
        };
        writeln!(
            out,
            "  {} scans of {beams} beams over {:.1} s, one every {:.1} ms",
            self.scans,
            self.duration_s,
            self.period_s * 1e3
        )?;
        if let Some(path) = self.path_m {
            writeln!(out, "  path length by odometry: {path:.1} m")?;
        }

        // Kinds of readings
        let share = |count: usize| 100.0 * count as f64 / self.beams.max(1) as f64;
        writeln!(
            out,
            "  beams with a range: {:.1} %; no return: {:.1} %; too near: {:.1} %",
            100.0 * self.valid_fraction,
            share(self.no_returns),
            share(self.too_near)
        )?;
        for (code, count) in &self.error_codes {
            writeln!(out, "  error code {code}: {count} ({:.1} %)", share(*count))?;
        }

        // Distribution of the ranges, and their noise
        if let Some(Percentiles { p1, p50, p99, max }) = &self.range_percentiles_m {
            writeln!(
                out,
                "  ranges: 1st percentile {p1:.3} m, median {p50:.3} m, 99th percentile {p99:.3} m, largest {max:.3} m"
            )?;
        }
        self.write_histogram(out)?;
        self.write_stationary(out)?;
        write_warnings(out, &self.warnings)
    }

    fn write_histogram(&self, out: &mut String) -> std::fmt::Result {
        const WIDEST: usize = 40;
        let most = self
            .histogram
            .iter()
            .map(|bin| bin.count)
            .max()
            .unwrap_or(0)
            .max(1);
        for bin in self.histogram.iter().filter(|bin| bin.count > 0) {
            let bar = "#".repeat((bin.count * WIDEST).div_ceil(most));
            writeln!(
                out,
                "  {:>6.2} to {:>6.2} m {:>8}  {bar}",
                bin.from_m, bin.to_m, bin.count
            )?;
        }
        Ok(())
    }

    fn write_stationary(&self, out: &mut String) -> std::fmt::Result {
        let Some(window) = self.stationary.first() else {
            return writeln!(
                out,
                "  no window with a stationary sensor and equal azimuths is long enough to estimate the range noise"
            );
        };
        let last = window.first_scan + window.scans - 1;
        writeln!(
            out,
            "  stationary in {} windows, the longest scans {} to {last}; {} beams flicker in it",
            self.stationary.len(),
            window.first_scan,
            window.flickering_beams
        )?;
        for band in &window.spread {
            writeln!(
                out,
                "  {:>6.2} to {:>6.2} m: median sd {:.1} mm, 90 % below {:.1} mm ({} beams)",
                band.from_m, band.to_m, band.median_sd_mm, band.p90_sd_mm, band.beams
            )?;
        }
        Ok(())
    }
}

/// Warning about a median range (m) that suggests another unit.
fn implausible(median: f64) -> Option<String> {
    (median > IMPLAUSIBLE_MEDIAN)
        .then(|| format!("the median range is {median:.0} m: are the ranges millimetres?"))
}

impl StationaryReport {
    fn of(window: &StationaryWindow) -> Self {
        let bands = window.spread.iter().map(|spread| Band {
            from_m: spread.band.start,
            to_m: spread.band.end,
            beams: spread.beams,
            median_sd_mm: spread.median * 1e3,
            p90_sd_mm: spread.high * 1e3,
        });
        Self {
            first_scan: window.scans.start,
            scans: window.scans.len(),
            flickering_beams: window.flickering,
            spread: bands.collect(),
        }
    }
}

fn range_noise(name: &str, window: &StationaryWindow) -> RangeNoise {
    let file = Path::new(name).file_name();
    RangeNoise {
        name: file.map_or_else(|| name.into(), |file| file.to_string_lossy().into_owned()),
        beams: window
            .steady
            .iter()
            .map(|beam| [beam.range, beam.deviation])
            .collect(),
        medians: window
            .spread
            .iter()
            .map(|spread| [spread.centre, spread.median])
            .collect(),
    }
}
