//! `etendue correct apply`.

use super::status::check_status;
use crate::failure::Failure;
use crate::interrupt;
use crate::number;
use crate::output::{commit, print_report, warn};
use crate::sequence;
use clap::Args;
use etendue::calibrate::depth::{ScanSignature, correct_scan};
use etendue::config::depth_model::{self, LearntModel};
use etendue::estimate::geometry::CellOptions;
use etendue::io::output::OutputSet;
use etendue::io::ros2::rewrite_clouds;
use etendue::io::scan_file::ScanFile;
use etendue::io::sequence::scan_files;
use nalgebra::Point3;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Arguments of `etendue correct apply`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue correct apply --model model.toml scans corrected\n\n\
    A model that its training did not find usable is refused without --force.\n\
    The format, the encoding, the order and all fields except positions are preserved; a field \
    \"range\" is updated with the position. Isolated points and points at edges are not \
    corrected.\n\
    A folder is read and written scan by scan."
)]
pub struct Apply {
    /// Model file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Scan, folder of scans, or MCAP recording, in the frame of the lidar
    input: PathBuf,
    /// Corrected scan, folder or recording to write
    output: PathBuf,
    /// Name of the sensor; a warning is printed if the model was learnt from another sensor
    #[arg(long, default_value = "")]
    sensor: String,
    /// Size of the cells in which normals are estimated, m
    #[arg(long, default_value_t = CellOptions::default().cell, value_name = "M", value_parser = number::positive)]
    cell: f64,
    /// Apply a model although it is not determined or untested
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Summary of a correction.
#[derive(Default, Serialize)]
struct Report {
    scans: usize,
    points: usize,
    left_as_measured: usize,
    /// Root mean square of the changes, m.
    rms_change_m: f64,
    /// Median time of correcting a scan, including normals, s.
    /// It depends on the computer: it is printed, and no part of the JSON.
    #[serde(skip)]
    seconds_per_scan: f64,
    warnings: Vec<String>,
}

struct Corrector<'a> {
    learnt: &'a LearntModel,
    cells: CellOptions,
    squares: f64,
    times: Vec<Duration>,
    report: Report,
}

impl Apply {
    /// Corrects scans and prints a summary.
    pub fn run(self) -> Result<(), Failure> {
        // Check the arguments and load the model
        if self.input == self.output {
            return Err(Failure::argument(
                "input and output are the same",
                "give another output path",
            ));
        }
        let learnt = depth_model::load(&self.model)?;
        let mut corrector = Corrector::new(&learnt, self.cell);
        let doubt = check_status(&self.model, &learnt, self.force)?;
        corrector.report.warnings.extend(doubt);
        corrector.check_name(&self.sensor);

        // Correct a folder of scans, a recording or one scan
        let ending = self.input.extension();
        if self.input.is_dir() {
            self.folder(&mut corrector)?;
        } else if ending.is_some_and(|ending| ending == "mcap") {
            self.recording(&mut corrector)?;
        } else {
            let mut outputs = OutputSet::new();
            correct_file(&mut corrector, &self.input, &self.output, &mut outputs)?;
            commit(outputs)?;
        }

        // Report
        let report = corrector.finish();
        warn(&report.warnings);
        print_report(self.json, &report, |report| report.text(&self.output))
    }

    /// Corrects a folder file by file, in constant memory; each file is written completely or not at
    /// all.
    fn folder(&self, corrector: &mut Corrector) -> Result<(), Failure> {
        let files = scan_files(&self.input)?;
        let progress = sequence::bar("correcting", files.len());
        for file in &files {
            let mut outputs = OutputSet::new();
            let name = file.file_name().unwrap_or_default();
            correct_file(corrector, file, &self.output.join(name), &mut outputs)?;
            commit(outputs)?;
            progress.inc(1);
            interrupt::check()?;
        }
        progress.finish_and_clear();
        Ok(())
    }

    fn recording(&self, corrector: &mut Corrector) -> Result<(), Failure> {
        let mut outputs = OutputSet::new();
        let progress = sequence::bar("correcting", 0);
        rewrite_clouds(&mut outputs, &self.input, &self.output, |_, points| {
            progress.inc_length(1);
            progress.inc(1);
            corrector.corrected(&points)
        })?;
        progress.finish_and_clear();
        commit(outputs)?;
        Ok(())
    }
}

/// Adds a corrected scan file to the outputs.
fn correct_file(
    corrector: &mut Corrector,
    from: &Path,
    to: &Path,
    outputs: &mut OutputSet,
) -> Result<(), Failure> {
    let mut file = ScanFile::read(from)?;
    let corrected = corrector.corrected(&file.points());
    file.set_points(&corrected);
    let bytes = file.bytes(to)?;
    outputs.add(to, |sink| sink.write_all(&bytes))?;
    Ok(())
}

impl<'a> Corrector<'a> {
    fn new(learnt: &'a LearntModel, cell: f64) -> Self {
        Self {
            learnt,
            cells: CellOptions {
                cell,
                ..CellOptions::default()
            },
            squares: 0.0,
            times: Vec::new(),
            report: Report::default(),
        }
    }

    fn check_name(&mut self, sensor: &str) {
        let learnt = &self.learnt.sensor;
        if !sensor.is_empty() && !learnt.is_empty() && sensor != learnt {
            self.report.warnings.push(format!(
                "the model was learnt from a {learnt}, the scans are from a {sensor}: its bias does \
                 not apply to them"
            ));
        }
    }

    fn corrected(&mut self, points: &[Point3<f64>]) -> Vec<Point3<f64>> {
        if self.report.scans == 0 {
            self.check_signature(points);
        }
        let start = Instant::now();
        let corrected = correct_scan(points, &self.learnt.model, &self.cells);
        self.times.push(start.elapsed());
        let left = corrected.uncorrected();
        let changed = points.len() - left;
        self.squares += corrected.rms_change(points).powi(2) * changed as f64;
        self.report.scans += 1;
        self.report.points += points.len();
        self.report.left_as_measured += left;
        corrected.points
    }

    fn check_signature(&mut self, points: &[Point3<f64>]) {
        let here = ScanSignature::of(std::iter::once(points));
        let known = self.learnt.learnt.as_ref();
        if let Some(why) = known.and_then(|l| l.signature.differs(&here)) {
            self.report.warnings.push(format!(
                "the first scan looks like one of another sensor: {why}; the bias may differ"
            ));
        }
    }

    fn finish(mut self) -> Report {
        let changed = self.report.points - self.report.left_as_measured;
        self.report.rms_change_m = (self.squares / changed.max(1) as f64).sqrt();
        self.times.sort_unstable();
        let median = self.times.get(self.times.len() / 2);
        self.report.seconds_per_scan = median.map_or(0.0, Duration::as_secs_f64);
        if changed == 0 {
            let nothing =
                "no point has a planar neighbourhood: nothing was corrected; give a larger --cell";
            self.report.warnings.push(nothing.into());
        }
        self.report
    }
}

impl Report {
    fn text(&self, output: &Path) -> String {
        format!(
            "{} scans, {} points: {:.1} % corrected by {:.2} mm rms, the others unchanged\n  \
             {:.1} ms per scan, including normals\n  wrote {}\n",
            self.scans,
            self.points,
            100.0 * (1.0 - self.left_as_measured as f64 / self.points.max(1) as f64),
            self.rms_change_m * 1e3,
            self.seconds_per_scan * 1e3,
            output.display()
        )
    }
}
