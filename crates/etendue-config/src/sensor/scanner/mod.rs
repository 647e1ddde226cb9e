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
use etendue_sensors::lidar::{Beam, Lidar, LidarError, LidarPart};
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
    #[schemars(with = "f64")]
    pub wavelength_nm: Spanned<f64>,
    /// How the beams move.
    #[schemars(with = "PatternTable")]
    pub pattern: Spanned<PatternTable>,
    /// The firing table: one entry a laser.
    #[schemars(with = "ChannelsTable")]
    pub channels: Spanned<ChannelsTable>,
    /// The beams.
    #[schemars(with = "BeamTable")]
    pub beam: Spanned<BeamTable>,
    /// What ranges are reported.
    #[schemars(with = "RangeTable")]
    pub range: Spanned<RangeTable>,
    /// What becomes of the light.
    #[schemars(with = "ReceiverTable")]
    pub receiver: Spanned<ReceiverTable>,
    /// What intensity is reported.
    #[schemars(with = "IntensityTable")]
    pub intensity: Spanned<IntensityTable>,
}

impl ScannerTable {
    /// The scanner that the table describes, checked.
    pub(super) fn scanner(
        &self,
        name: &str,
        source: String,
        document: &Document,
    ) -> Result<Lidar, DocumentError> {
        let channels = { self.channels.get_ref().channels() }
            .map_err(|problem| document.error(self.channels.span(), problem))?;
        let pattern = { self.pattern.get_ref().pattern() }
            .map_err(|problem| document.error(self.pattern.span(), problem))?;
        let receiver = self.receiver.get_ref();
        { receiver.check() }.map_err(|problem| document.error(self.receiver.span(), problem))?;
        let beam = self.beam.get_ref().width();
        let wavelength = self.wavelength_nm.get_ref() * 1e-9;
        let scanner = Lidar {
            name: name.to_owned(),
            source,
            wavelength,
            channels,
            pattern,
            beam: Beam::elliptic(beam, self.beam.get_ref().sub_ray_rings),
            receiver: receiver.receiver(wavelength, &beam),
            limits: self.range.get_ref().limits(),
            intensity: self.intensity.get_ref().intensity(),
        };
        scanner.checked().map_err(|error| {
            let problem = Problem::value(error.to_string(), "correct it here");
            document.error(self.span_of(&error), problem)
        })
    }

    /// Where what is wrong stands.
    fn span_of(&self, error: &LidarError) -> Range<usize> {
        let LidarError::Value { part, .. } = error else {
            return self.channels.span();
        };
        match part {
            LidarPart::Wavelength => self.wavelength_nm.span(),
            LidarPart::Pattern => self.pattern.span(),
            LidarPart::Beam => self.beam.span(),
            LidarPart::Range => self.range.span(),
            LidarPart::Receiver => self.receiver.span(),
            LidarPart::Intensity => self.intensity.span(),
        }
    }
}
