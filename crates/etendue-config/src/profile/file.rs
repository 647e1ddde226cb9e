//! Schema of profile files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A profile file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// Version of this format: 1.
    pub version: u32,
    /// Name of the sensor.
    pub sensor: String,
    /// Name of the material.
    pub material: String,
    /// Description in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Wavelength, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0))]
    pub wavelength_nm: Option<f64>,
    /// Reference distance of the values: the distance of the panel.
    #[schemars(range(min = 1e-09))]
    pub distance_m: f64,
    /// Whether all values are extrapolated from another material.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extrapolated: bool,
    /// Limitations of the profile, reported to users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Dependence on the distance.
    pub law: LawFile,
    /// Quantisation steps of the device; empty if ranges are not rounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepFile>,
    /// Correlation between beams.
    pub correlation: CorrelationFile,
    /// Type of the intensity.
    pub intensity: IntensityFile,
    /// The fitted reflectance.
    pub reflectance: ReflectanceFile,
    /// Values over incidence.
    pub knots: KnotsFile,
    /// Correction of the knots near the normal, if the two sides differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glare: Option<GlareFile>,
    /// Verdict on the calibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictFile>,
    /// Quality of the fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// Recordings of the calibration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provenance: Vec<Provenance>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires this signature"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// Verdict on a calibration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictFile {
    /// `good`, `doubtful` or `refused`.
    pub grade: String,
    /// Reasons of a grade other than good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// Dependence of bias, spread and drop-out on the distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LawFile {
    /// Triangulation: the spread is proportional to the squared distance, the bias to the distance.
    Triangulation {},
    /// Spread from the signal-to-noise ratio.
    SignalToNoise {
        /// Lower limit of the spread at a high signal.
        floor_mm: f64,
    },
    /// Exponents fitted to recordings at several distances.
    Fitted {
        /// Exponent of the spread.
        spread_exponent: f64,
        /// Exponent of the bias.
        bias_exponent: f64,
        /// Exponent of the received power.
        power_exponent: f64,
    },
}

/// A quantisation step of the range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    /// Range from which the step applies.
    pub from_m: f64,
    /// Quantisation step.
    #[schemars(range(min = 0.0))]
    pub step_mm: f64,
}

/// Correlation between beams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrelationFile {
    /// Correlation of the temporal range errors (variable from scan to scan) of neighbouring beams.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub neighbour: f64,
    /// Correlation of the fixed pattern of neighbouring beams; `neighbour` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1.0, max = 1.0))]
    pub fixed_pattern_neighbour: Option<f64>,
    /// Fraction of the variance of range errors that is a fixed pattern, constant from scan to
    /// scan.
    #[schemars(range(min = 0.0))]
    pub fixed_pattern: f64,
    /// Fraction of the variance of the drop-out variable that is a fixed pattern.
    #[schemars(range(min = 0.0))]
    pub fixed_pattern_drop_out: f64,
}

/// Type of the intensity of returned beams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum IntensityFile {
    /// No intensity.
    None {},
    /// A constant.
    Constant {
        /// The constant.
        value: f64,
    },
    /// Two levels; `knots.intensity` is the probability of the higher.
    TwoValued {
        /// Lower level.
        low: f64,
        /// Higher level.
        high: f64,
    },
    /// A continuous range of values.
    Continuous {},
}

/// The fitted reflectance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReflectanceFile {
    /// Standard deviation of the facet slopes of the diffuse component (Oren and Nayar).
    #[schemars(range(min = 0.0, max = 90.0))]
    pub slope_sd_deg: f64,
    /// Glossy component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gloss: Option<GlossPart>,
    /// Logit of the drop-out at normal incidence.
    pub drop_out_logit: f64,
    /// Decrease of the logit per unit of the logarithm of received power.
    pub drop_out_slope: f64,
}

/// Glossy component of the reflectance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlossPart {
    /// Roughness in [0.01, 1].
    pub roughness: f64,
    /// Fraction of the backscatter at normal incidence.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

/// Columns over incidence, of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnotsFile {
    /// Incidence, ascending.
    #[schemars(inner(range(min = -90.0, max = 90.0)))]
    pub incidence_deg: Vec<f64>,
    /// Number of beams recorded near the incidence.
    #[schemars(inner(range(min = 0.0)))]
    pub count: Vec<f64>,
    /// Mean range error (measured minus true) of returned beams.
    pub bias_mm: Vec<f64>,
    /// Standard error of the bias.
    #[schemars(inner(range(min = 0.0)))]
    pub bias_error_mm: Vec<f64>,
    /// Standard deviation of the range error before rounding.
    #[schemars(inner(range(min = 0.0)))]
    pub spread_mm: Vec<f64>,
    /// Standard error of the spread.
    #[schemars(inner(range(min = 0.0)))]
    pub spread_error_mm: Vec<f64>,
    /// Probability of a drop-out.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub drop_out: Vec<f64>,
    /// Lower end of the 95 % interval of the drop-out.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub drop_out_low: Vec<f64>,
    /// Upper end of the 95 % interval of the drop-out.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub drop_out_high: Vec<f64>,
    /// Mean intensity of returned beams; with two levels, the fraction of the higher.
    pub intensity: Vec<f64>,
    /// Standard deviation of the intensity.
    #[schemars(inner(range(min = 0.0)))]
    pub intensity_spread: Vec<f64>,
    /// Indices of the knots without recorded beams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extrapolated: Vec<usize>,
}

/// Correction of the knots near the normal over signed incidence. A plate reflects the image of the
/// emitter into a receiver next to it on one side of the normal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlareFile {
    /// Centre of the glare; of a triangulating sensor it is proportional to the inverse of the
    /// distance.
    pub centre_deg: f64,
    /// Incidence, ascending, positive to the left of the normal as seen from the sensor with its
    /// axis up.
    #[schemars(inner(range(min = -90.0, max = 90.0)))]
    pub incidence_deg: Vec<f64>,
    /// Number of beams recorded near the incidence.
    #[schemars(inner(range(min = 0.0)))]
    pub count: Vec<f64>,
    /// Added bias.
    pub bias_mm: Vec<f64>,
    /// Standard error of the added bias.
    #[schemars(inner(range(min = 0.0)))]
    pub bias_error_mm: Vec<f64>,
    /// Factor of the spread.
    #[schemars(inner(range(min = 0.001)))]
    pub spread_ratio: Vec<f64>,
    /// Standard error of the factor.
    #[schemars(inner(range(min = 0.0)))]
    pub spread_ratio_error: Vec<f64>,
    /// Fraction of otherwise returned beams that the glare drops.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub drop_out: Vec<f64>,
    /// Lower end of the 95 % interval of the drop-out.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub drop_out_low: Vec<f64>,
    /// Upper end of the 95 % interval of the drop-out.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub drop_out_high: Vec<f64>,
    /// Added intensity.
    pub intensity: Vec<f64>,
}

/// Quality of the fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// Number of beams on the panels.
    pub beams: usize,
    /// Number of returned beams.
    pub returned: usize,
    /// Number of ranges of other surfaces, excluded.
    pub strays: usize,
    /// Penalty of the bias chosen by cross-validation, relative to the weight of the data.
    pub bias_penalty: f64,
    /// Penalty of the logarithm of the spread.
    pub spread_penalty: f64,
    /// Penalty of the drop-out.
    pub drop_out_penalty: f64,
    /// Deviance of the drop-out of the reflectance model.
    pub reflectance_deviance: f64,
    /// Fraction of neighbouring ranges that are equal in all digits.
    #[schemars(range(min = 0.0))]
    pub copies: f64,
}

/// Recording of a calibration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Name of the file.
    pub recording: String,
    /// SHA-256 of the file, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Author and licence of the recording.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Number of scans.
    pub scans: usize,
    /// Fitted distance of the panel.
    #[schemars(range(min = 1e-09))]
    pub distance_m: f64,
    /// Standard error of the distance.
    #[schemars(range(min = 0.0))]
    pub distance_error_mm: f64,
    /// Bearing of the normal of the panel.
    pub bearing_deg: f64,
    /// Root mean square residual of the plane fit at incidences below 40 degrees.
    #[schemars(range(min = 0.0))]
    pub rms_mm: f64,
    /// Declared distance, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_distance_m: Option<f64>,
    /// Declared width, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_width_m: Option<f64>,
}
