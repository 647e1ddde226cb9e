//! What a sensor file describes.

use crate::failure::Failure;
use etendue::formats::sensor::{SensorModel, load};
use serde::Serialize;
use std::path::Path;

/// A sensor file as it is reported.
#[derive(Serialize)]
pub struct SensorReport {
    file: String,
    name: String,
    description: String,
    sources: Vec<String>,
    beams: usize,
    rays_a_beam: usize,
    wavelength_nm: f64,
    range_min_m: f64,
    range_max_m: f64,
    turn_time_ms: f64,
}

/// Whether a TOML file has the table of a sensor: a file that cannot be read has none.
pub fn is_sensor_file(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("[continuous_wave") || line.starts_with("[scanner")
    })
}

impl SensorReport {
    /// Reads the sensor file.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let sensor = load(file)?;
        let file = file.display().to_string();
        Ok(match &sensor.model {
            SensorModel::ContinuousWave(lidar) => Self {
                file,
                beams: lidar.beams.len(),
                rays_a_beam: lidar.pattern.sub_rays().len(),
                wavelength_nm: lidar.wavelength * 1e9,
                range_min_m: lidar.receiver.ambiguity.nearest,
                range_max_m: lidar.receiver.ambiguity.farthest,
                turn_time_ms: lidar.turn_time * 1e3,
                name: sensor.name,
                description: sensor.description,
                sources: sensor.sources,
            },
            SensorModel::Scanner(scanner) => Self {
                file,
                beams: scanner.shots(0).len(),
                rays_a_beam: scanner.beam.rays(scanner.sub_ray_rings).len(),
                wavelength_nm: scanner.wavelength * 1e9,
                range_min_m: scanner.limits.near,
                range_max_m: scanner.limits.far,
                turn_time_ms: scanner.sweep_duration() * 1e3,
                name: sensor.name,
                description: sensor.description,
                sources: sensor.sources,
            },
        })
    }

    /// The report in words.
    pub fn text(&self) -> String {
        let sources: String = self
            .sources
            .iter()
            .map(|source| format!("  source: {source}\n"))
            .collect();
        format!(
            "{}: sensor, {}\n  {}\n  {} beams of {} rays, {:.0} nm, {} to {} m, a turn in {} ms\n{sources}",
            self.file,
            self.name,
            self.description,
            self.beams,
            self.rays_a_beam,
            self.wavelength_nm,
            self.range_min_m,
            self.range_max_m,
            self.turn_time_ms,
        )
    }
}
