//! Schema of sensor files.

use super::beam::BeamTable;
use super::channels::ChannelsTable;
use super::noise::CorrelatedNoiseTable;
use super::pattern::PatternTable;
use super::receiver::{IntensityTable, RangeTable, ReceiverTable};
use super::version_1;
use crate::ConfigError;
use crate::toml_file::{Document, DocumentError, FileKind, TomlProblem};
use etendue_sensors::lidar::{Channel, CorrelatedNoise, Lidar, LidarError, LidarPart};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

/// A lidar with its description.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Name of the sensor.
    pub name: String,
    /// Description, in a sentence.
    pub description: String,
    /// References of the values.
    pub sources: Vec<String>,
    /// The lidar.
    pub lidar: Lidar,
}

/// A sensor file: a lidar with any receiver and any number of channels.
///
/// Powers are relative to the transmitted power and the receiver aperture, in 1/(m² sr). A surface
/// of diffuse reflectance ρ that fills the beam at range R and incidence θ returns ρ cos θ / (π
/// R²).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorFile {
    /// Version of this format: 2.
    pub version: u32,
    /// Name of the sensor.
    pub name: String,
    /// Description, in a sentence.
    #[serde(default)]
    pub description: String,
    /// References of the values.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Wavelength of the light, nm.
    #[schemars(with = "f64")]
    #[schemars(range(min = 1.0))]
    pub wavelength_nm: Spanned<f64>,
    /// Motion of the beams.
    #[schemars(with = "PatternTable")]
    pub pattern: Spanned<PatternTable>,
    /// Firing table with one entry per laser. Default: one horizontal laser.
    #[schemars(with = "Option<ChannelsTable>")]
    pub channels: Option<Spanned<ChannelsTable>>,
    /// Cross-section of the beams.
    #[schemars(with = "BeamTable")]
    pub beam: Spanned<BeamTable>,
    /// Limits and quantisation of reported ranges.
    #[schemars(with = "RangeTable")]
    pub range: Spanned<RangeTable>,
    /// Range noise that is not independent from shot to shot. Default: none.
    #[schemars(with = "Option<CorrelatedNoiseTable>")]
    pub noise: Option<Spanned<CorrelatedNoiseTable>>,
    /// Receiver.
    #[schemars(with = "ReceiverTable")]
    pub receiver: Spanned<ReceiverTable>,
    /// Reported intensity. Default: the received power.
    #[schemars(with = "Option<IntensityTable>")]
    pub intensity: Option<Spanned<IntensityTable>>,
}

/// Reads a sensor file.
///
/// # Errors
/// If it cannot be read, is not TOML, has unknown keys, or describes an invalid sensor; the error
/// contains the position. The error of a version 1 file lists the new name of each key.
pub fn load(path: &Path) -> Result<Sensor, ConfigError> {
    Ok(parse(&Document::read(path)?)?)
}

/// Parses a sensor file.
///
/// # Errors
/// As [`load`], except errors of reading.
///
/// ```
/// use etendue_config::sensor::{parse, presets};
/// use etendue_config::toml_file::Document;
///
/// let text = presets().iter().find(|p| p.name == "hokuyo-urg-04lx").unwrap().text.replace("far_m", "fare_m");
/// let error = parse(&Document::new("mine.toml", text)).unwrap_err();
/// assert_eq!(error.remedy(), "did you mean \"far_m\"?");
/// ```
pub fn parse(document: &Document) -> Result<Sensor, DocumentError> {
    document.refused(FileKind::Sensor)?;
    version_1::refuse(document)?;
    let file: SensorFile = document.parse()?;
    let lidar = file.lidar(document)?;
    Ok(Sensor {
        name: file.name,
        description: file.description,
        sources: file.sources,
        lidar,
    })
}

/// Quantities of channels in error messages, with their keys.
const CHANNEL_KEYS: [(&str, &str); 3] = [
    ("elevation", "elevation_deg"),
    ("azimuth", "azimuth_deg"),
    ("time", "time_us"),
];

impl SensorFile {
    /// The lidar of the file, checked.
    fn lidar(&self, document: &Document) -> Result<Lidar, DocumentError> {
        // Convert the tables
        let at = |span: Range<usize>| move |problem: TomlProblem| document.error(span, problem);
        let channels = match &self.channels {
            Some(table) => table.get_ref().channels().map_err(|(key, problem)| {
                let list = document.span_of(&["channels", key], None);
                document.error(list.unwrap_or(table.span()), problem)
            })?,
            None => vec![Channel::default()],
        };
        let pattern = (self.pattern.get_ref().pattern()).map_err(at(self.pattern.span()))?;
        let beam = (self.beam.get_ref().beam()).map_err(at(self.beam.span()))?;
        let receiver = self.receiver.get_ref();
        receiver.check().map_err(at(self.receiver.span()))?;
        let wavelength = self.wavelength_nm.get_ref() * 1e-9;
        let limits = self.range.get_ref().limits();
        // Assemble the lidar
        let lidar = Lidar {
            name: self.name.clone(),
            source: self.sources.join("; "),
            wavelength,
            channels,
            pattern,
            beam,
            receiver: receiver.receiver(wavelength, &beam.width(), document)?,
            limits,
            noise: (self.noise.as_ref())
                .map_or_else(CorrelatedNoise::default, |table| table.get_ref().noise()),
            intensity: (self.intensity.as_ref())
                .map_or_else(IntensityTable::power, |table| table.get_ref().intensity()),
        };
        // Check it as a whole; an error refers to a number or to its table
        lidar.checked().map_err(|error| {
            let (table, span) = self.table_of(&error);
            let remedy = format!(
                "change {table} here; `etendue schema sensor` has the unit and the range of every key"
            );
            let problem = TomlProblem::value(error.to_string(), remedy);
            match error {
                LidarError::Value { value, .. } => {
                    document.error_at_value(&[table], value, span, problem)
                }
                LidarError::Channel { channel, what, .. } => {
                    let key = CHANNEL_KEYS.iter().find(|(word, _)| what.contains(word));
                    let number =
                        key.and_then(|(_, key)| document.span_of(&[table, key], Some(channel)));
                    document.error(number.unwrap_or(span), problem)
                }
                _ => document.error(span, problem),
            }
        })
    }

    /// Name and position of the invalid table.
    fn table_of(&self, error: &LidarError) -> (&'static str, Range<usize>) {
        let part = match error {
            LidarError::Value { part, .. } => part,
            LidarError::PhaseReceiver(_) => &LidarPart::Receiver,
            _ => {
                return (
                    "channels",
                    self.channels.as_ref().map_or(0..0, Spanned::span),
                );
            }
        };
        match part {
            LidarPart::Wavelength => ("wavelength_nm", self.wavelength_nm.span()),
            LidarPart::Pattern => ("pattern", self.pattern.span()),
            LidarPart::Beam => ("beam", self.beam.span()),
            LidarPart::Range => ("range", self.range.span()),
            LidarPart::Noise => ("noise", self.noise.as_ref().map_or(0..0, Spanned::span)),
            LidarPart::Receiver => ("receiver", self.receiver.span()),
            LidarPart::Intensity => (
                "intensity",
                self.intensity.as_ref().map_or(0..0, Spanned::span),
            ),
        }
    }
}
