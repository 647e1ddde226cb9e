//! The tables of receivers, ranges and intensity.

use super::phase::PhaseTable;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::beam::BeamWidth;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::pulse::{
    AnalogueDetector, Detector, Discriminator, DualPair, Fmcw, IntensityResponse, OverloadRecovery,
    Pulse, PulseShape, ReflectivityScale, ReturnMode, reference_power,
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
    /// Full width at half maximum of the pulse in the receiver, ns.
    #[schemars(range(min = 1e-06))]
    pub pulse_fwhm_ns: f64,
    /// Shape of the pulse.
    #[serde(default)]
    pub pulse_shape: ShapeOfPulse,
    /// Discriminator: the timed feature of an echo.
    pub discriminator: DiscriminatorName,
    /// Reported echoes.
    pub returns: ReturnsTable,
    /// Time between samples, ns.
    #[schemars(range(min = 1e-06))]
    pub sample_ns: f64,
    /// Bits of the converter. Default: no quantisation.
    pub converter_bits: Option<u8>,
    /// Standard deviation of the range of strong echoes, mm.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub jitter_mm: f64,
    /// Detection of echoes.
    #[serde(default)]
    pub pipeline: PipelineName,
    /// Window for ambient light. Default: no noise from the ambient light of the scene.
    pub window: Option<PulsedWindowTable>,
    /// Whether to simulate false alarms from noise.
    #[serde(default)]
    pub false_alarms: bool,
    /// Minimum range of full overlap, m: the diameter of the lens divided by the angular field of
    /// view of the detector. Backscatter of rain, fog, snow and dust at shorter ranges is out of
    /// focus; its power decreases with the square of the range. Default: the range at which the
    /// divergence equals the exit width of the beam, as for a lens and a detector with the width
    /// and the angle of the beam.
    #[schemars(range(min = 0.0))]
    pub full_overlap_m: Option<f64>,
    /// Sensitivity of the data sheet.
    pub found: FoundTable,
    /// A photodiode.
    pub analogue: Option<AnalogueTable>,
    /// Photon counting.
    pub photon_counting: Option<PhotonCountingTable>,
}

/// Window for ambient light.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PulsedWindowTable {
    /// Peak emitted power, W.
    #[schemars(range(min = 1e-09))]
    pub peak_power_w: f64,
    /// Full angle of the detector's field of view, mrad.
    #[schemars(range(min = 1e-09))]
    pub field_of_view_mrad: f64,
    /// Bandwidth of the optical filter, nm.
    #[schemars(range(min = 1e-09))]
    pub bandwidth_nm: f64,
}

/// A target at the limit of detection. It determines threshold and noise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoundTable {
    /// Diffuse reflectance of the target.
    #[schemars(range(min = 1e-09, max = 1.0))]
    pub reflectance: f64,
    /// Range of the target, m.
    #[schemars(range(min = 1e-09))]
    pub range_m: f64,
    /// Probability of detection by a pulsed receiver. Default: 0.9. FMCW and triangulating receivers have no such key:
    /// they find every target of at least the power of this one, and no weaker one.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: Option<f64>,
    /// Ratio of the threshold to the standard deviation of the noise; of an FMCW receiver, to the mean power of the noise.
    /// Triangulating receivers have no such key. Default: 5.0.
    #[schemars(range(min = 1e-09))]
    pub threshold_over_noise: Option<f64>,
}

impl FoundTable {
    fn probability(&self) -> f64 {
        self.probability.unwrap_or(0.9)
    }

    fn threshold_over_noise(&self) -> f64 {
        self.threshold_over_noise.unwrap_or(5.0)
    }
}

/// A photodiode with an amplifier.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalogueTable {
    /// Ratio of saturation power and threshold.
    #[schemars(range(min = 1e-09))]
    pub saturation_over_threshold: f64,
    /// Ratio of the shot-noise variance at the threshold and the variance of the noise without
    /// light; 0 for no shot noise. Ambient light adds shot noise.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub shot_over_thermal: f64,
    /// Time constant of the recovery after saturation, ns. The charge above saturation leaves the amplifier later, and lengthens
    /// the echo. Only with `pipeline = "waveform"`.
    #[schemars(range(min = 1e-09))]
    pub recovery_ns: Option<f64>,
    /// Share of the charge above saturation that leaves later.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub recovery_share: f64,
}

/// Histogram of photon counts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhotonCountingTable {
    /// Mean background counts in one bin.
    #[schemars(range(min = 1e-09))]
    pub background_counts: f64,
    /// Maximum count of a bin.
    #[schemars(range(min = 1e-09))]
    pub capacity_counts: f64,
}

/// Shape of a pulse.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShapeOfPulse {
    /// Gaussian.
    #[default]
    Gaussian,
    /// A squared sine.
    SquaredSine,
    /// Fast rise, slow decay.
    LaserDiode,
}

/// Timed feature of an echo.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiscriminatorName {
    /// The leading edge at the detection threshold.
    Threshold,
    /// The steepest point of the leading edge.
    LeadingEdge,
    /// The leading edge at this fraction of the peak.
    ConstantFraction(#[schemars(range(min = 0.001, max = 0.999))] f64),
    /// The peak.
    Peak,
    /// The centroid.
    Centroid,
}

/// Reported echoes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReturnsTable {
    /// The strongest echo.
    Strongest,
    /// The nearest echo.
    First,
    /// The farthest echo.
    Last,
    /// All echoes.
    All,
    /// Two echoes.
    Dual(DualName),
}

/// Selection of two echoes.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DualName {
    /// The last and the strongest, or the second strongest if they are the same (Velodyne, Hesai).
    LastAndStrongest,
    /// The two strongest (Ouster).
    TwoStrongest,
    /// The nearest and the farthest (SICK).
    FirstAndLast,
    /// The two nearest (Livox).
    TwoFirst,
}

/// Detection of echoes.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PipelineName {
    /// Closed form.
    #[default]
    Fast,
    /// Sampled waveform.
    Waveform,
}

/// A triangulating receiver.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriangulationTable {
    /// Distance between laser and lens, mm.
    #[schemars(range(min = 1e-09))]
    pub baseline_mm: f64,
    /// Standard deviation of the direction of the spot, microradian.
    #[schemars(range(min = 0.0))]
    pub angle_noise_urad: f64,
    /// Quantisation step of the direction of the spot, microradian; 0 for none.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub angle_step_urad: f64,
    /// A target at the limit of detection.
    pub found: FoundTable,
}

/// A frequency-modulated receiver.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FmcwTable {
    /// Bandwidth of one chirp, GHz.
    #[schemars(range(min = 1e-09))]
    pub bandwidth_ghz: f64,
    /// Duration of one chirp, us.
    #[schemars(range(min = 1e-09))]
    pub chirp_us: f64,
    /// A target whose beat exceeds the noise by `threshold_over_noise` (a power ratio).
    pub found: FoundTable,
}

/// Limits and quantisation of reported ranges.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeTable {
    /// Minimum, m.
    #[schemars(range(min = 0.0))]
    pub near_m: f64,
    /// Maximum, m.
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub far_m: f64,
    /// Quantisation step, mm; 0 for none.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub step_mm: f64,
}

/// Reported intensity.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntensityTable {
    /// Conversion of power to counts.
    pub response: ResponseTable,
    /// Maximum count. Default: no quantisation.
    #[schemars(range(min = 1e-09))]
    pub top: Option<f64>,
}

/// Conversion of power to counts.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseTable {
    /// Linear: counts per 1/(m² sr).
    Power(f64),
    /// Logarithmic.
    Log {
        /// Power of count zero, 1/(m² sr).
        zero: f64,
        /// Counts per decade.
        per_decade: f64,
    },
    /// Corrected for range.
    Reflectivity(ReflectivityName),
}

/// Encoding of reflectivity.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReflectivityName {
    /// One count per percent.
    Percent,
    /// Counts 0 to 100 are percent for diffuse surfaces; the scale is logarithmic from there to 255
    /// at this percentage.
    DiffuseThenRetro(f64),
}

impl ReceiverTable {
    /// Checks the target at the limit of detection.
    pub(super) fn check(&self) -> Result<(), TomlProblem> {
        let found = match self {
            Self::Pulsed(table) => &table.found,
            Self::Phase(_) => return Ok(()),
            Self::Triangulation(table) => &table.found,
            Self::Fmcw(table) => &table.found,
        };
        // Keys that the receiver does not use
        let is_pulsed = matches!(self, Self::Pulsed(_));
        let is_triangulation = matches!(self, Self::Triangulation(_));
        for (key, is_unused) in [
            ("probability", !is_pulsed && found.probability.is_some()),
            (
                "threshold_over_noise",
                is_triangulation && found.threshold_over_noise.is_some(),
            ),
        ] {
            if is_unused {
                let problem = format!("found.{key} has no effect on this receiver");
                let remedy = "omit it: every target of at least the power of this one is found, and no weaker one";
                return Err(TomlProblem::value(problem, remedy));
            }
        }
        // Values
        for (key, number) in [
            ("reflectance", found.reflectance),
            ("range_m", found.range_m),
            ("threshold_over_noise", found.threshold_over_noise()),
        ] {
            if !(number > 0.0 && number.is_finite()) {
                let problem = format!("found.{key} is {number}");
                return Err(TomlProblem::value(problem, "give a number above zero"));
            }
        }
        let probability = found.probability();
        if !(probability > 0.0 && probability < 1.0) {
            let problem = format!("found.probability is {probability}");
            return Err(TomlProblem::value(problem, "give a number between 0 and 1"));
        }
        Ok(())
    }

    /// The receiver of the table.
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
                / self.found.threshold_over_noise(),
            threshold: self.found.threshold_over_noise(),
        }
    }
}

impl PulsedTable {
    fn receiver(&self, beam: &BeamWidth) -> PulsedReceiver {
        // Derive threshold and detector from the specified sensitivity
        let sensitivity = Sensitivity {
            reflectance: self.found.reflectance,
            range: self.found.range_m,
            probability: self.found.probability(),
            threshold_over_noise: self.found.threshold_over_noise(),
        };
        let (threshold, detector) = match (&self.photon_counting, &self.analogue) {
            (Some(counter), _) => {
                sensitivity.photon_counting(counter.background_counts, counter.capacity_counts)
            }
            (None, Some(diode)) => {
                let (threshold, detector) =
                    sensitivity.analogue(diode.saturation_over_threshold, diode.shot_over_thermal);
                (threshold, diode.with_recovery(detector))
            }
            (None, None) => sensitivity.analogue(f64::INFINITY, 0.0),
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
    /// The detector with the recovery of the table.
    fn with_recovery(&self, detector: Detector) -> Detector {
        match detector {
            Detector::Analogue(analogue) => Detector::Analogue(AnalogueDetector {
                recovery: self.recovery_ns.map(|time| OverloadRecovery {
                    time: time * 1e-9,
                    share: self.recovery_share,
                }),
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
    /// The received power without conversion.
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

fn one() -> f64 {
    1.0
}
