//! Report of a point cloud, or of the sweeps of a recording.

use super::scene::write_extent;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::output::{to_text, write_warnings};
use etendue::io::points::{PointCloud, RecordedSweep, for_each_sweep};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;
use std::ops::ControlFlow;
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
    /// Whether every sweep has a pose in the world, or one of odometry.
    has_poses: bool,
    has_odometry: bool,
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
    /// Reads the sweeps of a file, one after another.
    pub fn of(file: &Path, lidar: &LidarOptions) -> Result<Self, Failure> {
        let device = lidar.device()?;
        let options = lidar.read_options(&device, lidar.topic.as_deref());
        let mut totals = Totals::default();
        let read = for_each_sweep(file, options, |sweep| {
            totals.add(&sweep);
            Ok::<_, Failure>(ControlFlow::Continue(()))
        })?;
        let mut warnings = read.warnings;
        if totals.left_out > 0 {
            warnings.push(format!(
                "{} points are not finite and were left out",
                totals.left_out
            ));
        }
        if totals.at_origin > 0 {
            warnings.push(format!(
                "{} points are at the origin: they are no measurements, and `etendue register` ignores them",
                totals.at_origin
            ));
        }
        Ok(Self {
            file: file.display().to_string(),
            sensor: read.sensor,
            points: totals.points,
            sweeps: totals.sweeps,
            rate_hz: totals.stamps.as_deref().and_then(rate),
            rings: totals.has_rings.then_some(totals.rings.len()),
            fields: totals.fields.unwrap_or_default(),
            has_poses: totals.has_poses,
            has_odometry: totals.has_odometry,
            from_m: totals.from,
            to_m: totals.to,
            intensities: totals.intensities,
            warnings,
        })
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
            let poses = match (self.has_poses, self.has_odometry) {
                (true, _) => ", with poses",
                (false, true) => ", with odometry",
                (false, false) => "",
            };
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

/// Properties of the sweeps of a file.
struct Totals {
    sweeps: usize,
    /// Number of points with a finite position, and of the others.
    points: usize,
    left_out: usize,
    /// Number of points at the origin, which many drivers write for beams without a return.
    at_origin: usize,
    /// Stamps, s; `None` if a sweep has none.
    stamps: Option<Vec<f64>>,
    /// Whether every sweep has a pose in the world, or one of odometry.
    has_poses: bool,
    has_odometry: bool,
    /// The fields that every sweep has.
    fields: Option<Vec<String>>,
    /// Different values of the field `ring`, as bits, and whether every sweep has it.
    rings: BTreeSet<u64>,
    has_rings: bool,
    /// Corners of the points, m.
    from: [f64; 3],
    to: [f64; 3],
    /// Smallest and largest intensity.
    intensities: Option<[f32; 2]>,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            sweeps: 0,
            points: 0,
            left_out: 0,
            at_origin: 0,
            stamps: Some(Vec::new()),
            has_poses: true,
            has_odometry: true,
            fields: None,
            rings: BTreeSet::new(),
            has_rings: true,
            from: [f64::INFINITY; 3],
            to: [f64::NEG_INFINITY; 3],
            intensities: None,
        }
    }
}

impl Totals {
    fn add(&mut self, sweep: &RecordedSweep) {
        // Stamp, pose and fields
        let table = &sweep.table;
        self.sweeps += 1;
        self.has_poses &= sweep.world_from_sensor.is_some();
        self.has_odometry &= sweep.odometry.is_some();
        match (&mut self.stamps, sweep.stamp) {
            (Some(stamps), Some(stamp)) => stamps.push(stamp),
            (stamps, _) => *stamps = None,
        }
        let names = || table.columns.iter().map(|column| column.name.to_string());
        self.fields
            .get_or_insert_with(|| names().collect())
            .retain(|field| table.column(field).is_some());

        // Rings, extent and intensities of the points
        match table.column("ring") {
            Some(rings) => {
                let values = (0..table.points).map(|point| rings.number(point).to_bits());
                self.rings.extend(values);
            }
            None => self.has_rings = false,
        }
        let cloud = PointCloud::of_table(table);
        self.points += cloud.points.len();
        self.left_out += table.points - cloud.points.len();
        for point in &cloud.points {
            self.at_origin += usize::from(point.iter().all(|number| *number == 0.0));
            for axis in 0..3 {
                self.from[axis] = self.from[axis].min(point[axis]);
                self.to[axis] = self.to[axis].max(point[axis]);
            }
        }
        for intensity in cloud.intensities {
            let [smallest, largest] = self.intensities.unwrap_or([intensity; 2]);
            self.intensities = Some([smallest.min(intensity), largest.max(intensity)]);
        }
    }
}

/// Sweeps per second from the median interval of the stamps; `None` for fewer than two sweeps.
fn rate(stamps: &[f64]) -> Option<f64> {
    let mut intervals: Vec<f64> = stamps.windows(2).map(|two| two[1] - two[0]).collect();
    intervals.sort_by(f64::total_cmp);
    let median = *intervals.get(intervals.len() / 2)?;
    (median > 0.0).then(|| 1.0 / median)
}
