//! Report of a point cloud.

use super::scene::write_extent;
use crate::device::device;
use crate::failure::Failure;
use crate::output::{to_text, write_warnings};
use etendue::io::points::read_cloud;
use serde::Serialize;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// Printed report of a point cloud.
#[derive(Serialize)]
pub struct CloudReport {
    file: String,
    points: usize,
    from_m: [f64; 3],
    to_m: [f64; 3],
    /// Smallest and largest intensity, where the cloud has intensities.
    intensities: Option<[f32; 2]>,
    warnings: Vec<String>,
}

/// Number of bytes at the start of a file that are searched for its elements or columns.
const HEADER: u64 = 4096;

/// Whether a PLY file is a cloud: its header has no faces. False for an unreadable file.
pub fn is_ply_cloud(file: &Path) -> bool {
    let is_face = |line: &str| {
        ["element face ", "element tristrips "]
            .iter()
            .any(|face| line.starts_with(face))
    };
    head(file).is_some_and(|text| !text.lines().any(is_face))
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
    /// Reads a cloud.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let cloud = read_cloud(file, &device(None)?)?;
        let corner = |choose: fn(f64, f64) -> f64, start: f64| {
            std::array::from_fn(|axis| {
                let coordinates = cloud.points.iter().map(|point| point[axis]);
                coordinates.fold(start, choose)
            })
        };
        let intensities = || cloud.intensities.iter().copied();
        let smallest = intensities().reduce(f32::min);
        let largest = intensities().reduce(f32::max);
        Ok(Self {
            file: file.display().to_string(),
            points: cloud.points.len(),
            from_m: corner(f64::min, f64::INFINITY),
            to_m: corner(f64::max, f64::NEG_INFINITY),
            intensities: smallest.zip(largest).map(<[f32; 2]>::from),
            warnings: cloud.warnings,
        })
    }

    /// The report as text.
    pub fn text(&self) -> String {
        to_text(|out| self.write(out))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}: cloud of {} points", self.file, self.points)?;
        write_extent(out, self.from_m, self.to_m)?;
        if let Some([smallest, largest]) = self.intensities {
            writeln!(out, "  intensities from {smallest} to {largest}")?;
        }
        write_warnings(out, &self.warnings)
    }
}
