//! Report of a point cloud, or of the sweeps of a recording.

use super::scene::write_extent;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::output::{to_text, write_warnings};
use etendue::io::points::PointCloud;
use etendue::io::table::{PointSweeps, PointTable};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// Printed report of the points of a file.
#[derive(Serialize)]
pub struct CloudReport {
    file: String,
    /// Name of the lidar, from the packets of a capture.
    sensor: Option<String>,
    points: usize,
    sweeps: usize,
    /// Sweeps per second, for stamped sweeps.
    rate_hz: Option<f64>,
    /// Number of different values of the field `ring`.
    rings: Option<usize>,
    fields: Vec<String>,
    /// Whether every sweep has a pose.
    has_poses: bool,
    from_m: [f64; 3],
    to_m: [f64; 3],
    /// Smallest and largest intensity, where the cloud has intensities.
    intensities: Option<[f32; 2]>,
    warnings: Vec<String>,
}

/// Number of bytes at the start of a file that are searched for its elements or columns.
const HEADER: u64 = 4096;

/// Whether a PLY file is a mesh: its header has faces. False for an unreadable file.
pub fn is_ply_mesh(file: &Path) -> bool {
    let is_face = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let is_element = words.next() == Some("element");
        let is_face = matches!(words.next(), Some("face" | "tristrips"));
        is_element && is_face && words.next() != Some("0")
    };
    head(file).is_some_and(|text| text.lines().any(is_face))
}

/// Whether a CSV file is a table of points rather than a scan log.
pub fn is_csv_cloud(file: &Path) -> bool {
    let names = |text: String| {
        text.lines()
            .find(|line| !line.starts_with('#'))
            .map(str::to_owned)
    };
    let names = head(file).and_then(names);
    names.is_some_and(|names| names.starts_with("x,y,z"))
}

/// Start of a file as text.
fn head(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).ok()?;
    opened.take(HEADER).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

impl CloudReport {
    /// Reads the points of a file.
    pub fn of(file: &Path, lidar: &LidarOptions) -> Result<Self, Failure> {
        Ok(Self::of_points(file, lidar.points(file)?))
    }

    fn of_points(file: &Path, points: PointSweeps) -> Self {
        // Sweeps and their rate
        let sweeps = points.sweeps.iter().map(sweep_count).sum();
        let rate = points.stamps.as_deref().and_then(rate);
        let has_poses = points.world_from_sensor.is_some();
        let sensor = points.sensor.clone();
        let mut warnings = points.warnings.clone();

        // Fields, rings and extent of all points
        let table = points.together();
        let fields = table.columns.iter().map(|column| column.name.to_string());
        let fields: Vec<String> = fields.collect();
        let rings = table.column("ring").map(|rings| {
            let values = (0..table.points).map(|point| rings.number(point).to_bits());
            values.collect::<BTreeSet<u64>>().len()
        });
        let cloud = PointCloud::of_table(&table);
        let corner = |choose: fn(f64, f64) -> f64, start: f64| {
            std::array::from_fn(|axis| {
                let coordinates = cloud.points.iter().map(|point| point[axis]);
                coordinates.fold(start, choose)
            })
        };
        let intensities = || cloud.intensities.iter().copied();
        let smallest = intensities().reduce(f32::min);
        let largest = intensities().reduce(f32::max);
        warnings.extend(cloud.warnings.iter().cloned());
        Self {
            file: file.display().to_string(),
            sensor,
            points: cloud.points.len(),
            sweeps,
            rate_hz: rate,
            rings,
            fields,
            has_poses,
            from_m: corner(f64::min, f64::INFINITY),
            to_m: corner(f64::max, f64::NEG_INFINITY),
            intensities: smallest.zip(largest).map(<[f32; 2]>::from),
            warnings,
        }
    }

    /// The report as text.
    pub fn text(&self) -> String {
        to_text(|out| self.write(out))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        write!(out, "{}: cloud of {} points", self.file, self.points)?;
        match &self.sensor {
            Some(sensor) => writeln!(out, " of {sensor}")?,
            None => writeln!(out)?,
        }
        if self.sweeps > 1 {
            write!(out, "  {} sweeps", self.sweeps)?;
            if let Some(rate) = self.rate_hz {
                write!(out, ", {rate:.2} per second")?;
            }
            let poses = if self.has_poses { ", with poses" } else { "" };
            writeln!(out, "{poses}")?;
        }
        if let Some(rings) = self.rings {
            writeln!(out, "  rings: {rings}")?;
        }
        write_extent(out, self.from_m, self.to_m)?;
        if let Some([smallest, largest]) = self.intensities {
            writeln!(out, "  intensities from {smallest} to {largest}")?;
        }
        writeln!(out, "  fields: {}", self.fields.join(" "))?;
        write_warnings(out, &self.warnings)
    }
}

/// Number of sweeps of a table: of different values of its field `sweep`, or one.
fn sweep_count(table: &PointTable) -> usize {
    let Some(sweeps) = table.column("sweep") else {
        return 1;
    };
    let numbers = (0..table.points).map(|point| sweeps.number(point).to_bits());
    numbers.collect::<BTreeSet<u64>>().len().max(1)
}

/// Sweeps per second from the median interval of the stamps; `None` for fewer than two sweeps.
fn rate(stamps: &[f64]) -> Option<f64> {
    let mut intervals: Vec<f64> = stamps.windows(2).map(|two| two[1] - two[0]).collect();
    intervals.sort_by(f64::total_cmp);
    let median = *intervals.get(intervals.len() / 2)?;
    (median > 0.0).then(|| 1.0 / median)
}
