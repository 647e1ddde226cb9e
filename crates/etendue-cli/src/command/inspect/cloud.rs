//! What a point cloud holds.

use super::scene::write_extent;
use crate::failure::Failure;
use etendue::formats::cloud::read_cloud;
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
    let mut header = Vec::new();
    let read =
        std::fs::File::open(file).and_then(|file| file.take(HEADER).read_to_end(&mut header));
    let text = String::from_utf8_lossy(&header);
    let has_faces = text
        .lines()
        .any(|line| line.starts_with("element face ") || line.starts_with("element tristrips "));
    read.is_ok() && !has_faces
}

impl CloudReport {
    /// Reads the cloud and counts.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let cloud = read_cloud(file)?;
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
