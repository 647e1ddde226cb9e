//! Report of a sensor file.

use crate::output::{counted, to_text};
use etendue::config::sensor::Sensor;
use etendue::sensors::lidar::{Lidar, Shot, head_on_noise};
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
    channels: usize,
    elevation_deg: [f64; 2],
    azimuth_deg: [f64; 2],
    columns: u32,
    beams: usize,
    rays_per_beam: usize,
    wavelength_nm: f64,
    range_min_m: f64,
    range_max_m: f64,
    range_step_mm: f64,
    sweep_duration_ms: f64,
    noise: NoiseModel,
}

/// Range noise, as standard deviations.
#[derive(Serialize)]
struct NoiseModel {
    head_on: Vec<HeadOn>,
    channel_mm: f64,
    neighbour_mm: f64,
    beam_mm: f64,
    scan_mm: f64,
    azimuth_jitter_mrad: f64,
}

/// Independent noise on a surface of [`REFLECTANCE`] that fills the beam.
#[derive(Serialize)]
struct HeadOn {
    range_m: f64,
    sd_mm: f64,
}

/// Ranges with a stated noise, m.
const NOISE_RANGES: [f64; 6] = [0.5, 2.0, 5.0, 20.0, 50.0, 100.0];

/// Reflectance of the surface of the stated noise.
const REFLECTANCE: f64 = 0.5;

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
        to_text(|out| self.write(out))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}: sensor, {}", self.file, self.name)?;
        if !self.description.is_empty() {
            writeln!(out, "  {}", self.description)?;
        }
        let model = &self.model;

        // Receiver and beams
        let (near, far) = (model.range_min_m, model.range_max_m);
        let step = if model.range_step_mm > 0.0 {
            format!(" in steps of {} mm", significant(model.range_step_mm))
        } else {
            String::new()
        };
        writeln!(
            out,
            "  {} receiver, {:.0} nm, {near} to {far} m{step}",
            model.receiver, model.wavelength_nm
        )?;
        let [low, high] = model.elevation_deg;
        let [right, left] = model.azimuth_deg;
        writeln!(
            out,
            "  {}, elevation {low:.2} to {high:.2}°, azimuth {right:.1} to {left:.1}°",
            counted(model.channels, "channel")
        )?;
        writeln!(
            out,
            "  {} of {} in {} and {:.1} ms",
            counted(model.beams, "beam"),
            counted(model.rays_per_beam, "ray"),
            counted(model.columns as usize, "column"),
            model.sweep_duration_ms
        )?;

        // Noise
        model.noise.write(out)?;
        self.sources
            .iter()
            .try_for_each(|source| writeln!(out, "  source: {source}"))
    }
}

impl LidarModel {
    fn of(lidar: &Lidar) -> Self {
        let shots = lidar.shots(0);
        let span = |angle: fn(&Shot) -> f64| {
            let degrees = shots.iter().map(|shot| angle(shot).to_degrees());
            degrees.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], angle| {
                [low.min(angle), high.max(angle)]
            })
        };
        Self {
            receiver: lidar.receiver.name(),
            channels: lidar.channels.len(),
            elevation_deg: span(|shot| shot.elevation),
            azimuth_deg: span(|shot| shot.azimuth),
            columns: lidar.columns(),
            beams: shots.len(),
            rays_per_beam: lidar.beam.ray_count(),
            wavelength_nm: lidar.wavelength * 1e9,
            range_min_m: lidar.limits.near,
            range_max_m: lidar.limits.far,
            range_step_mm: lidar.limits.step * 1e3,
            sweep_duration_ms: lidar.sweep_duration() * 1e3,
            noise: NoiseModel::of(lidar),
        }
    }
}

impl NoiseModel {
    fn of(lidar: &Lidar) -> Self {
        let limits = &lidar.limits;
        let ranges = NOISE_RANGES.into_iter();
        let measured = ranges.filter(|range| (limits.near..=limits.far).contains(range));
        Self {
            head_on: measured
                .map(|range_m| HeadOn {
                    range_m,
                    sd_mm: head_on_noise(lidar, range_m, REFLECTANCE) * 1e3,
                })
                .collect(),
            channel_mm: lidar.noise.channel * 1e3,
            neighbour_mm: lidar.noise.neighbour * 1e3,
            beam_mm: lidar.noise.beam * 1e3,
            scan_mm: lidar.noise.scan * 1e3,
            azimuth_jitter_mrad: lidar.beam.azimuth_jitter * 1e3,
        }
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let head_on = self.head_on.iter();
        let head_on: Vec<String> = head_on
            .map(|HeadOn { range_m, sd_mm }| format!("{} mm at {range_m} m", significant(*sd_mm)))
            .collect();
        writeln!(
            out,
            "  range noise of a shot, standard deviation on a surface of reflectance {REFLECTANCE}, head-on: {}",
            head_on.join(", ")
        )?;
        let parts = [
            ("fixed pattern of the channels", self.channel_mm, "mm"),
            ("fixed pattern of the beams", self.beam_mm, "mm"),
            ("correlated between neighbours", self.neighbour_mm, "mm"),
            ("common to a sweep", self.scan_mm, "mm"),
            ("azimuth jitter", self.azimuth_jitter_mrad, "mrad"),
        ];
        let parts = parts.iter().filter(|(_, sd, _)| *sd > 0.0);
        let parts: Vec<String> = parts
            .map(|(name, sd, unit)| format!("{name} {} {unit}", significant(*sd)))
            .collect();
        if parts.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "  other noise, standard deviation: {}",
            parts.join(", ")
        )
    }
}

/// A positive number with two significant digits.
fn significant(number: f64) -> f64 {
    let scale = 10f64.powf(1.0 - number.log10().floor());
    (number * scale).round() / scale
}
