//! `etendue compare`.

mod beams;
mod page;
mod report;

use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::number::positive;
use crate::output::{print_report, warn};
use clap::Args;
use etendue::estimate::compare::compare_clouds;
use etendue::io::points::PointCloud;
use etendue::io::table::PointTable;
use report::Report;
use std::path::{Path, PathBuf};

/// Arguments of `etendue compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue compare real.pcd out/simulate/scan.pcd --html comparison.html\n\n\
    Both clouds must be in the same frame. Ranges and beams are computed from its origin. Beams \
    are comparable only if the sensor was at the origin (`etendue simulate --frame sensor`). The \
    cell of a beam is its ring (or its elevation, if a cloud has no rings) and an interval of \
    azimuth; a cell without a point is a drop-out."
)]
pub struct Compare {
    /// Real cloud, in any format that `etendue convert` reads
    real: PathBuf,
    /// Simulated cloud
    simulated: PathBuf,
    #[command(flatten)]
    lidar: LidarOptions,
    /// Largest distance of matching points, m
    #[arg(long, default_value_t = 0.1, value_parser = positive)]
    tolerance: f64,
    /// Width of the cell of a beam in azimuth, degrees
    #[arg(long, value_name = "DEG", default_value_t = 1.0, value_parser = positive)]
    cell: f64,
    /// Write an HTML page with tables and figures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Cloud with the fields that its format stores.
struct Loaded {
    cloud: PointCloud,
    table: PointTable,
}

impl Loaded {
    fn read(path: &Path, lidar: &LidarOptions) -> Result<Self, Failure> {
        let points = lidar.points_of_one(path)?;
        let path_name = path.display();
        warn(
            points
                .warnings
                .iter()
                .map(|warning| format!("{path_name}: {warning}")),
        );
        let table = points.together();
        let cloud = PointCloud::of_table(&table);
        if cloud.points.is_empty() {
            return Err(Failure::NothingToCompare { path: path.into() });
        }
        Ok(Self { cloud, table })
    }
}

impl Compare {
    /// Compares two clouds and prints a report.
    pub fn run(self) -> Result<(), Failure> {
        // Load
        let real = Loaded::read(&self.real, &self.lidar)?;
        let simulated = Loaded::read(&self.simulated, &self.lidar)?;

        // Compare
        let beams = beams::compare(&real.table, &simulated.table, self.cell);
        let clouds = [real.cloud, simulated.cloud];
        let found = compare_clouds(&clouds[0].points, &clouds[1].points, self.tolerance);
        let found = found.ok_or_else(|| Failure::NothingToCompare {
            path: self.real.clone(),
        })?;

        // Write and report
        let names = [&self.real, &self.simulated].map(|path| path.display().to_string());
        let report = Report::new(names, self.tolerance, &clouds, &found, beams);
        if let Some(path) = &self.html {
            page::write(path, &report, &clouds)?;
        }
        print_report(self.json, &report, Report::text)
    }
}
