//! What a point cloud holds.

use super::scene::write_extent;
use crate::device::device;
use crate::failure::Failure;
use etendue::io::points::read_cloud;
use serde::Serialize;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// A point cloud as it is reported.
#[derive(Serialize)]
pub struct CloudReport {
    file: String,
    points: usize,
    from_m: [f64; 3],
    to_m: [f64; 3],
    /// Least and greatest intensity, where the cloud has intensities.
    intensities: Option<[f32; 2]>,
    warnings: Vec<String>,
}

/// Bytes in which a PLY file's header names its elements.
const HEADER: u64 = 4096;

/// Whether a PLY file is a cloud: its header has no faces. A file that cannot be read has none.
pub fn is_ply_cloud(file: &Path) -> bool {
    let is_face = |line: &str| {
        ["element face ", "element tristrips "]
            .iter()
            .any(|face| line.starts_with(face))
    };
    head(file).is_some_and(|text| !text.lines().any(is_face))
}

/// Whether a table of comma-separated values holds points, as clouds are written, and no scan log.
pub fn is_csv_cloud(file: &Path) -> bool {
    let names = |text: String| {
        text.lines()
            .find(|line| !line.starts_with('#'))
            .map(str::to_owned)
    };
    { head(file).and_then(names) }.is_some_and(|names| names.starts_with("x,y,z"))
}

/// The beginning of a file as text.
fn head(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).ok()?;
    opened.take(HEADER).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

impl CloudReport {
    /// Reads the cloud and counts.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let cloud = read_cloud(file, &device(None)?)?;
        let corner = |choose: fn(f64, f64) -> f64, start: f64| {
            std::array::from_fn(|axis| {
                let coordinates = cloud.points.iter().map(|point| point[axis]);
                coordinates.fold(start, choose)
            })
        };
        let (least, greatest) = (
            cloud.intensities.iter().copied().reduce(f32::min),
            cloud.intensities.iter().copied().reduce(f32::max),
        );
        Ok(Self {
            file: file.display().to_string(),
            points: cloud.points.len(),
            from_m: corner(f64::min, f64::INFINITY),
            to_m: corner(f64::max, f64::NEG_INFINITY),
            intensities: least
                .zip(greatest)
                .map(|(least, greatest)| [least, greatest]),
            warnings: cloud.warnings,
        })
    }

    /// The report in words.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text)
            .expect("writing to a string does not fail");
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}: cloud of {} points", self.file, self.points)?;
        write_extent(out, self.from_m, self.to_m)?;
        if let Some([least, greatest]) = self.intensities {
            writeln!(out, "  intensities from {least} to {greatest}")?;
        }
        self.warnings
            .iter()
            .try_for_each(|warning| writeln!(out, "  warning: {warning}"))
    }
}
