//! A sensor file as a whole.

use super::ContinuousWaveTable;
use super::scanner::ScannerTable;
use crate::ConfigError;
use crate::toml_file::{Document, DocumentError, Problem};
use etendue_sensors::cw::CwLidar;
use etendue_sensors::lidar::Lidar;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

/// The version of the format that is read.
const VERSION: u32 = 1;

/// A sensor, ready to be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// What it is called.
    pub name: String,
    /// What it is, in a sentence.
    pub description: String,
    /// Where its numbers come from.
    pub sources: Vec<String>,
    /// How it measures.
    pub model: SensorModel,
}

/// How a sensor measures.
#[derive(Clone, Debug, PartialEq)]
pub enum SensorModel {
    /// Phase of continuous waves at two frequencies.
    ContinuousWave(CwLidar<f64>),
    /// Pulses, triangulation or chirps, scanned.
    Scanner(Lidar),
}

/// A sensor file: what the sensor is, and the one table that says how it measures.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Name of the sensor.
    pub name: String,
    /// What it is, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Where the numbers come from.
    #[serde(default)]
    pub sources: Vec<String>,
    /// A lidar that measures the phase of continuous waves at two frequencies.
    #[schemars(with = "Option<ContinuousWaveTable>")]
    pub continuous_wave: Option<Spanned<ContinuousWaveTable>>,
    /// A scanning lidar: pulsed, triangulating or frequency-modulated.
    pub scanner: Option<ScannerTable>,
}

/// Reads a sensor file.
///
/// # Errors
/// Where it cannot be read, is not TOML, has unknown keys, or describes what cannot be; the error
/// points at the place.
pub fn load(path: &Path) -> Result<Sensor, ConfigError> {
    Ok(parse(&Document::read(path)?)?)
}

/// The sensor that a TOML document describes.
///
/// # Errors
/// As [`load`], but for reading.
///
/// ```
/// use etendue_config::sensor::{parse, presets};
/// use etendue_config::toml_file::Document;
///
/// let text = presets().iter().find(|p| p.name == "hokuyo-urg-04lx").unwrap().text.replace("range_max_m", "range_maks_m");
/// let error = parse(&Document::new("mine.toml", text)).unwrap_err();
/// assert_eq!(error.remedy(), "did you mean \"range_max_m\"?");
/// ```
pub fn parse(document: &Document) -> Result<Sensor, DocumentError> {
    let file: SensorFile = document.parse()?;
    let found = *file.version.get_ref();
    if found != VERSION {
        let known = VERSION;
        return Err(document.error(file.version.span(), Problem::Version { found, known }));
    }
    let model = match (file.continuous_wave, file.scanner) {
        (Some(table), None) => {
            let span = table.span();
            SensorModel::ContinuousWave(table.into_inner().lidar(document, span)?)
        }
        (None, Some(table)) => {
            let source = file.sources.join("; ");
            SensorModel::Scanner(table.scanner(&file.name, source, document)?)
        }
        _ => {
            let problem = Problem::value(
                "a sensor file must have one of the tables [continuous_wave] and [scanner]",
                "give the one that says how the sensor measures; `etendue schema` describes both",
            );
            return Err(document.error(0..0, problem));
        }
    };
    Ok(Sensor {
        name: file.name,
        description: file.description,
        sources: file.sources,
        model,
    })
}
