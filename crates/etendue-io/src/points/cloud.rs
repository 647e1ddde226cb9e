//! Point clouds: positions and intensities from any point format.
//!
//! Points without a finite position (no return in organised clouds) are removed. A warning contains
//! their number.

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
    /// Intensity of each point (field `intensity`, `reflectance` or `reflectivity`), or empty.
    pub intensities: Vec<f32>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Reads a point cloud. The content determines the format (for KITTI, the ending `.bin`). `source`
/// describes the lidar of a packet capture.
///
/// # Errors
/// If the file cannot be read, is damaged, or has an unknown format.
pub fn read_cloud(path: &Path, source: &PacketSource) -> Result<PointCloud, FormatError> {
    parse_cloud(path, &read_bytes(path)?, source)
}

/// Parses a point cloud. Errors name `path`.
///
/// # Errors
/// If the content is damaged or has an unknown format.
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
        let message = "the cloud has no points";
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            "give a cloud with points",
        ));
    }
    Ok(cloud)
}

/// Whether the content has the format of a point cloud.
pub fn is_cloud(bytes: &[u8]) -> bool {
    PointFormat::of_content(Path::new(""), bytes).is_some()
}

impl PointCloud {
    /// Positions and intensities of a table. Points without a finite position are removed with a
    /// warning.
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
