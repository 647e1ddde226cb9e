//! Schema of depth-model files.

use super::{HeldOutThickness, Learnt, LearntModel, LearntStatus};
use crate::toml_file::{Document, DocumentError, FileKind, TomlProblem};
use etendue_calibrate::depth::{
    DepthModel, InverseCosineBias, LinearBias, PolynomialBias, PosePrior, ScanSignature, TableBias,
    WaveformBias,
};
use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// Version of the format.
pub(super) const VERSION: u32 = 2;
/// Version without the verdict of a hold-out: its models are untested.
const UNTESTED_VERSION: u32 = 1;

/// A depth correction.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepthModelFile {
    /// Version of this format: 2. Files of version 1 are read; their trained models are untested.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Name of the sensor that the correction applies to.
    #[serde(default)]
    pub sensor: String,
    /// The model.
    #[schemars(with = "ModelTable")]
    pub model: Spanned<ModelTable>,
    /// Data and quality of the estimation.
    #[serde(default)]
    #[schemars(with = "Option<LearntTable>")]
    pub learnt: Option<Spanned<LearntTable>>,
}

/// The bias as a function of depth and incidence.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ModelTable {
    /// Powers of the incidence.
    Polynomial(PolynomialTable),
    /// Linear in depth and incidence.
    Linear(LinearTable),
    /// Inverse cosine of the incidence, minus one.
    InverseCosine(InverseCosineTable),
    /// Stretching of the pulse by an inclined surface.
    Waveform(WaveformTable),
    /// Piecewise linear in the incidence, linear in the depth.
    Table(TableTable),
}

/// Powers of the incidence (rad).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolynomialTable {
    /// Exponents, not negative.
    pub exponents: Vec<f64>,
    /// One weight per exponent, m, or dimensionless if scaled.
    pub weights: Vec<f64>,
    /// Whether the sum is multiplied by the depth.
    #[serde(default)]
    pub scaled: bool,
}

/// Linear in depth and incidence.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearTable {
    /// Coefficient of the depth.
    pub depth: f64,
    /// Coefficient of the incidence.
    pub incidence_m_per_rad: f64,
    /// Constant.
    pub constant_m: f64,
}

/// Inverse cosine of the incidence, minus one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InverseCosineTable {
    /// Weight, m, or dimensionless if scaled.
    pub weight: f64,
    /// Whether it is multiplied by the depth.
    #[serde(default)]
    pub scaled: bool,
}

/// Stretching of the pulse by an inclined surface.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaveformTable {
    /// Standard deviation of the pulse in range, positive.
    pub pulse_sd_m: f64,
    /// Standard deviation of the beam profile, positive.
    pub angular_sd_rad: f64,
    /// Fraction of the constant-fraction discriminator, between 0 and 1.
    pub fraction: f64,
}

/// Piecewise linear in the incidence, linear in the depth: zero at normal incidence, constant beyond the last node.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableTable {
    /// Incidences of the nodes, ascending, above zero.
    pub incidences_rad: Vec<f64>,
    /// Constant part of the bias at each node.
    pub biases_m: Vec<f64>,
    /// Increase of the bias with the depth at each node, m per m.
    pub slopes: Vec<f64>,
}

/// Verdict of the training on the model.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub enum StatusName {
    /// The model improves scans that it was not trained on.
    #[serde(rename = "usable")]
    Usable,
    /// It does not, or the scans do not determine it; `reasons` lists why.
    #[serde(rename = "not determined")]
    NotDetermined,
}

/// Thickness of the held-out scans.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldOutTable {
    /// Without correction.
    pub thickness_before_m: f64,
    /// With correction.
    pub thickness_after_m: f64,
    /// Relative decrease of the mean square thickness.
    pub improvement: f64,
    /// Its standard deviation.
    pub improvement_sd: f64,
}

/// Data and quality of the estimation of a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearntTable {
    /// Verdict on the model; a model without one is untested.
    #[serde(default)]
    pub status: Option<StatusName>,
    /// Reasons for the status "not determined".
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Test on held-out scans.
    #[serde(default)]
    pub hold_out: Option<HoldOutTable>,
    /// Standard deviation of the position of a pose, stated or estimated; none if the poses were fixed.
    #[serde(default)]
    pub pose_sd_m: Option<f64>,
    /// Standard deviation of the rotation of a pose.
    #[serde(default)]
    pub pose_sd_deg: Option<f64>,
    /// Summary of the interval in words.
    pub verdict: String,
    /// Number of scans.
    pub scans: usize,
    /// Number of neighbourhoods.
    pub neighbourhoods: usize,
    /// Covariance of the weights, row by row.
    #[schemars(with = "Vec<Vec<f64>>")]
    pub covariance: Spanned<Vec<Vec<f64>>>,
    /// Standard deviation of the depth noise.
    pub noise_m: f64,
    /// Median depth.
    pub median_depth_m: f64,
    /// Incidences that bound 98 % of the data.
    pub seen_deg: [f64; 2],
    /// Incidences between which the bias is determined.
    #[serde(default)]
    pub determined_deg: Option<[f64; 2]>,
    /// Number of measurements per 5 degrees of incidence.
    pub incidences: Vec<u64>,
    /// Minimum and maximum elevation of the beams.
    pub elevations_deg: [f64; 2],
    /// Number of points of a scan.
    pub points: usize,
}

pub(super) fn parse(document: &Document) -> Result<LearntModel, DocumentError> {
    let file: DepthModelFile = document.parse_as(FileKind::DepthModel)?;
    if *file.version.get_ref() != UNTESTED_VERSION {
        document.check_version(&file.version, VERSION)?;
    }
    let span = file.model.span();
    let model = model(document, &span, file.model.into_inner())?;
    let learnt = file.learnt.map(Spanned::into_inner);
    let learnt = learnt.map(|table| table.learnt(document, &model));
    Ok(LearntModel {
        sensor: file.sensor,
        learnt: learnt.transpose()?,
        model,
    })
}

fn model(
    document: &Document,
    span: &Range<usize>,
    table: ModelTable,
) -> Result<DepthModel, DocumentError> {
    let fail = |message: &str, remedy: &str| {
        document.error(span.clone(), TomlProblem::value(message, remedy))
    };
    // Convert the model
    let model = match table {
        ModelTable::Polynomial(t) => {
            if t.exponents.len() != t.weights.len() || t.weights.is_empty() {
                return Err(fail(
                    "the numbers of exponents and weights differ",
                    "give one weight for every exponent, and at least one",
                ));
            }
            if t.exponents.iter().any(|e| e.is_nan() || *e < 0.0) {
                return Err(fail("an exponent is negative", "give 0 or more"));
            }
            DepthModel::Polynomial(PolynomialBias {
                exponents: t.exponents,
                weights: t.weights,
                scaled: t.scaled,
            })
        }
        ModelTable::Linear(t) => DepthModel::Linear(LinearBias {
            depth: t.depth,
            incidence: t.incidence_m_per_rad,
            constant: t.constant_m,
        }),
        ModelTable::InverseCosine(t) => DepthModel::InverseCosine(InverseCosineBias {
            weight: t.weight,
            scaled: t.scaled,
        }),
        ModelTable::Waveform(t) => {
            let is_physical = t.pulse_sd_m > 0.0
                && t.angular_sd_rad > 0.0
                && t.fraction > 0.0
                && t.fraction < 1.0;
            if !is_physical {
                return Err(fail(
                    "the widths of the waveform are not positive, or the fraction is not between 0 and 1",
                    "give widths above zero and a fraction such as 0.5",
                ));
            }
            DepthModel::Waveform(WaveformBias {
                pulse_sd: t.pulse_sd_m,
                angular_sd: t.angular_sd_rad,
                fraction: t.fraction,
            })
        }
        ModelTable::Table(t) => {
            let ascending = t.incidences_rad.is_sorted_by(|a, b| a < b);
            let count = t.incidences_rad.len();
            if count == 0 || t.biases_m.len() != count || t.slopes.len() != count {
                return Err(fail(
                    "the numbers of incidences, biases and slopes differ",
                    "give one bias and one slope for every incidence, and at least one",
                ));
            }
            if !ascending || t.incidences_rad.iter().any(|i| i.is_nan() || *i <= 0.0) {
                return Err(fail(
                    "the incidences are not ascending and above zero",
                    "give them in ascending order, from above 0 to pi/2",
                ));
            }
            DepthModel::Table(TableBias {
                incidences: t.incidences_rad,
                biases: t.biases_m,
                slopes: t.slopes,
            })
        }
    };
    // Check the weights
    if model.weights().iter().all(|w| w.is_finite()) {
        Ok(model)
    } else {
        Err(fail("a weight is not finite", "write finite numbers"))
    }
}

impl LearntTable {
    fn learnt(self, document: &Document, model: &DepthModel) -> Result<Learnt, DocumentError> {
        let count = model.weight_count();
        let rows = self.covariance.get_ref();
        if rows.len() != count || rows.iter().any(|row| row.len() != count) {
            let message = format!("the covariance is not {count} by {count}");
            let problem = TomlProblem::value(message, "give one row and one column per weight");
            return Err(document.error(self.covariance.span(), problem));
        }
        let radians = |pair: [f64; 2]| pair.map(f64::to_radians);
        let pose_sd = self.pose_sd_m.zip(self.pose_sd_deg);
        Ok(Learnt {
            status: match self.status {
                None => LearntStatus::Untested,
                Some(StatusName::Usable) => LearntStatus::Usable,
                Some(StatusName::NotDetermined) => LearntStatus::NotDetermined(self.reasons),
            },
            hold_out: self.hold_out.map(|table| HeldOutThickness {
                before: table.thickness_before_m,
                after: table.thickness_after_m,
                improvement: table.improvement,
                improvement_sd: table.improvement_sd,
            }),
            poses: pose_sd.map(|(position, degrees)| PosePrior {
                position,
                rotation: degrees.to_radians(),
            }),
            scans: self.scans,
            neighbourhoods: self.neighbourhoods,
            covariance: DMatrix::from_fn(count, count, |i, j| rows[i][j]),
            verdict: self.verdict,
            noise: self.noise_m,
            depth: self.median_depth_m,
            seen: radians(self.seen_deg),
            determined: self.determined_deg.map(radians),
            incidences: self.incidences,
            signature: ScanSignature {
                elevations: radians(self.elevations_deg),
                points: self.points,
            },
        })
    }
}
