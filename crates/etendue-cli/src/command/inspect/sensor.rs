//! Report of a sensor file.

use etendue::config::sensor::Sensor;
use etendue::sensors::lidar::Lidar;
use serde::Serialize;
use std::fmt::Write;

/// Printed report of a sensor file.
#[derive(Serialize)]
pub struct SensorReport {
    file: String,
    name: String,
    description: String,
    sources: Vec<String>,
    #[serde(flatten)]
    model: LidarModel,
}

/// Summary of a lidar.
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

impl SensorReport {
    /// Describes a sensor of a file or a preset.
    pub fn of(file: &str, sensor: Sensor) -> Self {
        Self {
            file: file.to_owned(),
            model: LidarModel::of(&sensor.lidar),
            name: sensor.name,
            description: sensor.description,
            sources: sensor.sources,
        }
    }

    /// The report as text.
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
