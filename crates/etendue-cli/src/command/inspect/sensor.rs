//! What a sensor file describes.

use crate::failure::Failure;
use etendue::config::sensor::load;
use etendue::sensors::lidar::Lidar;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// A sensor file as it is reported.
#[derive(Serialize)]
pub struct SensorReport {
    file: String,
    name: String,
    description: String,
    sources: Vec<String>,
    #[serde(flatten)]
    model: LidarModel,
}

/// The lidar in short.
#[derive(Serialize)]
struct LidarModel {
    receiver: &'static str,
    beams: usize,
    rays_per_beam: usize,
    wavelength_nm: f64,
    range_min_m: f64,
    range_max_m: f64,
    sweep_duration_ms: f64,
}

/// The tables that sensor files have and scene files do not; the last two are those of version 1.
const TABLES: [&str; 3] = ["[receiver", "[continuous_wave", "[scanner"];

/// Whether a TOML file has the table of a sensor: a file that cannot be read has none.
pub fn is_sensor_file(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| {
        TABLES
            .iter()
            .any(|table| line.trim_start().starts_with(table))
    })
}

impl SensorReport {
    /// Reads the sensor file.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let sensor = load(file)?;
        Ok(Self {
            file: file.display().to_string(),
            model: LidarModel::of(&sensor.lidar),
            name: sensor.name,
            description: sensor.description,
            sources: sensor.sources,
        })
    }

    /// The report in words.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text)
            .expect("writing to a string does not fail");
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}: sensor, {}", self.file, self.name)?;
        writeln!(out, "  {}", self.description)?;
        let LidarModel {
            receiver,
            beams,
            rays_per_beam,
            wavelength_nm,
            range_min_m,
            range_max_m,
            sweep_duration_ms,
        } = self.model;
        writeln!(
            out,
            "  {receiver} receiver, {beams} beams of {rays_per_beam} rays, {sweep_duration_ms:.1} ms per sweep, {wavelength_nm:.0} nm, \
             {range_min_m} to {range_max_m} m"
        )?;
        self.sources
            .iter()
            .try_for_each(|source| writeln!(out, "  source: {source}"))
    }
}

impl LidarModel {
    fn of(lidar: &Lidar) -> Self {
        Self {
            receiver: lidar.receiver.name(),
            beams: lidar.shots(0).len(),
            rays_per_beam: lidar.beam.ray_count(),
            wavelength_nm: lidar.wavelength * 1e9,
            range_min_m: lidar.limits.near,
            range_max_m: lidar.limits.far,
            sweep_duration_ms: lidar.sweep_duration() * 1e3,
        }
    }
}
