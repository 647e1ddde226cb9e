//! Point clouds: PCD, PLY, legacy VTK and CSV.
//!
//! A point whose position is not finite (what organised clouds hold where nothing came back) is
//! left out, with a warning that counts them.

mod csv;
pub(crate) mod pcd;
mod vtk;

use crate::input::read_bytes;
use crate::ply::PlyFile;
use crate::precision::single;
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

/// Reads a point cloud; the format is told from the content.
///
/// # Errors
/// Where the file cannot be read, is damaged, or is of no known format.
pub fn read_cloud(path: &Path) -> Result<Cloud, FormatError> {
    parse_cloud(path, &read_bytes(path)?)
}

/// Reads the content of a point cloud; `path` is named in errors.
///
/// # Errors
/// Where the content is damaged or of no known format.
///
/// # Example
/// ```
/// use etendue_formats::cloud::parse_cloud;
/// let cloud = parse_cloud("a.csv".as_ref(), b"x,y,z\n1,2,3\n4,5,6\n").unwrap();
/// assert_eq!(cloud.points[1], [4.0, 5.0, 6.0].into());
/// ```
pub fn parse_cloud(path: &Path, bytes: &[u8]) -> Result<Cloud, FormatError> {
    let cloud = match Format::of(bytes) {
        Some(Format::Ply) => parse_ply(path, bytes),
        Some(Format::Vtk) => vtk::parse(path, bytes),
        Some(Format::Pcd) => pcd::parse(path, bytes),
        Some(Format::Csv) => csv::parse(path, bytes),
        None => Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "this is no point cloud of a known format".into(),
            remedy: "give a .pcd, .ply or legacy .vtk file, or a CSV with x, y and z".into(),
        }),
    }?;
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
    Format::of(bytes).is_some()
}

enum Format {
    Ply,
    Vtk,
    Pcd,
    Csv,
}

impl Format {
    fn of(bytes: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        if head.starts_with("ply") {
            Some(Self::Ply)
        } else if head.starts_with("# vtk DataFile") {
            Some(Self::Vtk)
        } else if head.starts_with("# .PCD") || head.starts_with("VERSION") {
            Some(Self::Pcd)
        } else {
            csv::is_csv(&head).then_some(Self::Csv)
        }
    }
}

fn parse_ply(path: &Path, bytes: &[u8]) -> Result<Cloud, FormatError> {
    let ply = PlyFile::parse(path, bytes)?;
    let columns = ply.element("vertex").map(|vertices| {
        let find = |name: &str| vertices.numbers(name);
        let intensity = INTENSITY_NAMES.iter().find_map(|name| find(name));
        (find("x"), find("y"), find("z"), intensity)
    });
    let Some((Some(x), Some(y), Some(z), intensity)) = columns else {
        return Err(FormatError::malformed(
            path,
            Place::File,
            "there is no element \"vertex\" with the properties x, y and z",
            "export the cloud again with positions",
        ));
    };
    let mut collector = Collector::default();
    for index in 0..x.len() {
        collector.add(
            [x[index], y[index], z[index]],
            intensity.map(|values| values[index]),
        );
    }
    Ok(collector.finish())
}

/// Names under which intensity is found.
const INTENSITY_NAMES: &[&str] = &["intensity", "reflectance", "reflectivity"];

/// Collects points and counts those that are not finite.
#[derive(Default)]
struct Collector {
    cloud: Cloud,
    left_out: usize,
}

impl Collector {
    fn add(&mut self, position: [f64; 3], intensity: Option<f64>) {
        if !position.iter().all(|coordinate| coordinate.is_finite()) {
            self.left_out += 1;
            return;
        }
        self.cloud.points.push(position.into());
        self.cloud.intensities.extend(intensity.map(single));
    }

    fn finish(mut self) -> Cloud {
        if self.left_out > 0 {
            let warning = format!("{} points are not finite and were left out", self.left_out);
            self.cloud.warnings.push(warning);
        }
        self.cloud
    }
}
