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

/// The two modulation frequencies, as integer multiples of a base frequency.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModulationTable {
    /// Common divisor of both frequencies, MHz.
    #[schemars(range(min = 1e-09))]
    pub base_frequency_mhz: f64,
    /// Multiples of the base frequency.
    #[schemars(inner(range(min = 1, max = 1_000_000)))]
    pub multiples: [u32; 2],
    /// Constant phase of each wave, corrected by the receiver, degrees.
    #[serde(default)]
    pub phase_offsets_deg: [f64; 2],
}

/// Phase receiver: light that is amplitude-modulated at two frequencies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseTable {
    /// The two modulation frequencies.
    pub modulation: ModulationTable,
    /// Closed form (fast) or simulation of samples.
    #[serde(default)]
    pub method: MethodName,
    /// Sampling times of the converter: pair, clock, k17 or single-period.
    #[schemars(with = "String")]
    pub sampling: Spanned<String>,
    /// Bits of the converter. Default: no quantisation.
    #[schemars(range(min = 1, max = 32))]
    pub converter_bits: Option<u32>,
    /// Minimum detectable amplitude, 1/(m² sr).
    #[schemars(range(min = 1e-15))]
    pub detectable_power_per_m2_sr: f64,
    /// Minimum amplitude for a range, 1/(m² sr).
    #[schemars(range(min = 1e-15))]
    pub sufficient_power_per_m2_sr: f64,
    /// Maximum difference of the ranges of the two frequencies, m.
    #[schemars(range(min = 1e-09))]
    pub gate_m: f64,
    /// Tolerance of candidate ranges beyond the range limits, m.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub slack_m: f64,
    /// Combination of the two ranges.
    #[serde(default)]
    pub combination: CombinationName,
    /// The automatic gain.
    pub gain: GainTable,
    /// Noise of each sample.
    #[serde(default)]
    pub noise: NoiseTable,
    /// Window for ambient light. Default: no noise from the ambient light of the scene.
    pub window: Option<PhaseWindowTable>,
    /// Dependence of the range on the received power.
    #[serde(default)]
    pub bias: BiasTable,
    /// Minimum range of full overlap, m: the diameter of the lens divided by the angular field of
    /// view of the detector. Backscatter of rain, fog, snow and dust at shorter ranges is out of
    /// focus; its power decreases with the square of the range.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub full_overlap_m: f64,
}

/// Window for ambient light. Its photon noise is `noise.shot_per_m2_sr` per unit of power.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseWindowTable {
    /// Mean emitted optical power, mW.
    #[schemars(range(min = 1e-09))]
    pub emitted_power_mw: f64,
    /// Full angle of the detector's field of view, mrad.
    #[schemars(range(min = 1e-09))]
    pub field_of_view_mrad: f64,
    /// Bandwidth of the optical filter, nm.
    #[schemars(range(min = 1e-09))]
    pub bandwidth_nm: f64,
}

/// Simulation of the phase measurement.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// The closed form with equivalent noise.
    #[default]
    ClosedForm,
    /// Thirty samples with noise, gain, clipping and quantisation.
    Sampled,
}

/// Combination of the two ranges.
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
    /// Target amplitude, in half ranges of the converter.
    #[schemars(range(min = 1e-09))]
    pub target: f64,
    /// Minimum power at which the target is reached, 1/(m² sr).
    #[schemars(range(min = 1e-15))]
    pub weakest_power_per_m2_sr: f64,
    /// Power that saturates the converter at the lowest gain, 1/(m² sr).
    #[schemars(range(min = 1e-15))]
    pub strongest_power_per_m2_sr: f64,
}

/// Noise of each sample.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NoiseTable {
    /// Standard deviation before the gain, 1/(m² sr).
    #[schemars(range(min = 0.0))]
    pub amplifier_per_m2_sr: f64,
    /// Variance per received power (photon noise), 1/(m² sr).
    #[schemars(range(min = 0.0))]
    pub shot_per_m2_sr: f64,
    /// Ambient light on the detector, 1/(m² sr).
    #[schemars(range(min = 0.0))]
    pub background_per_m2_sr: f64,
    /// Standard deviation after the gain, in half ranges of the converter.
    #[schemars(range(min = 0.0))]
    pub converter: f64,
}

/// Dependence of the measurement on the received power P: a polynomial in P that is subtracted.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BiasTable {
    /// None.
    #[default]
    None,
    /// Coefficients of 1, P and P² of the range, m.
    RangeM([f64; 3]),
    /// Coefficients of 1, P and P² of the phase of both waves, rad.
    PhaseRad([f64; 3]),
}

impl PhaseTable {
    /// The receiver of the table.
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
