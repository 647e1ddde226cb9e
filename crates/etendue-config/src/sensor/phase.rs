//! The table of a phase receiver.

use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::light::ReceiverWindow;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Combination, Modulation, PhaseReceiverNoise, PowerDependentBias,
    SamplingScheme,
};
use etendue_sensors::lidar::{PhaseMethod, PhaseReceiver};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

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

/// Phase receiver: light that is amplitude-modulated at two frequencies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseTable {
    /// The two modulation frequencies.
    pub modulation: ModulationTable,
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
    pub window: Option<PhaseWindowTable>,
    /// How received power shifts the range.
    #[serde(default)]
    pub bias: BiasTable,
    /// Smallest range at which all light of rain, fog, snow and dust lands on the detector, m: the
    /// diameter of the lens over the angle of the detector's field of view. Nearer air is out of
    /// focus: its light falls with the square of the distance.
    #[serde(default)]
    pub full_overlap_m: f64,
}

/// What lets ambient light in. Its photon noise is `noise.shot_per_m2_sr` for each unit of power.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseWindowTable {
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

impl PhaseTable {
    /// The receiver that the table describes.
    pub(super) fn receiver(&self, document: &Document) -> Result<PhaseReceiver, DocumentError> {
        let sampling = SamplingScheme::from_name(self.sampling.get_ref()).map_err(|error| {
            let problem = TomlProblem::value(error.to_string(), "write sampling = \"pair\"");
            document.error(self.sampling.span(), problem)
        })?;
        Ok(PhaseReceiver {
            modulation: (&self.modulation).into(),
            sampling,
            converter_bits: self.converter_bits,
            gain: (&self.gain).into(),
            noise: (&self.noise).into(),
            window: self.window.as_ref().map(ReceiverWindow::from),
            detectable: self.detectable_power_per_m2_sr,
            sufficient: self.sufficient_power_per_m2_sr,
            ambiguity: Ambiguity {
                slack: self.slack_m,
                gate: self.gate_m,
                combination: self.combination.into(),
            },
            bias: self.bias.into(),
            method: self.method.into(),
            full_overlap: self.full_overlap_m,
        })
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

impl From<&NoiseTable> for PhaseReceiverNoise {
    fn from(table: &NoiseTable) -> Self {
        Self {
            amplifier: table.amplifier_per_m2_sr,
            shot: table.shot_per_m2_sr,
            background: table.background_per_m2_sr,
            converter: table.converter,
        }
    }
}

impl From<&PhaseWindowTable> for ReceiverWindow {
    fn from(table: &PhaseWindowTable) -> Self {
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

impl From<BiasTable> for PowerDependentBias<f64> {
    fn from(table: BiasTable) -> Self {
        match table {
            BiasTable::None => Self::None,
            BiasTable::RangeM(coefficients) => Self::Range(coefficients),
            BiasTable::PhaseRad(coefficients) => Self::Phase(coefficients),
        }
    }
}
