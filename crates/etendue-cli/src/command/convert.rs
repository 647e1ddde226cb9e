//! `etendue convert`.

use crate::bag;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::formats;
use crate::memory::Memory;
use crate::output::{commit, counted, list_written, print_text, warn};
use clap::{Args, ValueEnum};
use etendue::io::output::{OpenOutput, OutputSet};
use etendue::io::points::{
    LossyFields, McapSweeps, Placement, PointFormat, RecordedSweep, for_each_sweep,
    has_separate_sweeps, lossy_fields,
};
use etendue::io::sequence::bag_files;
use etendue::io::table::{Encoding, PointTable};
use nalgebra::Isometry3;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::ops::ControlFlow;
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
    /// Frame of the points. The poses are those of the transforms of a bag, or of the odometry of a scan log, at the time
    /// of each point
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
    /// The root of the transforms of a bag, or the frame of the odometry
    World,
}

/// Help on the input.
fn input_help() -> String {
    format!(
        "Input: {}. A .bin file is a Velodyne scan of KITTI; a capture (.pcap, .pcapng) contains packets of \
         Velodyne (VLP-16, VLP-32C, HDL-32E; HDL-64E and VLS-128 with --metadata), Hesai (Pandar40P, XT32, XT16, QT64) \
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
        let format = self.format()?;
        self.check_memory(format)?;

        // Write the sweeps one after another, or collect them
        let mut conversion = Conversion::new(&self, format);
        let mut warnings = self.for_each_sweep(|sweep| conversion.add(sweep))?;
        let Conversion {
            mut outputs,
            target,
            mut totals,
            ..
        } = conversion;
        self.check_selection(&totals)?;

        // End the files
        warnings.extend(totals.warnings());
        match target {
            None | Some(Target::Files) => {}
            Some(Target::Mcap(recording, file)) => {
                recording.finish()?;
                outputs.close(file)?;
            }
            Some(Target::Table(tables)) => {
                let mut table = PointTable::together(tables);
                totals.fields = lossy_fields(&table, format);
                warnings.append(&mut totals.fields.warnings);
                if format == PointFormat::Mcap {
                    warnings.extend(shift_to_zero(&mut table));
                }
                if totals.fields.points > 0 {
                    format.write(&mut outputs, &self.to, &table, self.encoding())?;
                }
            }
        }
        if totals.fields.points == 0 {
            return Err(self.no_position());
        }
        warn(&warnings);
        commit(outputs)?;
        // A bag has one recording: files of single sweeps are none
        if format == PointFormat::Mcap && !self.per_sweep {
            list_written(bag::describe(&self.to)?.as_slice());
        }
        print_text(&self.summary(&totals, !warnings.is_empty()))
    }

    /// Visits the sweeps of the input. A table whose field `sweep` distinguishes them is one, unless they are selected or
    /// written apart. Returns the warnings of the reader.
    fn for_each_sweep(
        &self,
        mut visit: impl FnMut(RecordedSweep) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let are_apart = self.sweep.is_some() || self.per_sweep || has_separate_sweeps(&self.from);
        if are_apart {
            let device = self.lidar.device()?;
            let options = self
                .lidar
                .read_options(&device, self.lidar.topic.as_deref());
            return Ok(for_each_sweep(&self.from, options, visit)?.warnings);
        }
        let mut points = self.lidar.points(&self.from)?;
        let warnings = std::mem::take(&mut points.warnings);
        for sweep in points.into_recorded() {
            if visit(sweep)?.is_break() {
                break;
            }
        }
        Ok(warnings)
    }

    /// Encoding of .pcd and .ply files.
    fn encoding(&self) -> Encoding {
        if self.ascii {
            Encoding::Ascii
        } else {
            Encoding::Binary
        }
    }

    /// Checks the memory of the points of the input, unless one sweep is in memory at a time.
    fn check_memory(&self, format: PointFormat) -> Result<(), Failure> {
        // The clouds of a folder have no stamps, which their recording needs
        let is_recording = !self.from.is_dir() || !bag_files(&self.from)?.is_empty();
        let is_recorded = format == PointFormat::Mcap && is_recording;
        let are_apart = self.sweep.is_some() || self.per_sweep || is_recorded;
        if are_apart && has_separate_sweeps(&self.from) {
            return Ok(());
        }
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
            "convert sweeps of a recording with --per-sweep, or parts of the input",
        )
    }

    /// File of a sweep.
    fn file_of(&self, number: usize) -> PathBuf {
        let stem = self.to.file_stem().unwrap_or_default().to_string_lossy();
        let ending = self.to.extension().unwrap_or_default().to_string_lossy();
        self.to
            .with_file_name(format!("{stem}-{number:04}.{ending}"))
    }

    /// Summary of the read and the written points.
    fn summary(&self, totals: &Totals, has_warnings: bool) -> String {
        let Totals {
            written, fields, ..
        } = totals;
        let files = match written {
            0 | 1 if !self.per_sweep => self.to.display().to_string(),
            0 | 1 => self.file_of(0).display().to_string(),
            _ => format!(
                "{} to {}",
                self.file_of(0).display(),
                self.file_of(written - 1).display()
            ),
        };
        let with_warnings = if has_warnings { ", with warnings" } else { "" };
        format!(
            "{}: {}, {} points with {}{with_warnings}\n{}  wrote {}\n",
            self.from.display(),
            counted(totals.sweeps, "sweep"),
            fields.points,
            fields.fields.join(" "),
            dropped(totals.points, fields),
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
            Failure::argument(
                format!("cannot write {}: unknown file extension", self.to.display()),
                format!("use one of the extensions {endings}"),
            )
        })
    }

    /// Checks that the recording has the selected sweep.
    fn check_selection(&self, totals: &Totals) -> Result<(), Failure> {
        let Some(number) = self.sweep.filter(|_| totals.sweeps == 0) else {
            return Ok(());
        };
        let [first, last] = totals.numbers.unwrap_or_default();
        Err(Failure::usage(
            format!(
                "{} has no sweep {number}: its sweeps are {first} to {last}",
                self.from.display()
            ),
            format!("give --sweep {first} to {last}"),
        ))
    }
}

/// Where converted sweeps go.
enum Target {
    /// One file per sweep.
    Files,
    /// One recording.
    Mcap(Box<McapSweeps<BufWriter<File>>>, OpenOutput),
    /// One table.
    Table(Vec<PointTable>),
}

/// Counts and irregularities of converted sweeps.
#[derive(Default)]
struct Totals {
    /// Least and greatest number of the sweeps that were read.
    numbers: Option<[usize; 2]>,
    /// Number of selected sweeps, and of their points.
    sweeps: usize,
    points: usize,
    /// Number of files of one sweep.
    written: usize,
    /// Stored points and fields.
    fields: LossyFields,
    /// Number of infinite values by field.
    infinite: BTreeMap<String, usize>,
    /// Number of sweeps with values that the format changes, after the first.
    more_changes: usize,
    placement: Placement,
    /// Pose of the sensor at the first sweep.
    first_pose: Option<Isometry3<f64>>,
    /// Whether the sensor moves between the sweeps, and its poses are not written.
    loses_motion: bool,
}

/// A conversion in progress.
struct Conversion<'a> {
    arguments: &'a Convert,
    format: PointFormat,
    outputs: OutputSet,
    /// `None` before the first sweep.
    target: Option<Target>,
    totals: Totals,
}

impl<'a> Conversion<'a> {
    fn new(arguments: &'a Convert, format: PointFormat) -> Self {
        Self {
            arguments,
            format,
            outputs: OutputSet::new(),
            target: None,
            totals: Totals::default(),
        }
    }

    /// Converts the next sweep. Ends the reading after the selected one.
    fn add(&mut self, mut sweep: RecordedSweep) -> Result<ControlFlow<()>, Failure> {
        // Select
        let number = sweep.number;
        let [first, last] = self.totals.numbers.unwrap_or([number; 2]);
        self.totals.numbers = Some([first.min(number), last.max(number)]);
        if self
            .arguments
            .sweep
            .is_some_and(|selected| selected != number)
        {
            return Ok(ControlFlow::Continue(()));
        }
        self.totals.sweeps += 1;
        self.totals.points += sweep.table.points;

        // Place, and remove infinite numbers
        self.place(&mut sweep)?;
        for (field, count) in sweep.table.clear_infinite() {
            *self.totals.infinite.entry(field).or_default() += count;
        }

        // Write
        match self.target_of(&sweep)? {
            Target::Table(tables) => tables.push(sweep.table),
            Target::Mcap(recording, _) => {
                recording.add(sweep.clone())?;
                self.count_fields(&sweep.table);
            }
            Target::Files => {
                let file = self.arguments.file_of(self.totals.written);
                let encoding = self.arguments.encoding();
                self.format
                    .write(&mut self.outputs, &file, &sweep.table, encoding)?;
                self.totals.written += 1;
                self.count_fields(&sweep.table);
            }
        }
        Ok(match self.arguments.sweep {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        })
    }

    /// Where the sweeps go: stamped ones into a recording one after another.
    fn target_of(&mut self, sweep: &RecordedSweep) -> Result<&mut Target, Failure> {
        if self.target.is_none() {
            let to = &self.arguments.to;
            self.target = Some(if self.arguments.per_sweep {
                Target::Files
            } else if self.format == PointFormat::Mcap && sweep.stamp.is_some() {
                let file = self.outputs.open(to)?;
                let recording = McapSweeps::new(to, file.writer()?)?;
                Target::Mcap(Box::new(recording), file)
            } else {
                Target::Table(Vec::new())
            });
        }
        Ok(self.target.as_mut().expect("a target"))
    }

    /// Moves the points of a sweep to the requested frame.
    fn place(&mut self, sweep: &mut RecordedSweep) -> Result<(), Failure> {
        let Convert { frame, from, .. } = self.arguments;
        let Some(pose) = sweep.root_from_sensor() else {
            return match frame {
                FrameName::Sensor => Ok(()),
                _ => Err(Failure::usage(
                    format!("{} has no poses of the sensor", from.display()),
                    "give a bag with transforms (/tf) or a scan log with odometry, or use --frame sensor",
                )),
            };
        };
        let first = *self.totals.first_pose.get_or_insert(pose);
        let reference_from_root = match frame {
            FrameName::Sensor => {
                let is_kept = self.format == PointFormat::Mcap || self.arguments.per_sweep;
                self.totals.loses_motion |= pose != first && !is_kept;
                return Ok(());
            }
            FrameName::First => first.inverse(),
            FrameName::World => Isometry3::identity(),
        };
        self.totals.placement.place(sweep, &reference_from_root);
        Ok(())
    }

    /// Counts the points and fields of a sweep that the format stores.
    fn count_fields(&mut self, table: &PointTable) {
        let of_sweep = lossy_fields(table, self.format);
        let fields = &mut self.totals.fields;
        fields.points += of_sweep.points;
        let add = |all: &mut Vec<String>, more: Vec<String>| {
            let new: Vec<String> = more
                .into_iter()
                .filter(|name| !all.contains(name))
                .collect();
            all.extend(new);
        };
        add(&mut fields.fields, of_sweep.fields);
        add(&mut fields.dropped, of_sweep.dropped);
        match (fields.warnings.is_empty(), of_sweep.warnings.is_empty()) {
            (_, true) => {}
            (true, false) => fields.warnings = of_sweep.warnings,
            (false, false) => self.totals.more_changes += 1,
        }
    }
}

impl Totals {
    /// Warnings about poses that are not written, points outside of the poses, infinite numbers, and values that the
    /// format changes.
    fn warnings(&mut self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.loses_motion {
            warnings.push(
                "the sweeps are in the frames of a moving sensor, and their poses are left out: \
                 --frame world places them"
                    .to_owned(),
            );
        }
        warnings.extend(self.placement.warning());
        for (field, count) in &self.infinite {
            let values = counted(*count, "infinite value");
            warnings.push(format!(
                "{field} has {values} in the input, written as NaN (missing)"
            ));
        }
        warnings.append(&mut self.fields.warnings);
        if self.more_changes > 0 {
            let sweeps = counted(self.more_changes, "other sweep");
            warnings.push(format!("values of {sweeps} are changed too"));
        }
        warnings
    }
}

/// Line with the points and fields that the format cannot store; empty without any.
fn dropped(points: usize, fields: &LossyFields) -> String {
    let mut parts = Vec::new();
    let points = points - fields.points;
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
