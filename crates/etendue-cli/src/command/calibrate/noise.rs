//! `etendue calibrate noise`.

use super::noise_beside::Comparison;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::output::{print_report, to_text, warn};
use clap::Args;
use etendue::calibrate::standing::{
    Estimate, NoiseParts, StandingBeam, StandingRecording, estimate_noise,
};
use etendue::io::recording::{Content, read_recording};
use etendue::io::table::{ColumnData, PointTable};
use etendue::sensors::{ScanStatistics, StatisticsOptions};
use nalgebra::Vector3;
use serde::Serialize;
use std::fmt::{self, Write};
use std::path::PathBuf;

/// Arguments of `etendue calibrate noise`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue calibrate noise room.pcap\n          \
    etendue calibrate noise drive.dat --json\n          \
    etendue calibrate noise room.pcap --sensor velodyne-vlp-16\n\n\
    The sensor has to be at rest before smooth surfaces, in at least three scans. Of a log with odometry, \
    the longest window at rest is used. The result is printed as the [noise] table of a sensor file, with \
    standard errors; the independent noise is that of the receiver (jitter_mm of a pulsed one). With --sensor, \
    the same numbers follow for that sensor, simulated before the planes of the recording (diffuse, \
    reflectance 0.5): spread by range, and a Kolmogorov-Smirnov test of the second differences of neighbours.")]
pub struct Noise {
    /// Recording: a scan log, a bag, a packet capture, or clouds with rings and several sweeps
    recording: PathBuf,
    #[command(flatten)]
    lidar: LidarOptions,
    /// Compare with this sensor, simulated before the plane surfaces of the recording
    #[arg(long, value_name = "NAME|FILE")]
    sensor: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Printed report.
#[derive(Serialize)]
struct Report {
    recorded: PartsReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated: Option<Comparison>,
}

/// Parts of the noise of a recording, in the units of a sensor file.
#[derive(Serialize)]
pub struct PartsReport {
    scans: usize,
    flat_directions: usize,
    directions_on_planes: usize,
    range_step_mm: f64,
    independent_mm: Number,
    azimuth_jitter_mrad: Option<Number>,
    neighbour_mm: Number,
    neighbour_correlation: Number,
    channel_mm: Option<Number>,
    beam_mm: Option<Number>,
    beam_correlation: Option<Number>,
    scan_mm: Number,
    /// Where the directions drift fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    columns_per_scan: Option<f64>,
}

/// An estimate in the unit of its key.
#[derive(Clone, Copy, Serialize)]
struct Number {
    value: f64,
    standard_error: f64,
}

impl Noise {
    /// Estimates and prints the parts of the noise.
    pub fn run(self) -> Result<(), Failure> {
        let (recording, warnings) = self.read()?;
        let parts = estimate_noise(&recording)?;
        let simulated = match &self.sensor {
            Some(name) => Some(Comparison::with(name, &recording)?),
            None => None,
        };
        warn(&warnings);
        let report = Report {
            recorded: PartsReport::of(&parts, &recording),
            simulated,
        };
        print_report(self.json, &report, Report::text)
    }

    /// Reads the recording, with warnings.
    fn read(&self) -> Result<(StandingRecording, Vec<String>), Failure> {
        // Sweeps of points with rings
        if let Ok(points) = self.lidar.points(&self.recording) {
            let sweeps: Vec<PointTable> =
                points.sweeps.iter().flat_map(PointTable::sweeps).collect();
            let beams: Option<Vec<_>> = sweeps.iter().map(beams).collect();
            if let Some(beams) = beams.filter(|beams| beams.len() > 1) {
                let recording = StandingRecording::from_beams(&beams);
                return Ok((recording, points.warnings));
            }
        }
        // Planar scans, at rest
        let topic = self.lidar.topic_in(&self.recording);
        let read = read_recording(&self.recording, &self.lidar.device()?, topic)?;
        let Content::Scans(log) = read.content else {
            return Err(Failure::usage(
                format!(
                    "{} has neither scans nor several sweeps with rings",
                    self.recording.display()
                ),
                "give a scan log, a packet capture, or a cloud with the fields ring and sweep",
            ));
        };
        let statistics = ScanStatistics::of(&log.scans, &StatisticsOptions::default());
        let window = statistics
            .stationary
            .first()
            .ok_or(Failure::NoStationaryWindow)?;
        let scans = &log.scans[window.scans.clone()];
        Ok((StandingRecording::from_scans(scans), read.warnings))
    }
}

/// The first returns of a sweep by ring; `None` without rings.
fn beams(table: &PointTable) -> Option<Vec<StandingBeam>> {
    let ColumnData::U16(rings) = table.column("ring")? else {
        return None;
    };
    let axes = ["x", "y", "z"].map(|axis| table.column(axis));
    let [Some(x), Some(y), Some(z)] = axes else {
        return None;
    };
    let ranges = table.column("range");
    let beam = |i: usize| {
        let position = Vector3::new(x.number(i), y.number(i), z.number(i));
        let direction = position.try_normalize(1e-6).filter(|d| d.x.is_finite())?;
        let range = ranges.map_or(position.norm(), |ranges| ranges.number(i));
        Some(StandingBeam {
            channel: rings[i],
            direction,
            range,
        })
    };
    Some((0..table.points).filter_map(beam).collect())
}

impl Report {
    fn text(&self) -> String {
        to_text(|out| {
            self.recorded.write(out)?;
            match &self.simulated {
                Some(comparison) => comparison.write(out),
                None => Ok(()),
            }
        })
    }
}

impl PartsReport {
    /// The report of estimated parts.
    pub fn of(parts: &NoiseParts, recording: &StandingRecording) -> Self {
        let number = |factor: f64| {
            move |estimate: Estimate| Number {
                value: estimate.value * factor,
                standard_error: estimate.error * factor,
            }
        };
        let [thousandths, ones] = [number(1e3), number(1.0)];
        Self {
            scans: parts.scans,
            flat_directions: parts.directions,
            directions_on_planes: parts.on_planes,
            range_step_mm: recording.range_step * 1e3,
            independent_mm: thousandths(parts.independent),
            azimuth_jitter_mrad: parts.jitter.map(thousandths),
            neighbour_mm: thousandths(parts.neighbour),
            neighbour_correlation: ones(parts.neighbour_correlation),
            channel_mm: parts.channel.map(thousandths),
            beam_mm: parts.beam.map(thousandths),
            beam_correlation: parts.beam_correlation.map(ones),
            scan_mm: thousandths(parts.scan),
            columns_per_scan: parts.fast_drift,
        }
    }

    /// Writes the parts as the `[noise]` table of a sensor file.
    pub fn write(&self, out: &mut String) -> fmt::Result {
        // Independent noise and jitter
        writeln!(
            out,
            "# {} scans, {} flat directions, {} directions on planes; ranges in steps of {:.3} mm",
            self.scans, self.flat_directions, self.directions_on_planes, self.range_step_mm
        )?;
        if let Some(columns) = self.columns_per_scan {
            writeln!(
                out,
                "# the directions move by {columns:.2} columns from scan to scan: part of the fixed pattern of the \
                 beams counts as noise over time, within the standard errors"
            )?;
        }
        let plus_minus =
            |number: &Number| format!("{:.2} +- {:.2}", number.value, number.standard_error);
        writeln!(
            out,
            "# independent noise: {} mm",
            plus_minus(&self.independent_mm)
        )?;
        if let Some(jitter) = &self.azimuth_jitter_mrad {
            writeln!(out, "# azimuth jitter: {} mrad", plus_minus(jitter))?;
        }
        // The table of a sensor file
        writeln!(out, "\n[noise]")?;
        let keys = [
            ("neighbour_mm", Some(&self.neighbour_mm)),
            ("neighbour_correlation", Some(&self.neighbour_correlation)),
            ("channel_mm", self.channel_mm.as_ref()),
            ("beam_mm", self.beam_mm.as_ref()),
            ("beam_correlation", self.beam_correlation.as_ref()),
            ("scan_mm", Some(&self.scan_mm)),
        ];
        for (key, number) in keys {
            match number {
                Some(number) => {
                    writeln!(
                        out,
                        "{key} = {:.2}  # +- {:.2}",
                        number.value, number.standard_error
                    )?;
                }
                None => writeln!(out, "# {key}: not determined")?,
            }
        }
        Ok(())
    }
}
