//! Schema of depth-model files.

use super::{Learnt, LearntModel};
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_calibrate::depth::{
    DepthModel, InverseCosineBias, LinearBias, PolynomialBias, ScanSignature, WaveformBias,
};
use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// Supported version of the format.
pub(super) const VERSION: u32 = 1;

/// A depth correction.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepthModelFile {
    /// Version of this format: 1.
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

/// Data and quality of the estimation of a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearntTable {
    /// Summary of the quality in words.
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
    let file: DepthModelFile = document.parse()?;
    document.check_version(&file.version, VERSION)?;
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
        Ok(Learnt {
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
