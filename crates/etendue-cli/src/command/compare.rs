//! `etendue compare`.

use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::picture::{distribution_chart, svg};
use clap::Args;
use etendue::estimate::compare::{
    CloudComparison, DistributionComparison, compare_clouds, compare_distributions,
};
use etendue::formats::cloud::{Cloud, read_cloud};
use etendue::formats::output::OutputSet;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Arguments of `etendue compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue compare real.pcd out/scan.pcd --html comparison.html\n\n\
    Both clouds must stand in the same frame; ranges are taken from its origin."
)]
pub struct Compare {
    /// The real cloud (.pcd, .ply, .csv, .vtk)
    real: PathBuf,
    /// The simulated cloud
    simulated: PathBuf,
    /// Points farther apart than this are different, m
    #[arg(long, default_value_t = 0.1)]
    tolerance: f64,
    /// Write a page with tables and figures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How alike two clouds are, with units in the names.
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
}

/// How alike two distributions are.
#[derive(Serialize)]
struct Distance {
    kolmogorov_smirnov: f64,
    jensen_shannon: f64,
    median_shift: f64,
}

impl Compare {
    /// Compares and prints.
    pub fn run(self) -> Result<(), Failure> {
        let clouds = [read_cloud(&self.real)?, read_cloud(&self.simulated)?];
        for (cloud, path) in clouds.iter().zip([&self.real, &self.simulated]) {
            if cloud.points.is_empty() {
                return Err(Failure::NothingToCompare { path: path.clone() });
            }
        }
        let found = compare_clouds(&clouds[0].points, &clouds[1].points, self.tolerance);
        let found = found.ok_or_else(|| Failure::NothingToCompare {
            path: self.real.clone(),
        })?;
        let report = self.report(&clouds, &found);
        if let Some(path) = &self.html {
            write_html(path, &report, &clouds)?;
        }
        if self.json {
            print_json(&report)
        } else {
            print(&report.text())
        }
    }

    fn report(&self, clouds: &[Cloud; 2], found: &CloudComparison) -> Report {
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
        text
    }
}

/// Writes one page that needs nothing else.
fn write_html(path: &Path, report: &Report, clouds: &[Cloud; 2]) -> Result<(), Failure> {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let mut rows = String::new();
    for (name, value) in &report.rows() {
        let (name, value) = (escaped(name), escaped(value));
        writeln!(rows, "<tr><td>{name}</td><td>{value}</td></tr>")
            .expect("writing to a string does not fail");
    }
    let mut figures = String::new();
    for (title, label, of) in [
        ("Range", "range, m", ranges as fn(&Cloud) -> Vec<f64>),
        ("Intensity", "intensity", intensities),
    ] {
        let [real, simulated] = [of(&clouds[0]), of(&clouds[1])];
        if !real.is_empty() && !simulated.is_empty() {
            let samples = [("real", &real[..]), ("simulated", &simulated[..])];
            figures += &svg::write(&distribution_chart::draw(title, label, &samples));
        }
    }
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<title>etendue compare</title>\n\
         <style>body{{font:16px sans-serif;margin:2em}}td{{padding:.2em 1em .2em 0}}svg{{display:block}}</style>\n\
         <h1>{} and {}</h1>\n<p>{} and {} points.</p>\n<table>\n{rows}</table>\n{figures}\n</html>\n",
        escaped(&report.real),
        escaped(&report.simulated),
        report.real_points,
        report.simulated_points,
    );
    let mut outputs = OutputSet::new();
    outputs.add(path, |file| file.write_all(page.as_bytes()))?;
    outputs.commit()?;
    Ok(())
}
