//! Scan patterns.

use crate::toml_file::TomlProblem;
use etendue_sensors::lidar::{
    Columns, Encoder, Nod, Oscillating, Oscillation, Polygon, Prism, Raster, Risley, ScanPattern,
    Spinning,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Scan pattern: the motion of the beams.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PatternTable {
    /// Rotation; with one channel, a planar scanner.
    Spinning(SpinningTable),
    /// Oscillation of a mirror in azimuth.
    Oscillating(OscillatingTable),
    /// Deflection by rotating wedge prisms.
    Risley(RisleyTable),
    /// Raster of rows and columns.
    Raster(RasterTable),
    /// Facets of a rotating polygon.
    Polygon(PolygonTable),
    /// Firing at evenly spaced azimuths by an encoder.
    Encoder(EncoderTable),
}

/// A rotor. Give either `columns` or `period_us`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpinningTable {
    /// Rotations per second, Hz.
    #[schemars(range(min = 0.001))]
    pub rate_hz: f64,
    /// Whether the rotation is clockwise, seen from above.
    #[serde(default)]
    pub clockwise: bool,
    /// Azimuth of the rotor at the start of the run, degrees.
    #[serde(default)]
    pub start_deg: f64,
    /// Columns per rotation, locked to the motion.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub columns: Option<u32>,
    /// Number of fired columns, from the start. Default: all.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub fired: Option<u32>,
    /// Time between columns, by the clock of the device, us.
    #[schemars(range(min = 0.001))]
    pub period_us: Option<f64>,
    /// Amplitude of the nodding of the beams in elevation, degrees.
    pub nod_deg: Option<f64>,
    /// Frequency of the nodding, Hz.
    #[schemars(range(min = 0.0))]
    pub nod_hz: Option<f64>,
}

/// An oscillating mirror. Give either `columns` or `period_us`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OscillatingTable {
    /// Periods per second, Hz.
    #[schemars(range(min = 0.001))]
    pub rate_hz: f64,
    /// Amplitude in azimuth, degrees.
    pub amplitude_deg: f64,
    /// Waveform of the motion.
    pub motion: OscillationName,
    /// Columns per period, locked to the motion.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub columns: Option<u32>,
    /// Number of fired columns, from the start. Default: all.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub fired: Option<u32>,
    /// Time between columns, by the clock of the device, us.
    #[schemars(range(min = 0.001))]
    pub period_us: Option<f64>,
}

/// Waveform of a mirror's motion.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OscillationName {
    /// Sinusoidal (resonant).
    Sine,
    /// Linear (driven).
    Triangle,
}

/// Rotating wedge prisms. Give either `columns` or `period_us`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RisleyTable {
    /// Sweeps (frames) per second, Hz.
    #[schemars(range(min = 0.001))]
    pub rate_hz: f64,
    /// Columns per sweep, locked to the motion.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub columns: Option<u32>,
    /// Number of fired columns, from the start. Default: all.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub fired: Option<u32>,
    /// Time between columns, by the clock of the device, us.
    #[schemars(range(min = 0.001))]
    pub period_us: Option<f64>,
    /// The prisms, from the laser outwards.
    pub prisms: Vec<PrismTable>,
}

/// A wedge prism.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrismTable {
    /// Angle between its faces, degrees.
    pub wedge_deg: f64,
    /// Refractive index.
    #[schemars(range(min = 1.0, max = 4.0))]
    pub index: f64,
    /// Rotations per minute; negative for the opposite direction.
    pub rate_rpm: f64,
    /// Angle at the start of the run, degrees.
    #[serde(default)]
    pub phase_deg: f64,
}

/// Rows of directions, from top to bottom and left to right.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RasterTable {
    /// Frames per second, Hz.
    #[schemars(range(min = 0.001))]
    pub rate_hz: f64,
    /// Directions per row.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub columns: u32,
    /// Number of rows.
    #[schemars(range(min = 1, max = 100_000))]
    pub rows: u32,
    /// Azimuths of the first and the last direction, degrees.
    pub azimuth_deg: [f64; 2],
    /// Elevations of the first and the last row, degrees.
    pub elevation_deg: [f64; 2],
    /// Whether every second row is reversed.
    #[serde(default)]
    pub serpentine: bool,
}

/// A rotating polygon.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolygonTable {
    /// Rotations per second, Hz.
    #[schemars(range(min = 0.001))]
    pub rate_hz: f64,
    /// Tilt of each facet, degrees.
    pub facet_tilts_deg: Vec<f64>,
    /// Azimuths of the start and the end of a line, degrees.
    pub azimuth_deg: [f64; 2],
    /// Firings per line.
    #[schemars(range(min = 1, max = 100_000))]
    pub columns_per_line: u32,
}

/// A rotating mirror whose encoder fires one column at each of evenly spaced azimuths.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncoderTable {
    /// Rotations per second, Hz.
    #[schemars(range(min = 0.001))]
    pub rate_hz: f64,
    /// Number of columns in a sweep.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub columns: u32,
    /// Azimuth of the first column, anticlockwise from x, degrees.
    pub azimuth_first_deg: f64,
    /// Azimuth step between columns, degrees; negative for clockwise rotation.
    pub azimuth_step_deg: f64,
}

impl EncoderTable {
    fn encoder(&self) -> Encoder {
        Encoder {
            rate: self.rate_hz,
            columns: self.columns,
            first: self.azimuth_first_deg.to_radians(),
            step: self.azimuth_step_deg.to_radians(),
        }
    }
}

impl PatternTable {
    pub(super) fn pattern(&self) -> Result<ScanPattern, TomlProblem> {
        Ok(match self {
            Self::Spinning(table) => ScanPattern::Spinning(table.spinning()?),
            Self::Oscillating(table) => ScanPattern::Oscillating(table.oscillating()?),
            Self::Risley(table) => ScanPattern::Risley(table.risley()?),
            Self::Raster(table) => ScanPattern::Raster(table.raster()),
            Self::Polygon(table) => ScanPattern::Polygon(table.polygon()),
            Self::Encoder(table) => ScanPattern::Encoder(table.encoder()),
        })
    }
}

impl SpinningTable {
    fn spinning(&self) -> Result<Spinning, TomlProblem> {
        let nod = match (self.nod_deg, self.nod_hz) {
            (Some(degrees), Some(rate)) => Some(Nod {
                amplitude: degrees.to_radians(),
                rate,
            }),
            (None, None) => None,
            _ => return Err(both("nod_deg", "nod_hz")),
        };
        Ok(Spinning {
            rate: self.rate_hz,
            clockwise: self.clockwise,
            start: self.start_deg.to_radians(),
            columns: columns(self.columns, self.fired, self.period_us)?,
            nod,
        })
    }
}

impl OscillatingTable {
    fn oscillating(&self) -> Result<Oscillating, TomlProblem> {
        Ok(Oscillating {
            rate: self.rate_hz,
            amplitude: self.amplitude_deg.to_radians(),
            motion: match self.motion {
                OscillationName::Sine => Oscillation::Sine,
                OscillationName::Triangle => Oscillation::Triangle,
            },
            columns: columns(self.columns, self.fired, self.period_us)?,
        })
    }
}

impl RisleyTable {
    fn risley(&self) -> Result<Risley, TomlProblem> {
        let prism = |prism: &PrismTable| Prism {
            wedge: prism.wedge_deg.to_radians(),
            index: prism.index,
            rate: prism.rate_rpm / 60.0,
            phase: prism.phase_deg.to_radians(),
        };
        Ok(Risley {
            rate: self.rate_hz,
            prisms: self.prisms.iter().map(prism).collect(),
            columns: columns(self.columns, self.fired, self.period_us)?,
        })
    }
}

impl RasterTable {
    fn raster(&self) -> Raster {
        Raster {
            rate: self.rate_hz,
            columns: self.columns,
            rows: self.rows,
            azimuths: self.azimuth_deg.map(f64::to_radians),
            elevations: self.elevation_deg.map(f64::to_radians),
            serpentine: self.serpentine,
        }
    }
}

impl PolygonTable {
    fn polygon(&self) -> Polygon {
        Polygon {
            rate: self.rate_hz,
            facet_tilts: self
                .facet_tilts_deg
                .iter()
                .map(|tilt| tilt.to_radians())
                .collect(),
            azimuths: self.azimuth_deg.map(f64::to_radians),
            columns_per_line: self.columns_per_line,
        }
    }
}

fn columns(
    columns: Option<u32>,
    fired: Option<u32>,
    period_us: Option<f64>,
) -> Result<Columns, TomlProblem> {
    match (columns, period_us) {
        (Some(columns), None) => Ok(Columns::PerSweep { columns, fired }),
        (None, Some(period)) if fired.is_none() => Ok(Columns::Period {
            seconds: period * 1e-6,
        }),
        (None, Some(_)) => Err(TomlProblem::value(
            "\"fired\" cannot be combined with \"period_us\"",
            "give \"columns\" instead of \"period_us\", or remove \"fired\"",
        )),
        _ => Err(TomlProblem::value(
            "the pattern must have one of \"columns\" and \"period_us\"",
            "write \"columns = 1024\" (locked to the motion) or \"period_us = 55.296\" (by a clock)",
        )),
    }
}

fn both(one: &str, other: &str) -> TomlProblem {
    TomlProblem::value(
        format!("only one of \"{one}\" and \"{other}\" is given"),
        "give both or none",
    )
}
