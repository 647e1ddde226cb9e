//! Learnt depth corrections with their uncertainty, in TOML.
//!
//! ```toml
//! version = 2
//! sensor = "ouster-os0-128"               # the correction applies to this sensor only
//!
//! [model.polynomial]                      # or linear, inverse_cosine, waveform, table
//! exponents = [2.0, 4.0]                  # exponents of the incidence in rad
//! weights = [0.0033, 0.0081]              # m
//! scaled = false
//!
//! [learnt]
//! status = "usable"                       # or "not determined", with reasons
//! scans = 8
//! verdict = "the bias is determined between 3 and 78 degrees ..."
//! covariance = [[1e-8, 0.0], [0.0, 1e-8]] # of the weights
//! ```
//!
//! [`load`] reads a file into a [`LearntModel`], [`LearntModel::text`] writes one. Numbers are
//! preserved exactly.
//!
//! Files of version 1 have no `status`: a trained model from such a file is [`LearntStatus::Untested`]. A model
//! without `[learnt]` was written by hand, and has no verdict.

mod file;

pub use file::{
    DepthModelFile, HoldOutTable, InverseCosineTable, LearntTable, LinearTable, ModelTable,
    PolynomialTable, StatusName, TableTable, WaveformTable,
};

use crate::ConfigError;
use crate::toml_file::{Document, DocumentError};
use etendue_calibrate::depth::{DepthModel, PosePrior, ScanSignature};
use nalgebra::DMatrix;
use std::fmt::Write;
use std::path::Path;

/// A depth model with its training data.
#[derive(Clone, Debug, PartialEq)]
pub struct LearntModel {
    /// Name of the sensor, as given by the user.
    pub sensor: String,
    /// The model.
    pub model: DepthModel,
    /// Training data and quality; `None` for manually written models.
    pub learnt: Option<Learnt>,
}

/// Verdict of the training on a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LearntStatus {
    /// The model improves scans that it was not trained on.
    Usable,
    /// It does not, or the scans do not determine it; the reasons in words.
    NotDetermined(Vec<String>),
    /// Trained by a version without a hold-out.
    Untested,
}

/// Thickness of the held-out scans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOutThickness {
    /// Without correction, m.
    pub before: f64,
    /// With correction, m.
    pub after: f64,
    /// Relative decrease of the mean square thickness.
    pub improvement: f64,
    /// Its standard deviation.
    pub improvement_sd: f64,
}

/// Training data and quality of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// Verdict on the model.
    pub status: LearntStatus,
    /// Test on held-out scans.
    pub hold_out: Option<HeldOutThickness>,
    /// Standard deviations of the poses; `None` if they were fixed.
    pub poses: Option<PosePrior>,
    /// Number of scans.
    pub scans: usize,
    /// Number of neighbourhoods.
    pub neighbourhoods: usize,
    /// Summary of the interval in words.
    pub verdict: String,
    /// Covariance of [`DepthModel::weights`].
    pub covariance: DMatrix<f64>,
    /// Standard deviation of the depth noise, m.
    pub noise: f64,
    /// Median depth, m.
    pub depth: f64,
    /// Incidences that bound 98 % of the data, rad.
    pub seen: [f64; 2],
    /// Incidences between which the bias is determined, rad.
    pub determined: Option<[f64; 2]>,
    /// Number of measurements per 5 degrees of incidence, from 0 to 90.
    pub incidences: Vec<u64>,
    /// Signature of the scans.
    pub signature: ScanSignature,
}

/// Bin width of [`Learnt::incidences`], degrees.
pub const BIN_DEG: f64 = 5.0;

/// Reads a model file.
///
/// # Errors
/// If it cannot be read, is not TOML, has unknown keys, has another version, or contains an invalid
/// model; the error contains the position.
pub fn load(path: &Path) -> Result<LearntModel, ConfigError> {
    Ok(parse(&Document::read(path)?)?)
}

/// Parses a model file.
///
/// # Errors
/// As [`load`], except errors of reading.
///
/// ```
/// use etendue_config::depth_model::parse;
/// use etendue_config::toml_file::Document;
/// let text = "version = 1\nsensor = \"os0\"\n[model.polynomial]\nexponents = [4]\nweights = [-0.001]\n";
/// let model = parse(&Document::new("model.toml", text))?.model;
/// assert_eq!(model.bias(5.0, 1.0), -0.001);
/// let error = parse(&Document::new("model.toml", text.replace("weights", "wieghts"))).unwrap_err();
/// assert_eq!(error.remedy(), "did you mean \"weights\"?");
/// # Ok::<(), etendue_config::toml_file::DocumentError>(())
/// ```
pub fn parse(document: &Document) -> Result<LearntModel, DocumentError> {
    file::parse(document)
}

impl LearntModel {
    /// The text of a model file; [`load`] reads it.
    pub fn text(&self) -> String {
        let mut text = format!(
            "# Depth correction: corrected depth = measured depth - bias(depth, incidence).\n\
             version = {}\nsensor = {}\n\n",
            file::VERSION,
            quoted(&self.sensor)
        );
        text += &model_text(&self.model);
        if let Some(learnt) = &self.learnt {
            text += &learnt.text();
        }
        text
    }
}

fn model_text(model: &DepthModel) -> String {
    match model {
        DepthModel::Polynomial(m) => format!(
            "# Sum of weight times a power of the incidence (rad), m{}.\n[model.polynomial]\n\
             exponents = {:?}\nweights = {:?}\nscaled = {}\n",
            if m.scaled { " a metre of depth" } else { "" },
            m.exponents,
            m.weights,
            m.scaled
        ),
        DepthModel::Linear(m) => format!(
            "[model.linear]\ndepth = {:?}\nincidence_m_per_rad = {:?}\nconstant_m = {:?}\n",
            m.depth, m.incidence, m.constant
        ),
        DepthModel::InverseCosine(m) => format!(
            "[model.inverse_cosine]\nweight = {:?}\nscaled = {}\n",
            m.weight, m.scaled
        ),
        DepthModel::Waveform(m) => format!(
            "# A Gaussian pulse and beam under a constant-fraction discriminator.\n\
             [model.waveform]\npulse_sd_m = {:?}\nangular_sd_rad = {:?}\nfraction = {:?}\n",
            m.pulse_sd, m.angular_sd, m.fraction
        ),
        DepthModel::Table(m) => format!(
            "# Linear between the nodes, zero at normal incidence, constant beyond the last node.\n\
             [model.table]\nincidences_rad = {:?}\nbiases_m = {:?}\nslopes = {:?}\n",
            m.incidences, m.biases, m.slopes
        ),
    }
}

impl Learnt {
    fn text(&self) -> String {
        // Write the data that the model was learnt from
        let degrees = |pair: [f64; 2]| pair.map(|angle| tenth(angle.to_degrees()));
        let mut text = format!(
            "\n[learnt]\n{}verdict = {}\nscans = {}\nneighbourhoods = {}\n\
             # Of the weights as they are learnt (near the logarithms of the waveform's parameters).\n\
             covariance = {:?}\nnoise_m = {:?}\nmedian_depth_m = {:?}\nseen_deg = {:?}\n",
            self.status.text(),
            quoted(&self.verdict),
            self.scans,
            self.neighbourhoods,
            rows(&self.covariance),
            self.noise,
            self.depth,
            degrees(self.seen)
        );
        // Write the determined range of incidences
        if let Some(span) = self.determined {
            let _ = writeln!(text, "determined_deg = {:?}", degrees(span));
        }
        // Write the uncertainty of the poses
        if let Some(poses) = self.poses {
            let _ = writeln!(
                text,
                "# Standard deviations of the poses, stated or estimated.\npose_sd_m = {:?}\n\
                 pose_sd_deg = {:?}",
                poses.position,
                poses.rotation.to_degrees()
            );
        }
        // Write the signature of the sensor
        let _ = write!(
            text,
            "# Measurements in every {BIN_DEG} degrees of incidence.\nincidences = {:?}\n\
             # What the scans look like: a model holds for one sensor.\nelevations_deg = {:?}\n\
             points = {}\n",
            self.incidences,
            degrees(self.signature.elevations),
            self.signature.points
        );
        // Write the hold-out
        if let Some(held_out) = self.hold_out {
            let _ = write!(
                text,
                "\n# Scans that the model was not trained on.\n[learnt.hold_out]\n\
                 thickness_before_m = {:?}\nthickness_after_m = {:?}\nimprovement = {:?}\n\
                 improvement_sd = {:?}\n",
                held_out.before, held_out.after, held_out.improvement, held_out.improvement_sd
            );
        }
        text
    }
}

impl LearntStatus {
    /// Lines of a model file; none for an untested model.
    fn text(&self) -> String {
        match self {
            Self::Usable => "status = \"usable\"\n".to_owned(),
            Self::NotDetermined(reasons) => {
                let quoted: Vec<String> = reasons.iter().map(|reason| quoted(reason)).collect();
                let list = quoted.join(",\n    ");
                format!("status = \"not determined\"\nreasons = [\n    {list},\n]\n")
            }
            Self::Untested => String::new(),
        }
    }
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    let row = |i| matrix.row(i).iter().copied().collect();
    (0..matrix.nrows()).map(row).collect()
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.into()).to_string()
}
