//! `etendue convert`.

use crate::bag;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::formats;
use crate::memory::Memory;
use crate::output::{commit, counted, list_written, print_text, warn};
use clap::{Args, ValueEnum};
use etendue::io::output::OutputSet;
use etendue::io::points::{LossyFields, PointFormat, lossy_fields, write_mcap_sweeps};
use etendue::io::table::{Encoding, PointSweeps, PointTable};
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Arguments of `etendue convert`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue convert scan.mcap scan.las\n          \
    etendue convert drive.pcap drive.mcap\n          \
    etendue convert rig.mcap front.las --topic /front/points\n          \
    etendue convert drive.bag map.pcd --frame world\n          \
    etendue convert drive.bag sweeps/cloud.pcd --per-sweep\n          \
    etendue convert drive.pcap turn.pcd --metadata os1.json --sweep 3\n          \
    etendue convert drive.pcap drive.laz --metadata HDL64e_s3.yaml\n          \
    etendue convert table.parquet cloud.laz\n\n\
    Fields keep their names if the format stores them. LAS has a resolution of 0.1 mm; KITTI \
    stores positions and intensities only. A message lists the fields that the format omits or \
    changes. Negative times are shifted to begin at zero in an MCAP file."
)]
pub struct Convert {
    #[arg(help = input_help())]
    from: PathBuf,
    #[arg(help = output_help())]
    to: PathBuf,
    #[command(flatten)]
    lidar: LidarOptions,
    /// Sweep to convert: a rotation of a capture or a cloud of a recording, counted from 0, or the
    /// points with that number in the column sweep of a table [default: all]
    #[arg(long, value_name = "N")]
    sweep: Option<usize>,
    /// Frame of the points. The poses are those of the transforms of a bag, at the time of each point
    #[arg(long, value_enum, default_value_t = FrameName::Sensor)]
    frame: FrameName,
    /// Write one file per sweep: cloud.pcd becomes cloud-0000.pcd, cloud-0001.pcd and so on
    #[arg(long)]
    per_sweep: bool,
    /// Write .pcd and .ply files as text
    #[arg(long)]
    ascii: bool,
    #[command(flatten)]
    memory: Memory,
}

/// Memory of a conversion over the size of the input: measured 2.5 to 4.4, and 45 for LAZ.
const MEMORY_PER_BYTE: f64 = 5.0;
const MEMORY_PER_LAZ_BYTE: f64 = 50.0;

/// Frame of converted points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FrameName {
    /// The frame of the file, in which a lidar is at the origin
    Sensor,
    /// The sensor at the first sweep
    First,
    /// The root of the transforms of a bag
    World,
}

/// Help on the input.
fn input_help() -> String {
    format!(
        "Input: {}. A .bin file is a Velodyne scan of KITTI; a capture (.pcap, .pcapng) contains packets of \
         Velodyne (VLP-16, VLP-32C, HDL-32E; HDL-64E and VLS-128 with --metadata), Hesai (Pandar40P, XT32) \
         or Ouster lidars",
        formats::read()
    )
}

/// Help on the output.
fn output_help() -> String {
    format!(
        "Output file; its extension selects the format: {}",
        formats::written()
    )
}

impl Convert {
    /// Reads and writes points and prints a summary.
    pub fn run(self) -> Result<(), Failure> {
        // Read
        let format = self.format()?;
        self.check_memory()?;
        let points = self.lidar.points(&self.from)?;
        let mut points = self.select(points)?;
        let sweeps = points.sweeps.len();
        let mut warnings = points.warnings.clone();
        warnings.extend(self.place(&mut points, format)?);

        // Warn about fields that the format omits or changes, and about infinite numbers
        warnings.extend(clear_infinite(&mut points));
        let mut table = points.clone().together();
        let fields = lossy_fields(&table, format);
        if fields.points == 0 {
            return Err(self.no_position());
        }
        warnings.extend(fields.warnings.iter().cloned());
        if format == PointFormat::Mcap {
            warnings.extend(shift_to_zero(&mut table));
        }
        warn(&warnings);

        // Write one file, or one per sweep
        let mut outputs = OutputSet::new();
        let encoding = if self.ascii {
            Encoding::Ascii
        } else {
            Encoding::Binary
        };
        let mut files = vec![self.to.clone()];
        if self.per_sweep {
            let points = points.split();
            files = (0..points.sweeps.len())
                .map(|number| self.file_of(number))
                .collect();
            for (file, sweep) in files.iter().zip(&points.sweeps) {
                format.write(&mut outputs, file, sweep, encoding)?;
            }
        } else if format == PointFormat::Mcap && points.world_from_sensor.is_some() {
            write_mcap_sweeps(&mut outputs, &self.to, &points)?;
        } else {
            format.write(&mut outputs, &self.to, &table, encoding)?;
        }
        commit(outputs)?;
        // A bag has one recording: files of single sweeps are none
        if format == PointFormat::Mcap && !self.per_sweep {
            list_written(bag::describe(&self.to)?.as_slice());
        }
        print_text(&self.summary(sweeps, &table, &fields, &warnings, &files))
    }

    /// Checks the memory of the points of the input.
    fn check_memory(&self) -> Result<(), Failure> {
        let bytes = size(&self.from);
        let is_laz = self
            .from
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("laz"));
        let factor = if is_laz {
            MEMORY_PER_LAZ_BYTE
        } else {
            MEMORY_PER_BYTE
        };
        self.memory.check(
            bytes * factor,
            &format!(
                "the points of {:.1} GB in {}",
                bytes / 1e9,
                self.from.display()
            ),
            "convert parts of the input",
        )
    }

    /// Moves the points to the requested frame. Returns a warning where sweeps of a moving sensor
    /// overlap in one table, and where points are outside of the times of the poses.
    fn place(
        &self,
        points: &mut PointSweeps,
        format: PointFormat,
    ) -> Result<Option<String>, Failure> {
        let Some(poses) = points.world_from_sensor.clone() else {
            return match self.frame {
                FrameName::Sensor => Ok(None),
                _ => Err(Failure::usage(
                    format!("{} has no poses of the sensor", self.from.display()),
                    "give a bag with transforms (/tf), or use --frame sensor",
                )),
            };
        };

        // Keep the frame of the sensor
        if self.frame == FrameName::Sensor {
            let is_kept = format == PointFormat::Mcap && !self.per_sweep;
            let is_moving = poses.iter().any(|pose| *pose != poses[0]);
            return Ok((is_moving && !is_kept && !self.per_sweep).then(|| {
                "the sweeps are in the frames of a moving sensor, and their poses are left out: \
                 --frame world places them"
                    .to_owned()
            }));
        }

        // Move every point
        let reference_from_world = match (self.frame, poses.first()) {
            (FrameName::First, Some(first)) => first.inverse(),
            _ => Isometry3::identity(),
        };
        Ok(points.place(&reference_from_world))
    }

    /// File of a sweep.
    fn file_of(&self, number: usize) -> PathBuf {
        let stem = self.to.file_stem().unwrap_or_default().to_string_lossy();
        let ending = self.to.extension().unwrap_or_default().to_string_lossy();
        self.to
            .with_file_name(format!("{stem}-{number:04}.{ending}"))
    }

    /// Summary of the read and the written points.
    fn summary(
        &self,
        sweeps: usize,
        table: &PointTable,
        fields: &LossyFields,
        warnings: &[String],
        files: &[PathBuf],
    ) -> String {
        let files = match files {
            [first, .., last] => format!("{} to {}", first.display(), last.display()),
            _ => self.to.display().to_string(),
        };
        let with_warnings = if warnings.is_empty() {
            ""
        } else {
            ", with warnings"
        };
        format!(
            "{}: {}, {} points with {}{with_warnings}\n{}  wrote {}\n",
            self.from.display(),
            counted(sweeps, "sweep"),
            fields.points,
            fields.fields.join(" "),
            dropped(table, fields),
            files
        )
    }

    fn no_position(&self) -> Failure {
        Failure::usage(
            format!(
                "no point of {} has a position, and {} would be empty",
                self.from.display(),
                self.to.display()
            ),
            "give a file with measured points, or write a .pcd, .ply, .csv, .npz or .parquet, which \
             also store points without a position",
        )
    }

    /// Format of the output by its ending.
    fn format(&self) -> Result<PointFormat, Failure> {
        let format = PointFormat::of_ending(&self.to).filter(|format| format.is_written());
        format.ok_or_else(|| {
            let endings = PointFormat::written_endings().join(", ");
            Failure::usage(
                format!("cannot write {}: unknown file extension", self.to.display()),
                format!("use one of the extensions {endings}"),
            )
        })
    }

    /// The selected sweep, or all.
    fn select(&self, mut points: PointSweeps) -> Result<PointSweeps, Failure> {
        let Some(number) = self.sweep else {
            return Ok(points);
        };

        // A table with a column of sweep numbers
        if let [only] = &mut points.sweeps[..]
            && let Some(table) = only.of_sweep(number)
        {
            *only = table;
            return if only.points > 0 {
                Ok(points)
            } else {
                Err(self.no_sweep(number))
            };
        }

        // Sweeps of a capture or clouds of a recording
        let sweeps = points.sweeps.len();
        points.only(number).ok_or_else(|| {
            Failure::usage(
                format!(
                    "{} has no sweep {number}: it has {sweeps} sweeps",
                    self.from.display()
                ),
                format!("give --sweep 0 to {}", sweeps.saturating_sub(1)),
            )
        })
    }

    fn no_sweep(&self, number: usize) -> Failure {
        Failure::usage(
            format!(
                "no point of {} has the number {number} in the column sweep",
                self.from.display()
            ),
            "convert to .csv without --sweep, and select a number of the column sweep",
        )
    }
}

/// Line with the points and fields that the format cannot store; empty without any.
fn dropped(table: &PointTable, fields: &LossyFields) -> String {
    let mut parts = Vec::new();
    let points = table.points - fields.points;
    if points > 0 {
        parts.push(format!("{points} points without a position"));
    }
    if !fields.dropped.is_empty() {
        parts.push(format!("the fields {}", fields.dropped.join(" ")));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("  left out {}\n", parts.join(", and "))
}

/// Shifts times so that they begin at zero where some are negative, which ROS cannot store, and
/// returns a warning about it.
fn shift_to_zero(table: &mut PointTable) -> Option<String> {
    let earliest = table.shift_negative_times()?;
    Some(format!(
        "the earliest time is {earliest} s: all times are shifted to begin at zero, since ROS has \
         no negative time stamps"
    ))
}

/// Size of a file, or of the files in a folder, bytes. Errors are those of the reader.
fn size(path: &Path) -> f64 {
    let files = fs::read_dir(path).into_iter().flatten();
    let files = files.filter_map(|entry| entry.ok()?.metadata().ok());
    let all = fs::metadata(path).into_iter().chain(files);
    all.map(|file| file.len() as f64).sum()
}

/// Replaces infinite numbers, which are not written, by NaN. Returns a warning for each field that has some.
fn clear_infinite(points: &mut PointSweeps) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for sweep in &mut points.sweeps {
        for (field, count) in sweep.clear_infinite() {
            *counts.entry(field).or_default() += count;
        }
    }
    let warning = |(field, count)| {
        let values = counted(count, "infinite value");
        format!("{field} has {values} in the input, written as NaN (missing)")
    };
    counts.into_iter().map(warning).collect()
}
