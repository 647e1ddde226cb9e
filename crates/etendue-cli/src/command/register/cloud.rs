//! Inputs of a registration: point clouds, and sweeps of recordings.

use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::source::{self, numbered_in};
use etendue::io::points::{PointCloud, for_each_sweep};
use etendue::io::table::PointTable;
use nalgebra::Point3;
use std::ops::ControlFlow;
use std::path::Path;

/// Named points.
pub struct NamedCloud {
    /// The argument.
    pub name: String,
    /// Positions, m; those of a planar scan have z = 0.
    pub points: Vec<Point3<f64>>,
    /// Warnings of the reader.
    pub warnings: Vec<String>,
    /// Whether the points are in another frame than that of their lidar, such as that of the world; `None` if the file
    /// has no ranges.
    pub is_moved: Option<bool>,
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
    let (table, mut warnings) = match number {
        Some(_) => lidar.sweep(path, number)?,
        None => all_points(path, lidar)?,
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
        is_moved: is_moved(&table),
    })
}

/// The only sweep of a recording, or all points of a cloud. Stamped sweeps of a moving lidar have different frames; the points of
/// a table have one.
fn all_points(path: &Path, lidar: &LidarOptions) -> Result<(PointTable, Vec<String>), Failure> {
    let device = lidar.device()?;
    let options = lidar.read_options(&device, lidar.topic_in(path));
    let mut tables = Vec::new();
    let mut stamped = 0;
    let read = for_each_sweep(path, options, |sweep| {
        stamped += usize::from(sweep.stamp.is_some());
        if stamped <= 1 {
            tables.push(sweep.table);
        }
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    if stamped > 0 {
        numbered_in(path, None, stamped)?;
    }
    Ok((PointTable::together(tables), read.warnings))
}

/// Whether the distances of the points from the origin differ from their ranges.
fn is_moved(table: &PointTable) -> Option<bool> {
    let number = |name: &str, point| table.number(name, point);
    let difference = |point| {
        let range = number("range", point)?;
        let position = [
            number("x", point)?,
            number("y", point)?,
            number("z", point)?,
        ];
        let distance = position.iter().map(|x| x * x).sum::<f64>().sqrt();
        Some((distance - range).abs())
    };
    let differences = (0..table.points).filter_map(difference);
    let mut differences: Vec<f64> = differences.filter(|d| d.is_finite()).collect();
    if differences.is_empty() {
        return None;
    }
    let middle = differences.len() / 2;
    let (_, median, _) = differences.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median > BEAM_ORIGIN)
}

/// Largest distance of the origin of a beam from that of a lidar, m.
const BEAM_ORIGIN: f64 = 0.1;

fn named(name: &str, warnings: Vec<String>) -> Vec<String> {
    let named = |warning| format!("{name}: {warning}");
    warnings.into_iter().map(named).collect()
}
