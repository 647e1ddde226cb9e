//! `etendue convert`.

use crate::device::device;
use crate::failure::Failure;
use crate::formats;
use crate::output::{commit, print, warn};
use clap::Args;
use etendue::io::output::OutputSet;
use etendue::io::points::{LossyFields, PointFormat, lossy_fields, read_points_of_topic};
use etendue::io::table::{Encoding, PointSweeps, PointTable};
use std::path::PathBuf;

/// Arguments of `etendue convert`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue convert scan.mcap scan.las\n          \
    etendue convert drive.pcap drive.mcap\n          \
    etendue convert rig.mcap front.las --topic /front/points\n          \
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
    /// Metadata (JSON) of the Ouster sensor of a capture, or calibration (db.xml or ROS YAML) of
    /// the Velodyne sensor [default: the .json file with the name of the capture]
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// Topic of a recording; required if the recording has several sensors in different frames
    #[arg(long, value_name = "NAME")]
    topic: Option<String>,
    /// Sweep to convert: a rotation of a capture or a cloud of a recording, counted from 0, or the
    /// points with that number in the column sweep of a table [default: all]
    #[arg(long, value_name = "N")]
    sweep: Option<usize>,
    /// Write .pcd and .ply files as text
    #[arg(long)]
    ascii: bool,
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
        let device = device(self.metadata.as_deref())?;
        let points = read_points_of_topic(&self.from, &device, self.topic.as_deref())?;
        let points = self.select(points)?;
        let sweeps = points.sweeps.len();
        let mut warnings = points.warnings.clone();
        let mut table = points.together();

        // Warn about fields that the format omits or changes
        let fields = lossy_fields(&table, format);
        if fields.points == 0 {
            return Err(self.no_position());
        }
        warnings.extend(fields.warnings.iter().cloned());
        if format == PointFormat::Mcap {
            warnings.extend(shift_to_zero(&mut table));
        }
        warn(&warnings);

        // Write
        let mut outputs = OutputSet::new();
        let encoding = if self.ascii {
            Encoding::Ascii
        } else {
            Encoding::Binary
        };
        format.write(&mut outputs, &self.to, &table, encoding)?;
        commit(outputs)?;
        print(&self.summary(sweeps, &table, &fields, &warnings))
    }

    /// Summary of the read and the written points.
    fn summary(
        &self,
        sweeps: usize,
        table: &PointTable,
        fields: &LossyFields,
        warnings: &[String],
    ) -> String {
        let with_warnings = if warnings.is_empty() {
            ""
        } else {
            ", with warnings"
        };
        format!(
            "{}: sweeps: {sweeps}, {} points with {}{with_warnings}\n{}  wrote {}\n",
            self.from.display(),
            fields.points,
            fields.fields.join(" "),
            dropped(table, fields),
            self.to.display()
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
        if number >= sweeps {
            return Err(Failure::usage(
                format!(
                    "{} has no sweep {number}: it has {sweeps} sweeps",
                    self.from.display()
                ),
                format!("give --sweep 0 to {}", sweeps.saturating_sub(1)),
            ));
        }
        points.sweeps = vec![points.sweeps.swap_remove(number)];
        Ok(points)
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
