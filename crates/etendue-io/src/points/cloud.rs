//! Point clouds: positions and intensities of every format of [`points`](super), and
//! legacy VTK.
//!
//! A point whose position is not finite (what organised clouds hold where nothing came back) is
//! left out, with a warning that counts them.

use super::vtk;
use super::{is_points, parse_points};
use crate::input::read_bytes;
use crate::packets::PacketSource;
use crate::precision::single;
use crate::table::PointTable;
use crate::{FormatError, Place};
use nalgebra::Point3;
use std::path::Path;

/// Points, with intensities if the file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// Positions, m.
    pub points: Vec<Point3<f64>>,
    /// The field `intensity` (or `reflectance`, `reflectivity`) of each point, or empty.
    pub intensities: Vec<f32>,
    /// What was odd but did not prevent reading.
    pub warnings: Vec<String>,
}

/// Reads a point cloud; the format is told from the content (KITTI's by the ending `.bin`).
/// `source` describes the lidar whose packets a capture holds.
///
/// # Errors
/// Where the file cannot be read, is damaged, or is of no known format.
pub fn read_cloud(path: &Path, source: &PacketSource) -> Result<Cloud, FormatError> {
    parse_cloud(path, &read_bytes(path)?, source)
}

/// Reads the content of a point cloud; `path` is named in errors.
///
/// # Errors
/// Where the content is damaged or of no known format.
///
/// # Example
/// ```
/// use etendue_io::points::parse_cloud;
/// use etendue_io::packets::PacketSource;
/// let csv = b"x,y,z\n1,2,3\n4,5,6\n";
/// let cloud = parse_cloud("a.csv".as_ref(), csv, &PacketSource::default()).unwrap();
/// assert_eq!(cloud.points[1], [4.0, 5.0, 6.0].into());
/// ```
pub fn parse_cloud(path: &Path, bytes: &[u8], source: &PacketSource) -> Result<Cloud, FormatError> {
    let cloud = if is_vtk(bytes) {
        vtk::parse(path, bytes)?
    } else {
        let points = parse_points(path, bytes.to_vec(), source)?;
        let warnings = points.warnings.clone();
        let mut cloud = Cloud::of_table(&points.together());
        cloud.warnings.splice(0..0, warnings);
        cloud
    };
    if cloud.points.is_empty() {
        let message = "the cloud holds no point";
        return Err(FormatError::malformed(
            path,
            Place::File,
            message,
            "give a cloud with points",
        ));
    }
    Ok(cloud)
}

/// Whether the content looks like a point cloud.
pub fn is_cloud(bytes: &[u8]) -> bool {
    is_vtk(bytes) || is_points(Path::new(""), bytes)
}

fn is_vtk(bytes: &[u8]) -> bool {
    bytes.starts_with(b"# vtk DataFile")
}

impl Cloud {
    /// The positions and intensities of a table; points without a finite position are left out,
    /// with a warning.
    pub fn of_table(table: &PointTable) -> Self {
        let intensity = INTENSITY_NAMES.iter().find_map(|name| table.column(name));
        let axes = ["x", "y", "z"].map(|name| table.column(name));
        let mut collector = Collector::default();
        for point in 0..table.points {
            let position = axes.map(|axis| axis.map_or(f64::NAN, |axis| axis.number(point)));
            collector.add(position, intensity.map(|values| values.number(point)));
        }
        collector.finish()
    }
}

/// Names under which intensity is found.
pub(super) const INTENSITY_NAMES: &[&str] = &["intensity", "reflectance", "reflectivity"];

/// Collects points and counts those that are not finite.
#[derive(Default)]
pub(super) struct Collector {
    cloud: Cloud,
    left_out: usize,
}

impl Collector {
    pub(super) fn add(&mut self, position: [f64; 3], intensity: Option<f64>) {
        if !position.iter().all(|coordinate| coordinate.is_finite()) {
            self.left_out += 1;
            return;
        }
        self.cloud.points.push(position.into());
        self.cloud.intensities.extend(intensity.map(single));
    }

    pub(super) fn finish(mut self) -> Cloud {
        if self.left_out > 0 {
            let warning = format!("{} points are not finite and were left out", self.left_out);
            self.cloud.warnings.push(warning);
        }
        self.cloud
    }
}
