//! The tables of receivers, ranges and intensity.

use super::phase::PhaseTable;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::beam::BeamWidth;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::pulse::{
    AnalogueDetector, Detector, Discriminator, DualPair, Fmcw, IntensityResponse, Pulse,
    PulseShape, ReflectivityScale, ReturnMode, reference_power,
};
use etendue_sensors::lidar::{
    EchoModel, Intensity, PulsedReceiver, RangeLimits, Receiver, Sensitivity, Triangulation,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Receiver.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReceiverTable {
    /// Pulsed time of flight.
    Pulsed(PulsedTable),
    /// Phase of light that is amplitude-modulated at two frequencies.
    Phase(Box<PhaseTable>),
    /// Triangulation.
    Triangulation(TriangulationTable),
    /// Frequency-modulated continuous wave.
    Fmcw(FmcwTable),
}

/// A pulsed receiver. Give either `analogue` or `photon_counting`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PulsedTable {
    /// Full width of the pulse at half maximum as the receiver sees it, ns.
    pub pulse_fwhm_ns: f64,
    /// Form of the pulse.
    #[serde(default)]
    pub pulse_shape: ShapeOfPulse,
    /// What is timed.
    pub discriminator: DiscriminatorName,
    /// Which echoes are reported.
    pub returns: ReturnsTable,
    /// Time between samples, ns.
    pub sample_ns: f64,
    /// Bits of the converter; left out: no steps.
    pub converter_bits: Option<u8>,
    /// Spread of the range of strong echoes (standard deviation), mm.
    #[serde(default)]
    pub jitter_mm: f64,
    /// How echoes are found.
    #[serde(default)]
    pub pipeline: PipelineName,
    /// What lets ambient light in; left out: the scene's ambient light does not disturb it.
    pub window: Option<PulsedWindowTable>,
    /// Whether echoes that noise alone makes are drawn.
    #[serde(default)]
    pub false_alarms: bool,
    /// Smallest range at which all light of rain, fog, snow and dust lands on the detector, m: the
    /// diameter of the lens over the angle of the detector's field of view. Nearer air is out of
    /// focus: its light falls with the square of the distance. Left out: the range at which the
    /// divergence spreads the beam as wide as its exit, as if lens and detector had the width and
    /// angle of the beam.
    pub full_overlap_m: Option<f64>,
    /// The data sheet's target.
    pub found: FoundTable,
    /// A photodiode.
    pub analogue: Option<AnalogueTable>,
    /// Counted photons.
    pub photon_counting: Option<PhotonCountingTable>,
}

/// What lets ambient light in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PulsedWindowTable {
    /// Peak of the emitted power, W.
    pub peak_power_w: f64,
    /// Full angle of the cone that the detector sees, mrad.
    pub field_of_view_mrad: f64,
    /// Width of the optical filter's pass band, nm.
    pub bandwidth_nm: f64,
}

/// A target that is just found: sets threshold and noise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoundTable {
    /// Its diffuse reflectance.
    pub reflectance: f64,
    /// Its range, m.
    pub range_m: f64,
    /// Probability of finding it.
    #[serde(default = "most")]
    pub probability: f64,
    /// Threshold over the noise's standard deviation.
    #[serde(default = "five")]
    pub threshold_over_noise: f64,
}

/// A photodiode and an amplifier.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalogueTable {
    /// Power that saturates, over the threshold.
    pub saturation_over_threshold: f64,
    /// Variance of the shot noise at the threshold's power over the variance of the noise without
    /// light; 0 for none. Ambient light adds shot noise.
    #[serde(default)]
    pub shot_over_thermal: f64,
}

/// Photons counted into a histogram.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhotonCountingTable {
    /// Mean background counts in one bin.
    pub background_counts: f64,
    /// The most a bin can hold.
    pub capacity_counts: f64,
}

/// Form of a pulse.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShapeOfPulse {
    /// Gaussian.
    #[default]
    Gaussian,
    /// A squared sine.
    SquaredSine,
    /// Quick to rise, slow to fall.
    LaserDiode,
}

/// What is timed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiscriminatorName {
    /// The leading edge at the detection threshold.
    Threshold,
    /// The leading edge where it is steepest.
    LeadingEdge,
    /// The leading edge at this fraction of the peak.
    ConstantFraction(f64),
    /// The peak.
    Peak,
    /// The centre of gravity.
    Centroid,
}

/// Which echoes are reported.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReturnsTable {
    /// The strongest.
    Strongest,
    /// The nearest.
    First,
    /// The farthest.
    Last,
    /// All.
    All,
    /// Two.
    Dual(DualName),
}

/// Which two.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DualName {
    /// The last and the strongest, or the second strongest where they are one (Velodyne, Hesai).
    LastAndStrongest,
    /// The two strongest (Ouster).
    TwoStrongest,
    /// The nearest and the farthest (SICK).
    FirstAndLast,
    /// The two nearest (Livox).
    TwoFirst,
}

/// How echoes are found.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PipelineName {
    /// In closed form.
    #[default]
    Fast,
    /// In a sampled waveform.
    Waveform,
}

/// A triangulating receiver.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriangulationTable {
    /// Distance between laser and lens, mm.
    pub baseline_mm: f64,
    /// Spread of the spot's direction, microradian.
    pub angle_noise_urad: f64,
    /// Step of the spot's direction, microradian; 0 for none.
    #[serde(default)]
    pub angle_step_urad: f64,
    /// A target that is just bright enough.
    pub found: FoundTable,
}

/// A frequency-modulated receiver.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FmcwTable {
    /// Frequency swept by one chirp, GHz.
    pub bandwidth_ghz: f64,
    /// Duration of one chirp, us.
    pub chirp_us: f64,
    /// A target whose beat exceeds the noise by `threshold_over_noise` (a power ratio).
    pub found: FoundTable,
}

/// What ranges are reported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeTable {
    /// Nearest, m.
    pub near_m: f64,
    /// Farthest, m.
    pub far_m: f64,
    /// Step, mm; 0 for none.
    #[serde(default)]
    pub step_mm: f64,
}

/// What intensity is reported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntensityTable {
    /// From power to counts.
    pub response: ResponseTable,
    /// Highest count; left out: numbers as they are.
    pub top: Option<f64>,
}

/// From power to counts.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseTable {
    /// Linear: counts per 1/(m² sr).
    Power(f64),
    /// Logarithmic.
    Log {
        /// Power that reads zero, 1/(m² sr).
        zero: f64,
        /// Counts per factor of ten.
        per_decade: f64,
    },
    /// Range-corrected.
    Reflectivity(ReflectivityName),
}

/// How reflectivity becomes counts.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectivityName {
    /// One count a percent.
    Percent,
    /// 0 to 100 in percent for diffuse surfaces, logarithmically up to 255 at this percentage.
    DiffuseThenRetro(f64),
}

impl ReceiverTable {
    /// Whether the target that is just found can be one.
    pub(super) fn check(&self) -> Result<(), TomlProblem> {
        let found = match self {
            Self::Pulsed(table) => &table.found,
            Self::Phase(_) => return Ok(()),
            Self::Triangulation(table) => &table.found,
            Self::Fmcw(table) => &table.found,
        };
        for (key, number) in [
            ("reflectance", found.reflectance),
            ("range_m", found.range_m),
            ("threshold_over_noise", found.threshold_over_noise),
        ] {
            if !(number > 0.0 && number.is_finite()) {
                let problem = format!("found.{key} is {number}");
                return Err(TomlProblem::value(problem, "give a number above zero"));
            }
        }
        if !(found.probability > 0.0 && found.probability < 1.0) {
            let problem = format!("found.probability is {}", found.probability);
            return Err(TomlProblem::value(problem, "give a number between 0 and 1"));
        }
        Ok(())
    }

    /// The receiver that the table describes.
    pub(super) fn receiver(
        &self,
        wavelength: f64,
        beam: &BeamWidth,
        document: &Document,
    ) -> Result<Receiver, DocumentError> {
        Ok(match self {
            Self::Pulsed(table) => Receiver::Pulsed(table.receiver(beam)),
            Self::Phase(table) => Receiver::Phase(table.receiver(document)?),
            Self::Triangulation(table) => Receiver::Triangulation(table.receiver()),
            Self::Fmcw(table) => Receiver::Fmcw(table.receiver(wavelength)),
        })
    }
}

impl TriangulationTable {
    fn receiver(&self) -> Triangulation {
        Triangulation {
            baseline: self.baseline_mm * 1e-3,
            angle_noise: self.angle_noise_urad * 1e-6,
            angle_step: self.angle_step_urad * 1e-6,
            threshold: reference_power(self.found.reflectance, self.found.range_m),
        }
    }
}

impl FmcwTable {
    fn receiver(&self, wavelength: f64) -> Fmcw {
        Fmcw {
            wavelength,
            bandwidth: self.bandwidth_ghz * 1e9,
            chirp: self.chirp_us * 1e-6,
            noise: reference_power(self.found.reflectance, self.found.range_m)
                / self.found.threshold_over_noise,
            threshold: self.found.threshold_over_noise,
        }
    }
}

impl PulsedTable {
    fn receiver(&self, beam: &BeamWidth) -> PulsedReceiver {
        // Derive threshold and detector from the specified sensitivity
        let sensitivity = Sensitivity {
            reflectance: self.found.reflectance,
            range: self.found.range_m,
            probability: self.found.probability,
            threshold_over_noise: self.found.threshold_over_noise,
        };
        let (threshold, detector) = match (&self.photon_counting, &self.analogue) {
            (Some(counter), _) => {
                sensitivity.photon_counting(counter.background_counts, counter.capacity_counts)
            }
            (None, Some(diode)) => {
                let saturation = diode.saturation_over_threshold;
                let (threshold, detector) = sensitivity.analogue(saturation);
                (threshold, diode.with_shot_noise(threshold, detector))
            }
            (None, None) => sensitivity.analogue(f64::INFINITY),
        };
        // Convert the other numbers to SI units
        PulsedReceiver {
            pulse: Pulse {
                shape: self.pulse_shape.into(),
                fwhm: self.pulse_fwhm_ns * 1e-9,
            },
            discriminator: self.discriminator.into(),
            returns: self.returns.into(),
            threshold,
            reference: 10.0 * threshold,
            detector,
            interval: self.sample_ns * 1e-9,
            bits: self.converter_bits,
            jitter: self.jitter_mm * 1e-3,
            echoes: match self.pipeline {
                PipelineName::Fast => EchoModel::Analytic,
                PipelineName::Waveform => EchoModel::Waveform,
            },
            window: self.window.as_ref().map(|table| ReceiverWindow {
                emitted_power: table.peak_power_w,
                field_of_view: table.field_of_view_mrad * 1e-3,
                bandwidth: table.bandwidth_nm * 1e-9,
            }),
            false_alarms: self.false_alarms,
            full_overlap: self.full_overlap_m.unwrap_or(beam.near_field()),
        }
    }
}

impl AnalogueTable {
    fn with_shot_noise(&self, threshold: f64, detector: Detector) -> Detector {
        match detector {
            Detector::Analogue(analogue) => Detector::Analogue(AnalogueDetector {
                shot_noise: self.shot_over_thermal * analogue.thermal_noise.powi(2) / threshold,
                ..analogue
            }),
            counter @ Detector::PhotonCounting(_) => counter,
        }
    }
}

impl RangeTable {
    pub(super) fn limits(&self) -> RangeLimits {
        RangeLimits {
            near: self.near_m,
            far: self.far_m,
            step: self.step_mm * 1e-3,
        }
    }
}

impl IntensityTable {
    /// The received power as it is.
    pub(super) fn power() -> Intensity {
        Intensity {
            response: IntensityResponse::Power { counts: 1.0 },
            top: None,
        }
    }

    pub(super) fn intensity(&self) -> Intensity {
        let response = match self.response {
            ResponseTable::Power(counts) => IntensityResponse::Power { counts },
            ResponseTable::Log { zero, per_decade } => IntensityResponse::Log { zero, per_decade },
            ResponseTable::Reflectivity(name) => IntensityResponse::Reflectivity {
                scale: match name {
                    ReflectivityName::Percent => ReflectivityScale::Percent,
                    ReflectivityName::DiffuseThenRetro(full_scale) => {
                        ReflectivityScale::DiffuseThenRetro { full_scale }
                    }
                },
            },
        };
        Intensity {
            response,
            top: self.top,
        }
    }
}

impl From<ShapeOfPulse> for PulseShape {
    fn from(name: ShapeOfPulse) -> Self {
        match name {
            ShapeOfPulse::Gaussian => Self::Gaussian,
            ShapeOfPulse::SquaredSine => Self::SquaredSine,
            ShapeOfPulse::LaserDiode => Self::LaserDiode,
        }
    }
}

impl From<DiscriminatorName> for Discriminator {
    fn from(name: DiscriminatorName) -> Self {
        match name {
            DiscriminatorName::Threshold => Self::Threshold,
            DiscriminatorName::LeadingEdge => Self::LeadingEdge,
            DiscriminatorName::ConstantFraction(fraction) => Self::ConstantFraction { fraction },
            DiscriminatorName::Peak => Self::Peak,
            DiscriminatorName::Centroid => Self::Centroid,
        }
    }
}

impl From<ReturnsTable> for ReturnMode {
    fn from(table: ReturnsTable) -> Self {
        match table {
            ReturnsTable::Strongest => Self::Strongest,
            ReturnsTable::First => Self::First,
            ReturnsTable::Last => Self::Last,
            ReturnsTable::All => Self::All,
            ReturnsTable::Dual(pair) => Self::Dual(match pair {
                DualName::LastAndStrongest => DualPair::LastAndStrongest,
                DualName::TwoStrongest => DualPair::TwoStrongest,
                DualName::FirstAndLast => DualPair::FirstAndLast,
                DualName::TwoFirst => DualPair::TwoFirst,
            }),
        }
    }
}

fn most() -> f64 {
    0.9
}

fn five() -> f64 {
    5.0
}
