//! `etendue inspect`: one report per kind of file.

mod cloud;
mod log;
mod mesh;
mod scene;
mod sensor;
mod spread_chart;

use crate::failure::Failure;
use crate::formats;
use crate::output::{print_report, write_file};
use crate::source;
use clap::Args;
use cloud::CloudReport;
use etendue::config::toml_file::{Document, FileKind};
use etendue::io::points::PointFormat;
use etendue_plot::{png, svg};
use log::LogReport;
use mesh::MeshReport;
use scene::SceneReport;
use sensor::SensorReport;
use serde::Serialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Arguments of `etendue inspect`.
#[derive(Debug, Args)]
#[command(after_help = notes())]
pub struct Inspect {
    /// Files to describe, or names of built-in scenes and sensors
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON: an array with one object per file
    #[arg(long)]
    json: bool,
    /// Chart of the range noise of stationary sensors (.svg or .png)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Examples and the kinds of files.
fn notes() -> String {
    format!(
        "Examples: etendue inspect examples/arena.toml\n          \
         etendue inspect recorded.dat out/beams.csv --chart spread.svg\n  \
         describes two scan logs, and draws the range noise of the stationary sensor over range.\n\n\
         A file that ends in .toml is a scene or a sensor; .obj, .ply, .stl, .gltf and .glb are meshes; \
         {}, a .ply without faces and a .csv of x,y,z are clouds; any other file is a scan log \
         (tinySLAM, CARMEN, RPLIDAR, CSV).",
        formats::points_only()
    )
}

/// Report of a file.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Report {
    Scene(SceneReport),
    Mesh(MeshReport),
    Cloud(CloudReport),
    Sensor(SensorReport),
    ScanLog(LogReport),
}

impl Inspect {
    /// Prints a report per file.
    pub fn run(self) -> Result<(), Failure> {
        let reports = self.files.iter().map(|file| Report::of(file));
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        if let Some(path) = &self.chart {
            draw_chart(path, &reports)?;
        }
        print_report(self.json, &reports, |reports| {
            let texts: Vec<_> = reports.iter().map(Report::text).collect();
            texts.join("\n")
        })
    }
}

impl Report {
    fn of(file: &Path) -> Result<Self, Failure> {
        let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "toml" if is_sensor_file(file) => Self::of_sensor(file),
            "" if source::is_sensor(file) => Self::of_sensor(file),
            "" if source::is_scene(file) => {
                Ok(Self::Scene(SceneReport::of(source::scene(Some(file))?)))
            }
            "toml" => Ok(Self::Scene(SceneReport::of(source::scene(Some(file))?))),
            "ply" if cloud::is_ply_cloud(file) => CloudReport::of(file).map(Self::Cloud),
            "csv" if cloud::is_csv_cloud(file) => CloudReport::of(file).map(Self::Cloud),
            "obj" | "ply" | "stl" | "gltf" | "glb" => MeshReport::of(file).map(Self::Mesh),
            _ if PointFormat::of_ending(file).is_some_and(PointFormat::holds_points_only) => {
                CloudReport::of(file).map(Self::Cloud)
            }
            _ => LogReport::of(file).map(Self::ScanLog),
        }
    }

    fn of_sensor(file: &Path) -> Result<Self, Failure> {
        let name = file.to_string_lossy();
        let (sensor, _) = source::sensor(&name)?;
        Ok(Self::Sensor(SensorReport::of(&name, sensor)))
    }

    fn text(&self) -> String {
        match self {
            Self::Scene(report) => report.text(),
            Self::Mesh(report) => report.text(),
            Self::Cloud(report) => report.text(),
            Self::Sensor(report) => report.text(),
            Self::ScanLog(report) => report.text(),
        }
    }
}

/// Whether a TOML file is a sensor file. False for an unreadable file.
fn is_sensor_file(file: &Path) -> bool {
    Document::read(file).is_ok_and(|document| FileKind::of(&document) == Some(FileKind::Sensor))
}

fn draw_chart(path: &Path, reports: &[Report]) -> Result<(), Failure> {
    let recordings: Vec<_> = reports
        .iter()
        .filter_map(|report| match report {
            Report::ScanLog(report) => report.range_noise(),
            _ => None,
        })
        .collect();
    if recordings.is_empty() {
        return Err(Failure::NoStationaryWindow);
    }
    let drawing = spread_chart::draw("Range noise of a stationary sensor", &recordings);
    let bytes = match path.extension().and_then(OsStr::to_str) {
        Some("svg") => svg::write(&drawing).into_bytes(),
        Some("png") => png::render(&drawing, 2.0)?,
        _ => {
            return Err(Failure::Ending {
                path: path.into(),
                endings: ".svg, .png".into(),
            });
        }
    };
    write_file(path, &bytes)
}
