//! What is registered: a point cloud, or a scan of a log.

use crate::failure::Failure;
use etendue::formats::FormatError;
use etendue::formats::cloud::read_cloud;
use etendue::formats::scan_log::read_scan_log;
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
        let mut cloud = match split(asked) {
            Some((log, number)) => of_scan(asked, Path::new(log), number)?,
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

/// File and number of `FILE#NUMBER`.
pub fn split(asked: &str) -> Option<(&str, usize)> {
    let (file, number) = asked.rsplit_once('#')?;
    Some((file, number.parse().ok()?))
}

fn of_file(asked: &str) -> Result<Cloud, Failure> {
    match read_cloud(Path::new(asked)) {
        Ok(cloud) => Ok(Cloud {
            name: asked.into(),
            points: cloud.points,
            warnings: named(asked, cloud.warnings),
        }),
        // No cloud: then it may be a log with a single scan.
        Err(FormatError::Unsupported { .. }) => of_scan(asked, Path::new(asked), 0),
        Err(error) => Err(error.into()),
    }
}

fn of_scan(asked: &str, path: &Path, number: usize) -> Result<Cloud, Failure> {
    let log = read_scan_log(path)?;
    let scans = log.scans.len();
    if scans > 1 && split(asked).is_none() {
        return Err(Failure::WhichScan {
            path: path.into(),
            scans,
        });
    }
    let scan = log.scans.get(number).ok_or_else(|| Failure::NoSuchScan {
        path: path.into(),
        number,
        scans,
    })?;
    Ok(Cloud {
        name: asked.into(),
        points: points(scan),
        warnings: named(asked, log.warnings),
    })
}

fn points(scan: &Scan) -> Vec<Point3<f64>> {
    let beams = scan.azimuths.iter().zip(&scan.readings);
    let point = |(azimuth, reading): (&f64, &etendue::sensors::Reading)| {
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
