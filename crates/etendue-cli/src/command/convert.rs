//! `etendue convert`.

use crate::device::device;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::print;
use clap::Args;
use etendue::formats::FormatError;
use etendue::formats::output::{
    Encoding, OutputSet, PointTable, write_e57, write_kitti, write_las, write_parquet, write_pcd,
    write_ply, write_table_csv, write_table_npz,
};
use etendue::formats::points::{Points, read_points};
use etendue::formats::ros2::{Recorder, Topics};
use nalgebra::Isometry3;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Arguments of `etendue convert`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue convert scan.mcap scan.las\n          \
    etendue convert drive.pcap drive.mcap\n          \
    etendue convert drive.pcap turn.pcd --metadata os1.json --sweep 3\n          \
    etendue convert drive.pcap drive.laz --metadata HDL64e_s3.yaml\n          \
    etendue convert table.parquet cloud.laz\n\n\
    Fields keep their names where the format has room for them. LAS holds steps of 0.1 mm, KITTI \
    positions and intensities alone."
)]
pub struct Convert {
    /// What is read: .pcd, .ply, .csv, .npz, .parquet, .las, .laz, .e57, KITTI's .bin, .mcap, or a
    /// .pcap or .pcapng capture of Velodyne (VLP-16, VLP-32C, HDL-32E; HDL-64E and VLS-128 with
    /// --metadata), Hesai (Pandar40P, XT32) or Ouster packets
    from: PathBuf,
    /// What is written, by its ending: .pcd, .ply, .csv, .npz, .las, .laz, .e57, .bin, .mcap or
    /// .parquet
    to: PathBuf,
    /// Metadata (JSON) of the Ouster sensor that sent the packets, or calibration (db.xml, or ROS's
    /// YAML) of the Velodyne; without it, the file of the capture's name that ends in .json
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// Take one sweep (a turn of a capture, a cloud of a recording), counted from 0; without it,
    /// all
    #[arg(long, value_name = "N")]
    sweep: Option<usize>,
    /// Write .pcd and .ply as text
    #[arg(long)]
    ascii: bool,
}

/// Endings that are written.
const ENDINGS: [&str; 10] = [
    "pcd", "ply", "csv", "npz", "las", "laz", "e57", "bin", "mcap", "parquet",
];

impl Convert {
    /// Reads, writes and says what.
    pub fn run(self) -> Result<(), Failure> {
        let ending = self.ending()?;
        let device = device(self.metadata.as_deref())?;
        let points = self.chosen(read_points(&self.from, &device)?)?;
        for warning in &points.warnings {
            eprintln!("warning: {warning}");
        }
        let (sweeps, warnings) = (points.sweeps.len(), points.warnings.len());
        let table = points.together();
        let _guard = interrupt::writing();
        let mut outputs = OutputSet::new();
        self.write(&mut outputs, &ending, &table)?;
        outputs.commit()?;
        let (count, fields) = (table.points, names(&table));
        let odd = if warnings > 0 { ", with warnings" } else { "" };
        print(&format!(
            "{}: sweeps: {sweeps}, {count} points with {fields}{odd}\n  wrote {}\n",
            self.from.display(),
            self.to.display()
        ))
    }

    fn ending(&self) -> Result<String, Failure> {
        let ending = self.to.extension().map(OsStr::to_string_lossy);
        let ending = ending.unwrap_or_default().to_lowercase();
        if ENDINGS.contains(&ending.as_str()) {
            return Ok(ending);
        }
        Err(Failure::Asked {
            message: format!(
                "cannot write {}: its ending says no format",
                self.to.display()
            ),
            remedy: format!("end it in one of: {}", ENDINGS.join(", ")),
        })
    }

    /// The sweep asked for, or all.
    fn chosen(&self, mut points: Points) -> Result<Points, Failure> {
        let Some(number) = self.sweep else {
            return Ok(points);
        };
        let sweeps = points.sweeps.len();
        if number >= sweeps {
            return Err(Failure::Asked {
                message: format!(
                    "{} has no sweep {number}: it holds {sweeps}",
                    self.from.display()
                ),
                remedy: format!("give --sweep 0 to {}", sweeps.saturating_sub(1)),
            });
        }
        points.sweeps = vec![points.sweeps.swap_remove(number)];
        Ok(points)
    }

    fn write(
        &self,
        outputs: &mut OutputSet,
        ending: &str,
        table: &PointTable,
    ) -> Result<(), FormatError> {
        let encoding = if self.ascii {
            Encoding::Ascii
        } else {
            Encoding::Binary
        };
        match ending {
            "pcd" => write_pcd(outputs, &self.to, table, encoding),
            "ply" => write_ply(outputs, &self.to, table, encoding),
            "csv" => write_table_csv(outputs, &self.to, table),
            "npz" => write_table_npz(outputs, &self.to, table),
            "las" | "laz" => write_las(outputs, &self.to, table),
            "e57" => write_e57(outputs, &self.to, table),
            "bin" => write_kitti(outputs, &self.to, table),
            "parquet" => write_parquet(outputs, &self.to, table),
            _ => write_mcap(outputs, &self.to, table),
        }
    }
}

fn names(table: &PointTable) -> String {
    let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
    names.join(" ")
}

/// Every sweep as a cloud, stamped with its earliest time, in a sensor's frame that stands still.
fn write_mcap(outputs: &mut OutputSet, path: &Path, table: &PointTable) -> Result<(), FormatError> {
    let mut recorder = Recorder::in_memory(Topics::default())?;
    for sweep in table.sweeps() {
        let (time, sweep) = sweep.stamped();
        recorder.record_cloud(&sweep, time, &Isometry3::identity())?;
    }
    let bytes = recorder.into_bytes()?;
    outputs.add(path, |file| file.write_all(&bytes))
}
