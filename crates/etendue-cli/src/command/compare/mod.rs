//! `etendue compare`.

mod beams;
mod page;

use crate::device::device;
use crate::failure::Failure;
use crate::number::positive;
use crate::output::{print_report, warn};
use beams::BeamsReport;
use clap::Args;
use etendue::estimate::compare::{
    CloudComparison, DistributionComparison, compare_clouds, compare_distributions,
};
use etendue::io::FormatError;
use etendue::io::packets::PacketSource;
use etendue::io::points::read_points;
use etendue::io::points::{Cloud, read_cloud};
use etendue::io::table::PointTable;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Arguments of `etendue compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue compare real.pcd out/scan.pcd --html comparison.html\n\n\
    Both clouds have to be in one frame. Ranges and beams are relative to its origin, so that beams \
    are comparable only if the sensor was there (`etendue simulate --frame sensor`). The cell of a \
    beam is its ring (or its elevation, if a cloud has no rings) and an interval of azimuth; a cell \
    without a point is a drop-out."
)]
pub struct Compare {
    /// Real cloud: any format that `etendue convert` reads, or .vtk
    real: PathBuf,
    /// Simulated cloud
    simulated: PathBuf,
    /// Metadata (JSON) of the Ouster sensor of the capture REAL, or calibration (db.xml, or the YAML of
    /// ROS) of the Velodyne; without it, the file with the name of the capture that ends in .json
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// Largest distance of equal points, m
    #[arg(long, default_value_t = 0.1, value_parser = positive)]
    tolerance: f64,
    /// Width of the cell of a beam in azimuth, degrees
    #[arg(long, value_name = "DEG", default_value_t = 1.0, value_parser = positive)]
    cell: f64,
    /// HTML page with tables and figures to write
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Differences of two clouds, with units in the names.
#[derive(Serialize)]
struct Report {
    real: String,
    simulated: String,
    real_points: usize,
    simulated_points: usize,
    tolerance_m: f64,
    chamfer_m: f64,
    density_aware_chamfer: f64,
    real_to_simulated_mean_m: f64,
    simulated_to_real_mean_m: f64,
    median_m: f64,
    hausdorff_m: f64,
    precision: f64,
    recall: f64,
    f_score: f64,
    range: Option<Distance>,
    intensity: Option<Distance>,
    beams: Option<BeamsReport>,
}

/// Cloud with all its fields, where the format stores them.
struct Loaded {
    cloud: Cloud,
    table: Option<PointTable>,
}

impl Loaded {
    fn read(path: &Path, device: &PacketSource) -> Result<Self, Failure> {
        let points = match read_points(path, device) {
            Ok(points) => points,
            // Legacy VTK has only positions
            Err(FormatError::Unsupported { .. }) => {
                let cloud = read_cloud(path, device)?;
                return Ok(Self { cloud, table: None });
            }
            Err(error) => return Err(error.into()),
        };
        let path_name = path.display();
        warn(
            points
                .warnings
                .iter()
                .map(|warning| format!("{path_name}: {warning}")),
        );
        let table = points.together();
        let cloud = Cloud::of_table(&table);
        if cloud.points.is_empty() {
            return Err(Failure::NothingToCompare { path: path.into() });
        }
        Ok(Self {
            cloud,
            table: Some(table),
        })
    }
}

/// Differences of two distributions.
#[derive(Serialize)]
struct Distance {
    kolmogorov_smirnov: f64,
    jensen_shannon: f64,
    median_shift: f64,
}

impl Compare {
    /// Compares two clouds and prints a report.
    pub fn run(self) -> Result<(), Failure> {
        // Load
        let device = device(self.metadata.as_deref())?;
        let real = Loaded::read(&self.real, &device)?;
        let simulated = Loaded::read(&self.simulated, &crate::device::device(None)?)?;

        // Compare
        let beams = match (&real.table, &simulated.table) {
            (Some(real), Some(simulated)) => beams::compare(real, simulated, self.cell),
            _ => None,
        };
        let clouds = [real.cloud, simulated.cloud];
        let found = compare_clouds(&clouds[0].points, &clouds[1].points, self.tolerance);
        let found = found.ok_or_else(|| Failure::NothingToCompare {
            path: self.real.clone(),
        })?;

        // Write and report
        let report = self.report(&clouds, &found, beams);
        if let Some(path) = &self.html {
            page::write(path, &report, &clouds)?;
        }
        print_report(self.json, &report, Report::text)
    }

    fn report(
        &self,
        clouds: &[Cloud; 2],
        found: &CloudComparison,
        beams: Option<BeamsReport>,
    ) -> Report {
        let [real, simulated] = clouds;
        Report {
            real: self.real.display().to_string(),
            simulated: self.simulated.display().to_string(),
            real_points: real.points.len(),
            simulated_points: simulated.points.len(),
            tolerance_m: self.tolerance,
            chamfer_m: found.chamfer,
            density_aware_chamfer: found.density_aware_chamfer,
            real_to_simulated_mean_m: found.first_to_second,
            simulated_to_real_mean_m: found.second_to_first,
            median_m: found.median,
            hausdorff_m: found.largest,
            precision: found.precision,
            recall: found.recall,
            f_score: found.f_score,
            range: compare_distributions(&ranges(real), &ranges(simulated)).map(Into::into),
            intensity: compare_distributions(&intensities(real), &intensities(simulated))
                .map(Into::into),
            beams,
        }
    }
}

impl From<DistributionComparison> for Distance {
    fn from(found: DistributionComparison) -> Self {
        Self {
            kolmogorov_smirnov: found.kolmogorov_smirnov,
            jensen_shannon: found.jensen_shannon,
            median_shift: found.median_shift,
        }
    }
}

fn ranges(cloud: &Cloud) -> Vec<f64> {
    cloud
        .points
        .iter()
        .map(|point| point.coords.norm())
        .collect()
}

fn intensities(cloud: &Cloud) -> Vec<f64> {
    cloud
        .intensities
        .iter()
        .map(|value| f64::from(*value))
        .collect()
}

impl Report {
    /// The report as rows of a name and a value.
    fn rows(&self) -> Vec<(String, String)> {
        let metres = |value: f64| format!("{value:.4} m");
        let share = |value: f64| format!("{:.2} %", 100.0 * value);
        let mut rows = vec![
            ("Chamfer distance".to_owned(), metres(self.chamfer_m)),
            (
                "density-aware Chamfer distance".to_owned(),
                format!("{:.4}", self.density_aware_chamfer),
            ),
            (
                "mean distance, real to simulated".to_owned(),
                metres(self.real_to_simulated_mean_m),
            ),
            (
                "mean distance, simulated to real".to_owned(),
                metres(self.simulated_to_real_mean_m),
            ),
            (
                "median distance, real to simulated".to_owned(),
                metres(self.median_m),
            ),
            (
                "largest distance (Hausdorff)".to_owned(),
                metres(self.hausdorff_m),
            ),
            (
                format!("precision within {} m", self.tolerance_m),
                share(self.precision),
            ),
            (
                format!("recall within {} m", self.tolerance_m),
                share(self.recall),
            ),
            ("F-score".to_owned(), share(self.f_score)),
        ];
        for (name, distance) in [("range", &self.range), ("intensity", &self.intensity)] {
            if let Some(distance) = distance {
                let text = format!(
                    "Kolmogorov-Smirnov {:.4}, Jensen-Shannon {:.4}, median shifted by {:.4}",
                    distance.kolmogorov_smirnov, distance.jensen_shannon, distance.median_shift
                );
                rows.push((format!("distribution of {name}"), text));
            }
        }
        rows.extend(self.beams.iter().flat_map(BeamsReport::rows));
        rows
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} ({} points) and {} ({} points)\n",
            self.real, self.real_points, self.simulated, self.simulated_points
        );
        for (name, value) in self.rows() {
            writeln!(text, "  {name}: {value}").expect("writing to a string does not fail");
        }
        for (title, lines) in self.beams.iter().flat_map(BeamsReport::tables) {
            writeln!(text, "  by {title}:").expect("writing to a string does not fail");
            for line in lines {
                writeln!(text, "    {}", line.join(", ")).expect("writing does not fail");
            }
        }
        text
    }
}
