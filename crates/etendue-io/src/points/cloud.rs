//! Point clouds: positions and intensities of every format of points.
//!
//! Points without a finite position (no return, in organised clouds) are left out, with a warning
//! that counts them.

use super::format::{PointFormat, parse_points};
use crate::input::read_bytes;
use crate::packets::PacketSource;
use crate::precision::single;
use crate::table::{INTENSITY_NAMES, PointTable};
use crate::{FileLocation, FormatError};
use nalgebra::Point3;
use std::path::Path;

/// Points, with intensities if the file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCloud {
    /// Positions, m.
    pub points: Vec<Point3<f64>>,
    /// The field `intensity` (or `reflectance`, `reflectivity`) of each point, or empty.
    pub intensities: Vec<f32>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Reads a point cloud; the content determines the format (for KITTI, the ending `.bin`).
/// `source` describes the lidar whose packets a capture holds.
///
/// # Errors
/// If the file cannot be read, is damaged, or is of no known format.
pub fn read_cloud(path: &Path, source: &PacketSource) -> Result<PointCloud, FormatError> {
    parse_cloud(path, &read_bytes(path)?, source)
}

/// Reads the content of a point cloud; `path` is named in errors.
///
/// # Errors
/// If the content is damaged or of no known format.
///
/// # Example
/// ```
/// use etendue_io::points::parse_cloud;
/// use etendue_io::packets::PacketSource;
/// let csv = b"x,y,z\n1,2,3\n4,5,6\n";
/// let cloud = parse_cloud("a.csv".as_ref(), csv, &PacketSource::default()).unwrap();
/// assert_eq!(cloud.points[1], [4.0, 5.0, 6.0].into());
/// ```
pub fn parse_cloud(
    path: &Path,
    bytes: &[u8],
    source: &PacketSource,
) -> Result<PointCloud, FormatError> {
    let points = parse_points(path, bytes.to_vec(), source)?;
    let warnings = points.warnings.clone();
    let mut cloud = PointCloud::of_table(&points.together());
    cloud.warnings.splice(0..0, warnings);
    if cloud.points.is_empty() {
        let message = "the cloud holds no point";
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            "give a cloud with points",
        ));
    }
    Ok(cloud)
}

/// Whether the content looks like a point cloud.
pub fn is_cloud(bytes: &[u8]) -> bool {
    PointFormat::of_content(Path::new(""), bytes).is_some()
}

impl PointCloud {
    /// The positions and intensities of a table; points without a finite position are left out,
    /// with a warning.
    pub fn of_table(table: &PointTable) -> Self {
        let intensity = INTENSITY_NAMES.iter().find_map(|name| table.column(name));
        let axes = ["x", "y", "z"].map(|name| table.column(name));
        let mut cloud = Self::default();
        for point in 0..table.points {
            let position = axes.map(|axis| axis.map_or(f64::NAN, |axis| axis.number(point)));
            if position.iter().all(|coordinate| coordinate.is_finite()) {
                cloud.points.push(position.into());
                let intensity = intensity.map(|values| single(values.number(point)));
                cloud.intensities.extend(intensity);
            }
        }
        let left_out = table.points - cloud.points.len();
        if left_out > 0 {
            let warning = format!("{left_out} points are not finite and were left out");
            cloud.warnings.push(warning);
        }
        cloud
    }
}
