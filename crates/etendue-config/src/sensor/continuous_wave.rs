//! The table of a continuous-wave lidar.

use crate::toml_file::{Document, DocumentError, Problem};
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Bias, Combination, Modulation, Noise, SamplingScheme, Window,
};
use etendue_sensors::cw::{Beam, CwLidar, InvalidLidar};
use etendue_sensors::lidar::{PhaseMethod, PhaseReceiver};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// A lidar that measures the phase of continuous waves at two frequencies.
///
/// Powers are relative: received power over transmitted power and receiver aperture, in 1/(m² sr).
/// A surface of diffuse reflectance ρ that fills the beam at distance R and incidence θ returns
/// ρ cos θ / (π R²).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContinuousWaveTable {
    /// Wavelength of the light, nm.
    pub wavelength_nm: f64,
    /// Nearest range reported, m.
    pub range_min_m: f64,
    /// Farthest range reported, m.
    pub range_max_m: f64,
    /// Step of the reported ranges, mm; left out: no rounding.
    pub range_resolution_mm: Option<f64>,
    /// Time of a whole turn, ms.
    pub turn_time_ms: f64,
    /// The beams of a sweep.
    pub beams: BeamsTable,
    /// The two frequencies.
    pub modulation: ModulationTable,
    /// What turns light into a range.
    pub receiver: ReceiverTable,
}

/// The beams of a sweep: a fan in the sensor's x-y plane.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeamsTable {
    /// How many.
    pub count: u32,
    /// Azimuth of the first, anticlockwise from x, degrees.
    pub azimuth_first_deg: f64,
    /// From one to the next, degrees; negative for clockwise.
    pub azimuth_step_deg: f64,
    /// Standard deviation of each beam's azimuth, mrad.
    #[serde(default)]
    pub azimuth_jitter_mrad: f64,
    /// Full angle of a beam, mrad (diameter over distance).
    pub divergence_mrad: f64,
    /// How a beam is sampled by rays.
    #[serde(default)]
    pub pattern: PatternTable,
}

/// How a beam is sampled by rays.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PatternTable {
    /// One ray, on the axis.
    Centre,
    /// Three rays 120 degrees apart.
    Three {
        /// Distance from the axis in beam radii; left out: 1/√2, the disc's root mean square.
        radius: Option<f64>,
    },
    /// Rings of 6, 12, 18... rays about the axis, of equal area.
    Rings {
        /// Number of rings.
        count: u32,
    },
    /// The same, weighted as a Gaussian beam.
    Gaussian {
        /// Number of rings.
        count: u32,
    },
}

/// The two frequencies: whole multiples of one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModulationTable {
    /// Common divisor of both frequencies, MHz.
    pub base_frequency_mhz: f64,
    /// How many times the base each frequency is.
    pub multiples: [u32; 2],
    /// Constant phase of each wave, which the receiver removes, degrees.
    #[serde(default)]
    pub phase_offsets_deg: [f64; 2],
}

/// What turns light into a range.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiverTable {
    /// Closed form (fast) or sample by sample.
    #[serde(default)]
    pub method: MethodName,
    /// When the converter samples: pair, clock, k17 or single-period.
    #[schemars(with = "String")]
    pub sampling: Spanned<String>,
    /// Bits of the converter; left out: no quantisation.
    pub converter_bits: Option<u32>,
    /// Amplitude below which nothing is detected, 1/(m² sr).
    pub detectable_power_per_m2_sr: f64,
    /// Amplitude below which the intensity is too low for a range, 1/(m² sr).
    pub sufficient_power_per_m2_sr: f64,
    /// Disagreement of the two frequencies that is no measurement, m.
    pub gate_m: f64,
    /// How far beyond the range limits a candidate range may lie, m.
    pub slack_m: f64,
    /// One range of two.
    #[serde(default)]
    pub combination: CombinationName,
    /// The automatic gain.
    pub gain: GainTable,
    /// Noise of each sample.
    #[serde(default)]
    pub noise: NoiseTable,
    /// What lets ambient light in; left out: the scene's ambient light does not disturb it.
    pub window: Option<WindowTable>,
    /// How received power shifts the range.
    #[serde(default)]
    pub bias: BiasTable,
}

/// What lets ambient light in. Its photon noise is `noise.shot_per_m2_sr` for each unit of power.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowTable {
    /// Mean optical power that the sensor emits, mW.
    pub emitted_power_mw: f64,
    /// Full angle of the cone that the detector sees, mrad.
    pub field_of_view_mrad: f64,
    /// Width of the optical filter's pass band, nm.
    pub bandwidth_nm: f64,
}

/// How a receiver measures a wave.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// The closed form, with noise of the right size.
    #[default]
    ClosedForm,
    /// Thirty samples with noise, gain, clipping and quantisation.
    Sampled,
}

/// One range of two.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CombinationName {
    /// The mean.
    #[default]
    Mean,
    /// Weighted by the square of the frequency.
    FrequencySquared,
}

/// The automatic gain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GainTable {
    /// Amplitude aimed at, in half ranges of the converter.
    pub target: f64,
    /// Power down to which the target is held, 1/(m² sr).
    pub weakest_power_per_m2_sr: f64,
    /// Power that just saturates the converter at the lowest gain, 1/(m² sr).
    pub strongest_power_per_m2_sr: f64,
}

/// Noise of each sample.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NoiseTable {
    /// Standard deviation before the gain, 1/(m² sr).
    pub amplifier_per_m2_sr: f64,
    /// Variance per received power (photon noise), 1/(m² sr).
    pub shot_per_m2_sr: f64,
    /// Ambient light on the detector, 1/(m² sr).
    pub background_per_m2_sr: f64,
    /// Standard deviation after the gain, in half ranges of the converter.
    pub converter: f64,
}

/// How received power P shifts the measurement: by a polynomial in P that is subtracted.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BiasTable {
    /// Not at all.
    #[default]
    None,
    /// Coefficients of 1, P and P² of a range, m.
    RangeM([f64; 3]),
    /// Coefficients of 1, P and P² of the phase of both waves, rad.
    PhaseRad([f64; 3]),
}

impl Default for PatternTable {
    fn default() -> Self {
        Self::Three { radius: None }
    }
}

impl ContinuousWaveTable {
    /// The lidar that the table describes, checked. `span` is where the table stands.
    pub(super) fn lidar(
        self,
        document: &Document,
        span: Range<usize>,
    ) -> Result<CwLidar<f64>, DocumentError> {
        let turn_time = self.turn_time_ms * 1e-3;
        let lidar = CwLidar {
            beams: self.beams.fan(turn_time),
            turn_time,
            wavelength: self.wavelength_nm * 1e-9,
            half_tangent: self.beams.divergence_mrad * 1e-3 / 2.0,
            pattern: self.beams.pattern.into(),
            azimuth_jitter: self.beams.azimuth_jitter_mrad * 1e-3,
            resolution: self.range_resolution_mm.map(|step| step * 1e-3),
            receiver: self.receiver(document)?,
        };
        let invalid = |error: InvalidLidar| {
            let problem = Problem::value(error.to_string(), "correct it in this table");
            document.error(span, problem)
        };
        lidar.check().map_err(invalid)?;
        Ok(lidar)
    }

    fn receiver(&self, document: &Document) -> Result<PhaseReceiver<f64>, DocumentError> {
        let receiver = &self.receiver;
        let sampling = SamplingScheme::from_name(receiver.sampling.get_ref()).map_err(|error| {
            let problem = Problem::value(error.to_string(), "write sampling = \"pair\"");
            document.error(receiver.sampling.span(), problem)
        })?;
        Ok(PhaseReceiver {
            modulation: (&self.modulation).into(),
            sampling,
            converter_bits: receiver.converter_bits,
            gain: (&receiver.gain).into(),
            noise: (&receiver.noise).into(),
            window: receiver.window.as_ref().map(Window::from),
            detectable: receiver.detectable_power_per_m2_sr,
            sufficient: receiver.sufficient_power_per_m2_sr,
            ambiguity: Ambiguity {
                nearest: self.range_min_m,
                farthest: self.range_max_m,
                slack: receiver.slack_m,
                gate: receiver.gate_m,
                combination: receiver.combination.into(),
            },
            bias: receiver.bias.into(),
            method: receiver.method.into(),
            full_overlap: 0.0,
        })
    }
}

impl BeamsTable {
    fn fan(&self, turn_time: f64) -> Vec<Beam> {
        let first = self.azimuth_first_deg.to_radians();
        let step = self.azimuth_step_deg.to_radians();
        Beam::fan(self.count, first, step, turn_time)
    }
}

impl From<PatternTable> for SubRayPattern {
    fn from(table: PatternTable) -> Self {
        match table {
            PatternTable::Centre => Self::Centre,
            PatternTable::Three { radius: None } => Self::THREE,
            PatternTable::Three {
                radius: Some(radius),
            } => Self::Three { radius },
            PatternTable::Rings { count } => Self::Rings { rings: count },
            PatternTable::Gaussian { count } => Self::Gaussian { rings: count },
        }
    }
}

impl From<&ModulationTable> for Modulation {
    fn from(table: &ModulationTable) -> Self {
        Self {
            base_frequency: table.base_frequency_mhz * 1e6,
            multiples: table.multiples,
            offsets: table.phase_offsets_deg.map(f64::to_radians),
        }
    }
}

impl From<&GainTable> for AutomaticGain {
    fn from(table: &GainTable) -> Self {
        Self {
            target: table.target,
            strongest: table.strongest_power_per_m2_sr,
            weakest: table.weakest_power_per_m2_sr,
        }
    }
}

impl From<&NoiseTable> for Noise {
    fn from(table: &NoiseTable) -> Self {
        Self {
            amplifier: table.amplifier_per_m2_sr,
            shot: table.shot_per_m2_sr,
            background: table.background_per_m2_sr,
            converter: table.converter,
        }
    }
}

impl From<&WindowTable> for Window {
    fn from(table: &WindowTable) -> Self {
        Self {
            emitted_power: table.emitted_power_mw * 1e-3,
            field_of_view: table.field_of_view_mrad * 1e-3,
            bandwidth: table.bandwidth_nm * 1e-9,
        }
    }
}

impl From<CombinationName> for Combination {
    fn from(name: CombinationName) -> Self {
        match name {
            CombinationName::Mean => Self::Mean,
            CombinationName::FrequencySquared => Self::FrequencySquared,
        }
    }
}

impl From<MethodName> for PhaseMethod {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::ClosedForm => Self::ClosedForm,
            MethodName::Sampled => Self::Sampled,
        }
    }
}

impl From<BiasTable> for Bias<f64> {
    fn from(table: BiasTable) -> Self {
        match table {
            BiasTable::None => Self::None,
            BiasTable::RangeM(coefficients) => Self::Range(coefficients),
            BiasTable::PhaseRad(coefficients) => Self::Phase(coefficients),
        }
    }
}
