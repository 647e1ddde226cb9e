//! `etendue inspect`: one report per kind of file.

mod cloud;
#[cfg(feature = "gpu")]
mod devices;
mod log;
mod mesh;
mod recording;
mod scene;
mod sensor;
mod spread_chart;

use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::formats;
use crate::output::{print_report, write_file};
use crate::source;
use clap::Args;
use cloud::CloudReport;
pub use cloud::is_ply_mesh;
use etendue::config::presets::{SCENES, SENSORS};
use etendue::config::toml_file::{Document, FileKind};
use etendue::io::bag::is_bag;
use etendue::io::input::read_bytes;
use etendue::io::points::PointFormat;
use etendue::io::scan_log::is_scan_log;
use etendue::io::sequence::bag_files;
use etendue_plot::{png, svg};
use log::LogReport;
use mesh::MeshReport;
use recording::RecordingReport;
use scene::SceneReport;
use sensor::SensorReport;
use serde::Serialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Arguments of `etendue inspect`.
#[derive(Debug, Args)]
#[command(after_help = notes())]
pub struct Inspect {
    /// Files or folders to describe, or names of built-in scenes and sensors
    #[cfg_attr(not(feature = "gpu"), arg(required = true, value_name = "FILE"))]
    #[cfg_attr(
        feature = "gpu",
        arg(required_unless_present = "devices", value_name = "FILE")
    )]
    files: Vec<PathBuf>,
    /// List the GPUs of this machine, with their numbers, drivers and limits
    #[cfg(feature = "gpu")]
    #[arg(long, conflicts_with = "files")]
    devices: bool,
    #[command(flatten)]
    lidar: LidarOptions,
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
         etendue inspect recorded.dat out/simulate/beams.csv --chart spread.svg\n  \
         describes two scan logs, and draws the range noise of the stationary sensor over range.\n\n\
         Described are scenes, sensors and other files of etendue (.toml), meshes (.obj, .ply, .stl, .gltf, \
         .glb), bags (MCAP, ROS 1, ROS 2), point clouds and packet captures ({}, .ply, .csv of x,y,z), \
         folders of clouds, and scan logs (tinySLAM, CARMEN, RPLIDAR, MRPT, CSV, beams.npz). The content of a recording \
         determines its format.",
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
    Recording(RecordingReport),
    File(FileReport),
}

/// Printed report of a file of etendue without a report of its own.
#[derive(Serialize)]
struct FileReport {
    file: String,
    description: &'static str,
    usage: &'static str,
}

impl Inspect {
    /// Prints a report per file.
    pub fn run(self) -> Result<(), Failure> {
        #[cfg(feature = "gpu")]
        if self.devices {
            return devices::report(self.json);
        }
        let reports = self.files.iter().map(|file| Report::of(file, &self.lidar));
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
    fn of(file: &Path, lidar: &LidarOptions) -> Result<Self, Failure> {
        source::check_name(file, &[SCENES, SENSORS])?;
        let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "" if source::is_sensor(file) => Self::of_sensor(file),
            "" if source::is_scene(file) => Self::of_scene(file),
            "toml" => Self::of_toml(file),
            "obj" | "stl" | "gltf" | "glb" => MeshReport::of(file).map(Self::Mesh),
            "ply" if is_ply_mesh(file) => MeshReport::of(file).map(Self::Mesh),
            _ => Self::of_recording(file, lidar),
        }
    }

    /// Describes a bag, a scan log, or points; the content determines which.
    fn of_recording(file: &Path, lidar: &LidarOptions) -> Result<Self, Failure> {
        let is_recording = if file.is_dir() {
            !bag_files(file)?.is_empty()
        } else {
            is_bag(file)
        };
        if is_recording {
            return RecordingReport::of(file, lidar).map(Self::Recording);
        }
        let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_cloud = match ending.to_ascii_lowercase().as_str() {
            "csv" => cloud::is_csv_cloud(file),
            "npz" => !is_scan_log(&read_bytes(file)?),
            "ply" | "xyz" => true,
            _ if file.is_dir() => true,
            _ => PointFormat::of_ending(file).is_some_and(PointFormat::holds_points_only),
        };
        if is_cloud {
            return CloudReport::of(file, lidar).map(Self::Cloud);
        }
        // Another ending: a scan log, or else points
        match LogReport::of(file) {
            Ok(log) => Ok(Self::ScanLog(log)),
            Err(of_log) => match CloudReport::of(file, lidar) {
                Ok(cloud) => Ok(Self::Cloud(cloud)),
                Err(_) => Err(of_log),
            },
        }
    }

    /// Describes a scene, a sensor, or another file of etendue.
    fn of_toml(file: &Path) -> Result<Self, Failure> {
        let kind = Document::read(file).ok();
        match kind.and_then(|document| FileKind::of(&document)) {
            Some(FileKind::Sensor) => Self::of_sensor(file),
            Some(FileKind::Scene) | None => Self::of_scene(file),
            Some(kind) => Ok(Self::File(FileReport {
                file: file.display().to_string(),
                description: kind.name(),
                usage: kind.usage(),
            })),
        }
    }

    fn of_scene(file: &Path) -> Result<Self, Failure> {
        Ok(Self::Scene(SceneReport::of(source::scene(Some(file))?)))
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
            Self::Recording(report) => report.text(),
            Self::File(report) => {
                format!(
                    "{}: {}; {}\n",
                    report.file, report.description, report.usage
                )
            }
        }
    }
}

fn draw_chart(path: &Path, reports: &[Report]) -> Result<(), Failure> {
    let recordings: Vec<_> = reports
        .iter()
        .filter_map(|report| match report {
            Report::ScanLog(report) => report.range_noise(),
            Report::Recording(report) => report.log()?.range_noise(),
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
