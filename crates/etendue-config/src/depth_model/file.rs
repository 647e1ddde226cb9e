//! What a model file holds.

use super::{Learnt, LearntModel};
use crate::toml_file::{Document, DocumentError, Problem};
use etendue_calibrate::depth::{
    DepthModel, InverseCosineBias, LinearBias, PolynomialBias, ScanSignature, WaveformBias,
};
use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// The version of the format that is read and written.
pub(super) const VERSION: u32 = 1;

/// A depth correction.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepthModelFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// The sensor that it holds for.
    #[serde(default)]
    pub sensor: String,
    /// The model.
    #[schemars(with = "ModelTable")]
    pub model: Spanned<ModelTable>,
    /// How it was learnt.
    #[serde(default)]
    #[schemars(with = "Option<LearntTable>")]
    pub learnt: Option<Spanned<LearntTable>>,
}

/// The bias over depth and incidence.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ModelTable {
    /// Powers of the incidence.
    Polynomial(PolynomialTable),
    /// Depth, incidence and a constant.
    Linear(LinearTable),
    /// One over the cosine of the incidence, less one.
    InverseCosine(InverseCosineTable),
    /// The pulse stretched by an inclined surface.
    Waveform(WaveformTable),
}

/// Powers of the incidence (rad).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolynomialTable {
    /// The exponents, not negative.
    pub exponents: Vec<f64>,
    /// A weight for every exponent, m, or without unit where scaled.
    pub weights: Vec<f64>,
    /// Whether the sum is multiplied by the depth.
    #[serde(default)]
    pub scaled: bool,
}

/// Depth, incidence and a constant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearTable {
    /// Share of the depth.
    pub depth: f64,
    /// Share of the incidence.
    pub incidence_m_per_rad: f64,
    /// The same everywhere.
    pub constant_m: f64,
}

/// One over the cosine of the incidence, less one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InverseCosineTable {
    /// m, or without unit where scaled.
    pub weight: f64,
    /// Whether it is multiplied by the depth.
    #[serde(default)]
    pub scaled: bool,
}

/// The pulse stretched by an inclined surface.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaveformTable {
    /// Standard deviation of the pulse in range, above zero.
    pub pulse_sd_m: f64,
    /// Standard deviation of the beam's profile, above zero.
    pub angular_sd_rad: f64,
    /// Fraction of the peak that is timed, between 0 and 1.
    pub fraction: f64,
}

/// How a model was learnt.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearntTable {
    /// How well the bias is known, in words.
    pub verdict: String,
    /// Scans used.
    pub scans: usize,
    /// Neighbourhoods used.
    pub neighbourhoods: usize,
    /// Covariance of the weights, row by row.
    #[schemars(with = "Vec<Vec<f64>>")]
    pub covariance: Spanned<Vec<Vec<f64>>>,
    /// Standard deviation of the depths' noise.
    pub noise_m: f64,
    /// Median depth.
    pub median_depth_m: f64,
    /// Incidences that bound 98 % of the data.
    pub seen_deg: [f64; 2],
    /// Incidences between which the bias is determined.
    #[serde(default)]
    pub determined_deg: Option<[f64; 2]>,
    /// Measurements in every 5 degrees of incidence.
    pub incidences: Vec<u64>,
    /// Elevations of the beams.
    pub elevations_deg: [f64; 2],
    /// Points of a scan.
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
    let fail =
        |message: &str, remedy: &str| document.error(span.clone(), Problem::value(message, remedy));
    // Convert the model of each kind
    let model = match table {
        ModelTable::Polynomial(t) => {
            if t.exponents.len() != t.weights.len() || t.weights.is_empty() {
                return Err(fail(
                    "exponents and weights are not equally many",
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
                    "the waveform's parameters are not above zero, or its fraction is not between 0 and 1",
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
    // Check its weights
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
            let problem = Problem::value(message, "give a row and a column for every weight");
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
