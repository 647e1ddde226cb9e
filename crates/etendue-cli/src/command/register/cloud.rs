//! What is registered: a point cloud, or a scan of a log.

use crate::device::device;
use crate::failure::Failure;
use crate::source;
use etendue::io::FormatError;
use etendue::io::points::read_cloud;
use etendue::sensors::Scan;
use nalgebra::Point3;
use std::path::Path;

/// Points with a name.
pub struct Cloud {
    /// As it was asked for.
    pub name: String,
    /// Positions, m; those of a planar scan have z = 0.
    pub points: Vec<Point3<f64>>,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

impl Cloud {
    /// Reads `FILE` or `LOG#NUMBER`.
    pub fn read(asked: &str) -> Result<Self, Failure> {
        let mut cloud = match source::numbered(asked) {
            Some((log, number)) => of_scan(asked, Path::new(log), Some(number))?,
            None => of_file(asked)?,
        };
        cloud.leave_out_the_origin();
        Ok(cloud)
    }

    /// Its name without the folder.
    pub fn short_name(&self) -> &str {
        self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name)
    }

    /// Whether every point lies in the plane z = 0.
    pub fn is_planar(&self) -> bool {
        self.points.iter().all(|point| point.z == 0.0)
    }

    /// The sensor's own place is where many drivers put beams that came back from nowhere.
    fn leave_out_the_origin(&mut self) {
        let before = self.points.len();
        self.points.retain(|point| point.coords.norm() > 0.0);
        let left_out = before - self.points.len();
        if left_out > 0 {
            self.warnings.push(format!(
                "{}: {left_out} points at the origin are no measurements and were left out",
                self.name
            ));
        }
    }
}

fn of_file(asked: &str) -> Result<Cloud, Failure> {
    match read_cloud(Path::new(asked), &device(None)?) {
        Ok(cloud) => Ok(Cloud {
            name: asked.into(),
            points: cloud.points,
            warnings: named(asked, cloud.warnings),
        }),
        // No cloud: then it may be a log with a single scan.
        Err(FormatError::Unsupported { .. }) => of_scan(asked, Path::new(asked), None),
        Err(error) => Err(error.into()),
    }
}

fn of_scan(asked: &str, path: &Path, number: Option<usize>) -> Result<Cloud, Failure> {
    let (scan, warnings) = source::scan(path, number)?;
    Ok(Cloud {
        name: asked.into(),
        points: points(&scan),
        warnings: named(asked, warnings),
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
    let say = |warning| format!("{name}: {warning}");
    warnings.into_iter().map(say).collect()
}
