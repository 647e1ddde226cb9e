//! The table of a scanning lidar.

mod beam;
mod channels;
mod pattern;
mod receiver;

pub use beam::{BeamTable, MeasuredAt, ShapeName};
pub use channels::ChannelsTable;
pub use pattern::{
    OscillatingTable, OscillationName, PatternTable, PolygonTable, PrismTable, RasterTable,
    RisleyTable, SpinningTable,
};
pub use receiver::{
    AnalogueTable, DiscriminatorName, DualName, FmcwTable, FoundTable, IntensityTable,
    PhotonCountingTable, PipelineName, PulsedTable, RangeTable, ReceiverTable, ReflectivityName,
    ResponseTable, ReturnsTable, ShapeOfPulse, TriangulationTable,
};

use crate::toml_file::{Document, DocumentError, Problem};
use etendue_sensors::scanner::{Scanner, ScannerError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// A scanning lidar: pulsed, triangulating or frequency-modulated; planar or of many channels.
///
/// Powers are relative: received power over transmitted power and receiver aperture, in
/// 1/(m² sr). A surface of diffuse reflectance ρ that fills the beam at distance R and incidence
/// θ returns ρ cos θ / (π R²).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScannerTable {
    /// Wavelength of the light, nm.
    pub wavelength_nm: f64,
    /// How the beams move.
    pub pattern: PatternTable,
    /// The firing table: one entry a laser.
    #[schemars(with = "ChannelsTable")]
    pub channels: Spanned<ChannelsTable>,
    /// The beams.
    pub beam: BeamTable,
    /// What ranges are reported.
    pub range: RangeTable,
    /// What becomes of the light.
    pub receiver: ReceiverTable,
    /// What intensity is reported.
    pub intensity: IntensityTable,
}

impl ScannerTable {
    /// The scanner that the table describes, checked. `span` is where the table stands.
    pub(super) fn scanner(
        self,
        name: &str,
        source: String,
        document: &Document,
        span: Range<usize>,
    ) -> Result<Scanner, DocumentError> {
        let channels_span = self.channels.span();
        let channels = self
            .channels
            .into_inner()
            .channels()
            .map_err(|problem| document.error(channels_span.clone(), problem))?;
        let checked = self.receiver.check();
        checked.map_err(|problem| document.error(span.clone(), problem))?;
        let beam = self.beam.width();
        let wavelength = self.wavelength_nm * 1e-9;
        let scanner = Scanner {
            name: name.to_owned(),
            source,
            wavelength,
            channels,
            pattern: self
                .pattern
                .pattern()
                .map_err(|problem| document.error(span.clone(), problem))?,
            beam,
            sub_ray_rings: self.beam.sub_ray_rings,
            receiver: self.receiver.receiver(wavelength, &beam),
            limits: self.range.limits(),
            intensity: self.intensity.intensity(),
        };
        scanner.checked().map_err(|error| {
            let span = match error {
                ScannerError::Value { .. } => span,
                _ => channels_span,
            };
            let problem = Problem::value(error.to_string(), "correct it in this table");
            document.error(span, problem)
        })
    }
}
