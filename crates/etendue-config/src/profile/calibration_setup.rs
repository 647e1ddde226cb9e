//! Calibration setups: files that list recordings of panels.
//!
//! ```toml
//! version = 1
//! sensor = "RPLIDAR A1"
//! kind = "triangulating"          # or "time_of_flight"
//! wavelength_nm = 785
//!
//! [[panels]]
//! material = "wood"
//! recording = "wood_data.txt"     # from the folder of this file
//! distance_m = 0.39               # hints: the fitted distance has priority
//! width_m = 1.25
//! source = "recorded by ..., licence ..."
//! ```
//!
//! The `data.config` of ApolloSim is a second format: one line per panel with
//! `name,file,distance,width` and up to three parameters of its reflectance model. These parameters
//! are ignored, because calibration fits its own. Its panels are behind the sensor.

use crate::ConfigError;
use crate::toml_file::{Document, FileKind, TomlProblem, resolve};
use etendue_io::FormatError;
use etendue_io::text::{TextContent, TextLine, is_number};
use schemars::JsonSchema;
use serde::Deserialize;
use std::f64::consts::PI;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Targets of the recordings of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationSetup {
    /// The sensor's name.
    pub sensor: String,
    /// Whether the sensor measures the time of flight; otherwise it triangulates.
    pub time_of_flight: bool,
    /// Wavelength, m, if given.
    pub wavelength: Option<f64>,
    /// The panels.
    pub panels: Vec<SetupPanel>,
}

/// A recorded panel.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupPanel {
    /// Its material.
    pub material: String,
    /// Recording.
    pub recording: PathBuf,
    /// Topic of the lidar in a bag.
    pub topic: Option<String>,
    /// Declared distance, m.
    pub distance: Option<f64>,
    /// Declared width, m.
    pub width: Option<f64>,
    /// Declared bearing of the panel centre, rad.
    pub bearing: Option<f64>,
    /// Declared azimuths of the edges, rad.
    pub sector: Option<[f64; 2]>,
    /// Author and licence of the recording.
    pub source: String,
}

/// A calibration setup file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationSetupFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Name of the sensor.
    pub sensor: String,
    /// Measurement principle.
    #[serde(default)]
    pub kind: KindName,
    /// Wavelength.
    #[serde(default)]
    #[schemars(range(min = 1.0))]
    pub wavelength_nm: Option<f64>,
    /// The panels.
    #[schemars(with = "Vec<PanelTable>")]
    pub panels: Spanned<Vec<PanelTable>>,
}

/// Measurement principle of a sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindName {
    /// Triangulation with a pixel detector next to the laser.
    #[default]
    Triangulating,
    /// Time of flight of pulses or of modulated light.
    TimeOfFlight,
}

/// A panel in a calibration setup file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelTable {
    /// Name of the material.
    pub material: String,
    /// The recording, relative to the folder of this file.
    #[schemars(with = "String")]
    pub recording: Spanned<String>,
    /// Topic of the lidar in a bag; required if the bag has several lidars.
    #[serde(default)]
    pub topic: Option<String>,
    /// Distance of the panel; a hint.
    #[serde(default)]
    #[schemars(range(min = 1e-09))]
    pub distance_m: Option<f64>,
    /// Width of the panel; a hint that separates dropped beams on the panel from beams beyond its
    /// edges.
    #[serde(default)]
    #[schemars(range(min = 1e-09))]
    pub width_m: Option<f64>,
    /// Bearing of the panel centre, anticlockwise from x; selects one of several surfaces.
    #[serde(default)]
    pub bearing_deg: Option<f64>,
    /// Azimuths of the edges, anticlockwise from the first to the second.
    #[serde(default)]
    pub sector_deg: Option<[f64; 2]>,
    /// Author and licence of the recording.
    #[serde(default)]
    pub source: String,
}

/// Reads a calibration setup file, or an ApolloSim configuration.
///
/// # Errors
/// If it cannot be read or is invalid; the error contains the position.
pub fn load_calibration_setup(path: &Path) -> Result<CalibrationSetup, ConfigError> {
    let document = Document::read(path)?;
    if is_apollosim(document.text()) {
        apollosim(&document)
    } else {
        setup(&document)
    }
}

fn setup(document: &Document) -> Result<CalibrationSetup, ConfigError> {
    // Parse the document and check its version
    let file: CalibrationSetupFile = document.parse_as(FileKind::CalibrationSetup)?;
    document.check_version(&file.version, 1)?;
    // Convert the panels
    if file.panels.get_ref().is_empty() {
        let problem = TomlProblem::value(
            "the file has no panels",
            "add [[panels]] with material and recording",
        );
        return Err(document.error(file.panels.span(), problem).into());
    }
    let panel = |table: &PanelTable| -> Result<SetupPanel, ConfigError> {
        Ok(SetupPanel {
            material: table.material.clone(),
            recording: recording_path(document, &table.recording)?,
            topic: table.topic.clone(),
            distance: table.distance_m,
            width: table.width_m,
            bearing: table.bearing_deg.map(f64::to_radians),
            sector: table.sector_deg.map(|edges| edges.map(f64::to_radians)),
            source: table.source.clone(),
        })
    };
    Ok(CalibrationSetup {
        sensor: file.sensor,
        time_of_flight: file.kind == KindName::TimeOfFlight,
        wavelength: file.wavelength_nm.map(|w| w * 1e-9),
        panels: file
            .panels
            .get_ref()
            .iter()
            .map(panel)
            .collect::<Result<_, _>>()?,
    })
}

/// Path of a recording: a file, or a folder of clouds.
fn recording_path(document: &Document, given: &Spanned<String>) -> Result<PathBuf, ConfigError> {
    let folder = document.path().parent().unwrap_or(Path::new(""));
    let plain = folder.join(given.get_ref());
    if plain.is_dir() {
        return Ok(plain);
    }
    Ok(resolve(document, given)?)
}

/// Whether every line is `name,file,number,number[,...]`.
fn is_apollosim(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .peekable();
    let is_row = |line: &str| {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        fields.len() >= 3 && !line.contains('=') && is_number(fields[2])
    };
    lines.peek().is_some() && lines.all(is_row)
}

fn apollosim(document: &Document) -> Result<CalibrationSetup, ConfigError> {
    let text = TextContent {
        path: document.path(),
        content: document.text(),
    };
    Ok(CalibrationSetup {
        sensor: "RPLIDAR A1".into(),
        time_of_flight: false,
        wavelength: Some(785e-9),
        panels: text
            .lines()
            .map(apollosim_panel)
            .collect::<Result<_, _>>()?,
    })
}

/// `name, file, distance, width[, model, roughness, index]`.
fn apollosim_panel(line: TextLine<'_>) -> Result<SetupPanel, FormatError> {
    // Split the line
    let fields: Vec<_> = line.split(',').collect();
    if !(4..=7).contains(&fields.len()) {
        return Err(line.error(
            format!("the line has {} columns; 4 to 7 are allowed", fields.len()),
            "write name,file,distance,width[,model,roughness,index], decimals with a point",
        ));
    }
    // Find the recording next to the file
    let folder = line.path.parent().unwrap_or(Path::new(""));
    let recording = [fields[1].text, file_name(fields[1].text)]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| {
            fields[1].error(
                format!("the recording {} does not exist", fields[1].text),
                "write a path relative to the folder of this file",
            )
        })?;
    Ok(SetupPanel {
        material: fields[0].text.to_owned(),
        recording,
        topic: None,
        distance: Some(fields[2].number()?),
        width: Some(fields[3].number()?),
        bearing: Some(PI),
        sector: None,
        source: String::new(),
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

impl CalibrationSetup {
    /// The panels by material, in the order of the file.
    pub fn materials(&self) -> Vec<(&str, Vec<&SetupPanel>)> {
        let mut materials: Vec<(&str, Vec<&SetupPanel>)> = Vec::new();
        for panel in &self.panels {
            match materials
                .iter_mut()
                .find(|(name, _)| *name == panel.material)
            {
                Some((_, panels)) => panels.push(panel),
                None => materials.push((&panel.material, vec![panel])),
            }
        }
        materials
    }
}
