//! Inputs of a registration: point clouds, and sweeps of recordings.

use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::source::{self, chosen, numbered_in};
use etendue::io::points::PointCloud;
use etendue::io::table::PointTable;
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
    /// Reads `FILE` or `FILE#NUMBER`.
    pub fn read(argument: &str, lidar: &LidarOptions) -> Result<Self, Failure> {
        let (file, number) = match source::numbered(argument) {
            Some((file, number)) => (file, Some(number)),
            None => (argument, None),
        };
        let mut cloud = of_sweep(argument, Path::new(file), number, lidar)?;
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
        let is_at_origin = |point: &Point3<f64>| point.x == 0.0 && point.y == 0.0 && point.z == 0.0;
        self.points.retain(|point| !is_at_origin(point));
        let removed = before - self.points.len();
        if removed > 0 {
            self.warnings.push(format!(
                "{}: {removed} points at the origin are no measurements and are ignored",
                self.name
            ));
        }
    }
}

/// A sweep by number; without one the only sweep of a recording, or all points of a cloud.
fn of_sweep(
    name: &str,
    path: &Path,
    number: Option<usize>,
    lidar: &LidarOptions,
) -> Result<NamedCloud, Failure> {
    let points = lidar.points_of_one(path)?;
    let mut warnings = points.warnings.clone();
    // Stamped sweeps of a moving lidar have different frames; the points of a table have one
    let is_recording = points.stamps.is_some();
    let table = if is_recording || number.is_some() {
        let sweeps = points.split().sweeps;
        let number = numbered_in(path, number, sweeps.len())?;
        chosen(sweeps, number)
    } else {
        PointTable::together(points.sweeps)
    };
    let cloud = PointCloud::of_table(&table);
    warnings.extend(cloud.warnings);
    if cloud.points.is_empty() {
        return Err(Failure::NothingToCompare { path: path.into() });
    }
    Ok(NamedCloud {
        name: name.into(),
        points: cloud.points,
        warnings: named(name, warnings),
    })
}

fn named(name: &str, warnings: Vec<String>) -> Vec<String> {
    let named = |warning| format!("{name}: {warning}");
    warnings.into_iter().map(named).collect()
}
