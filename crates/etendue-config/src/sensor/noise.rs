//! Range noise that is not independent from shot to shot.

use etendue_sensors::lidar::CorrelatedNoise;
use schemars::JsonSchema;
use serde::Deserialize;

/// Range noise that is not independent from shot to shot, as standard deviations. The receiver's own noise is
/// independent.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrelatedNoiseTable {
    /// Noise that is correlated between neighbouring beams of a channel, mm.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub neighbour_mm: f64,
    /// Correlation of that noise, and of the azimuth jitter, between neighbouring beams: 0 to 0.75.
    #[serde(default)]
    pub neighbour_correlation: f64,
    /// Fixed-pattern errors of the channels, mm.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub channel_mm: f64,
    /// Fixed-pattern errors of the beams on each surface, mm.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub beam_mm: f64,
    /// Correlation of the fixed-pattern errors of neighbouring beams: 0 to 0.75.
    #[serde(default)]
    pub beam_correlation: f64,
    /// Noise common to all beams of a sweep, mm.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub scan_mm: f64,
}

impl CorrelatedNoiseTable {
    /// The noise of the table.
    pub(super) fn noise(&self) -> CorrelatedNoise {
        CorrelatedNoise {
            neighbour: self.neighbour_mm * 1e-3,
            neighbour_correlation: self.neighbour_correlation,
            channel: self.channel_mm * 1e-3,
            beam: self.beam_mm * 1e-3,
            beam_correlation: self.beam_correlation,
            scan: self.scan_mm * 1e-3,
        }
    }
}
