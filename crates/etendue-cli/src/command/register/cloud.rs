//! Inputs of a registration: point clouds and scans of logs.

use crate::device::device;
use crate::failure::Failure;
use crate::source;
use etendue::io::FormatError;
use etendue::io::points::read_cloud;
use etendue::sensors::Scan;
use nalgebra::Point3;
use std::path::Path;

/// Named points.
pub struct NamedCloud {
    /// The argument.
    pub name: String,
    /// Positions, m; those of a planar scan have z = 0.
    pub points: Vec<Point3<f64>>,
    /// Warnings of the reader.
    pub warnings: Vec<String>,
}

impl NamedCloud {
    /// Reads `FILE` or `LOG#NUMBER`.
    pub fn read(argument: &str) -> Result<Self, Failure> {
        let mut cloud = match source::numbered(argument) {
            Some((log, number)) => of_scan(argument, Path::new(log), Some(number))?,
            None => of_file(argument)?,
        };
        cloud.remove_points_at_origin();
        Ok(cloud)
    }

    /// The name without the folder.
    pub fn short_name(&self) -> &str {
        self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name)
    }

    /// Whether every point is in the plane z = 0.
    pub fn is_planar(&self) -> bool {
        self.points.iter().all(|point| point.z == 0.0)
    }

    /// Removes points at the position of the sensor, which many drivers write for beams without a
    /// return.
    fn remove_points_at_origin(&mut self) {
        let before = self.points.len();
        self.points.retain(|point| point.coords.norm() > 0.0);
        let removed = before - self.points.len();
        if removed > 0 {
            self.warnings.push(format!(
                "{}: {removed} points at the origin are no measurements and are ignored",
                self.name
            ));
        }
    }
}

fn of_file(name: &str) -> Result<NamedCloud, Failure> {
    match read_cloud(Path::new(name), &device(None)?) {
        Ok(cloud) => Ok(NamedCloud {
            name: name.into(),
            points: cloud.points,
            warnings: named(name, cloud.warnings),
        }),
        // Not a cloud: it may be a log with a single scan
        Err(FormatError::Unsupported { .. }) => of_scan(name, Path::new(name), None),
        Err(error) => Err(error.into()),
    }
}

fn of_scan(name: &str, path: &Path, number: Option<usize>) -> Result<NamedCloud, Failure> {
    let (scan, warnings) = source::scan(path, number)?;
    Ok(NamedCloud {
        name: name.into(),
        points: points(&scan),
        warnings: named(name, warnings),
    })
}

fn points(scan: &Scan) -> Vec<Point3<f64>> {
    let beams = scan.azimuths.iter().zip(&scan.readings);
    let point = |(azimuth, reading): (&f64, &etendue::sensors::RangeReading)| {
        let range = reading.range()?;
        let (sin, cos) = azimuth.sin_cos();
        Some(Point3::new(range * cos, range * sin, 0.0))
    };
    beams.filter_map(point).collect()
}

fn named(name: &str, warnings: Vec<String>) -> Vec<String> {
    let named = |warning| format!("{name}: {warning}");
    warnings.into_iter().map(named).collect()
}
