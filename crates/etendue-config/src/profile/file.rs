//! How a profile is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A profile file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// Version of this format: 1.
    pub version: u32,
    /// The sensor.
    pub sensor: String,
    /// The material.
    pub material: String,
    /// What it is, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Wavelength, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wavelength_nm: Option<f64>,
    /// Distance of the panel: values are referred to it.
    pub distance_m: f64,
    /// Whether all of it is a guess from another material.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extrapolated: bool,
    /// What a user of it should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// How it changes with the distance.
    pub law: LawFile,
    /// The device's steps; none where ranges are not rounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepFile>,
    /// Correlation between beams.
    pub correlation: CorrelationFile,
    /// What its intensity is.
    pub intensity: IntensityFile,
    /// The fitted reflectance.
    pub reflectance: ReflectanceFile,
    /// Values over incidence.
    pub knots: KnotsFile,
    /// What comes to them near the normal, where its two sides differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glare: Option<GlareFile>,
    /// How good the fit is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// The recordings that it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provenance: Vec<Provenance>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(value: &bool) -> bool {
    !value
}

/// How bias, spread and drop-out change with the distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LawFile {
    /// Spread with the square of the distance, bias with the distance.
    Triangulation {},
    /// From the signal-to-noise ratio.
    SignalToNoise {
        /// Spread that no signal removes.
        floor_mm: f64,
    },
    /// Exponents fitted to recordings at several distances.
    Fitted {
        /// Of the spread.
        spread_exponent: f64,
        /// Of the bias.
        bias_exponent: f64,
        /// Of the received power.
        power_exponent: f64,
    },
}

/// A step that holds from a range on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    /// From this range on.
    pub from_m: f64,
    /// The step.
    pub step_mm: f64,
}

/// Correlation between beams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrelationFile {
    /// Correlation of the temporal range errors of neighbouring beams: those that change from scan to scan.
    pub neighbour: f64,
    /// Correlation of the fixed pattern of neighbouring beams; without it, `neighbour`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_pattern_neighbour: Option<f64>,
    /// Share of the variance of range errors that is a fixed pattern, constant from scan to scan.
    pub fixed_pattern: f64,
    /// Share of the variance of the drop-out variable that is a fixed pattern.
    pub fixed_pattern_drop_out: f64,
}

/// What the intensity of returned beams is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum IntensityFile {
    /// There is none.
    None {},
    /// The same for all.
    Constant {
        /// That value.
        value: f64,
    },
    /// One of two; `knots.intensity` is the probability of the higher.
    TwoValued {
        /// The lower.
        low: f64,
        /// The higher.
        high: f64,
    },
    /// Many values.
    Continuous {},
}

/// The fitted reflectance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReflectanceFile {
    /// Slope of the facets of the diffuse part (Oren and Nayar).
    pub slope_sd_deg: f64,
    /// The glossy part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gloss: Option<GlossPart>,
    /// Logit of the drop-out at normal incidence.
    pub drop_out_logit: f64,
    /// How much it falls per unit of the logarithm of received power.
    pub drop_out_slope: f64,
}

/// A glossy part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlossPart {
    /// Roughness in [0.01, 1].
    pub roughness: f64,
    /// Share of the backscatter at normal incidence.
    pub share: f64,
}

/// Values over incidence, one each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnotsFile {
    /// Incidence, ascending.
    pub incidence_deg: Vec<f64>,
    /// Beams recorded about it.
    pub count: Vec<f64>,
    /// Mean of measured less true range of beams that returned.
    pub bias_mm: Vec<f64>,
    /// Its standard error.
    pub bias_error_mm: Vec<f64>,
    /// Standard deviation of that range before rounding.
    pub spread_mm: Vec<f64>,
    /// Its standard error.
    pub spread_error_mm: Vec<f64>,
    /// Probability of a drop-out.
    pub drop_out: Vec<f64>,
    /// Lower end of its 95 % interval.
    pub drop_out_low: Vec<f64>,
    /// Upper end.
    pub drop_out_high: Vec<f64>,
    /// Mean intensity of beams that returned; of a two-valued channel, the share of the higher.
    pub intensity: Vec<f64>,
    /// Its standard deviation.
    pub intensity_spread: Vec<f64>,
    /// Numbers of the knots that rest on no beam.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extrapolated: Vec<usize>,
}

/// What comes to the knots near the normal, over signed incidence: a plate's mirror image of the
/// emitter, which a receiver next to it sees on one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlareFile {
    /// Its middle; a triangulating sensor's goes with the inverse of the distance.
    pub centre_deg: f64,
    /// Incidence, ascending, positive left of the normal as seen from the sensor, its axis up.
    pub incidence_deg: Vec<f64>,
    /// Beams recorded about it.
    pub count: Vec<f64>,
    /// What comes to the bias.
    pub bias_mm: Vec<f64>,
    /// Its standard error.
    pub bias_error_mm: Vec<f64>,
    /// What the spread is multiplied by.
    pub spread_ratio: Vec<f64>,
    /// Its standard error.
    pub spread_ratio_error: Vec<f64>,
    /// Share of the beams that it loses, of those that would return.
    pub drop_out: Vec<f64>,
    /// Lower end of its 95 % interval.
    pub drop_out_low: Vec<f64>,
    /// Upper end.
    pub drop_out_high: Vec<f64>,
    /// What comes to the intensity.
    pub intensity: Vec<f64>,
}

/// How good the fit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// Beams on the panels.
    pub beams: usize,
    /// Those that returned.
    pub returned: usize,
    /// Ranges of something else, left out.
    pub strays: usize,
    /// Penalty that cross-validation chose for the bias, relative to the data's weight.
    pub bias_penalty: f64,
    /// The same for the logarithm of the spread.
    pub spread_penalty: f64,
    /// The same for the drop-out.
    pub drop_out_penalty: f64,
    /// Deviance of the reflectance model's drop-out.
    pub reflectance_deviance: f64,
    /// Share of neighbouring ranges that are equal to the digit.
    pub copies: f64,
}

/// A recording that a profile rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The file.
    pub recording: String,
    /// SHA-256 of the file, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Who recorded it, under which licence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Scans.
    pub scans: usize,
    /// Distance of the panel as fitted.
    pub distance_m: f64,
    /// Its standard error.
    pub distance_error_mm: f64,
    /// Bearing of the panel's normal.
    pub bearing_deg: f64,
    /// Root mean square about the plane below 40 degrees.
    pub rms_mm: f64,
    /// Declared distance, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_distance_m: Option<f64>,
    /// Declared width, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_width_m: Option<f64>,
}
