//! What a fit problem's file holds.

use crate::scene::RotationDeg;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// The version of the format that is read.
pub(super) const VERSION: u32 = 1;

/// A fit problem.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FitFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// A scene file, from the folder of this file, or the name of a built-in scene.
    #[schemars(with = "String")]
    pub scene: Spanned<String>,
    /// A sensor file, from the folder of this file, or the name of a preset; the scene's where it
    /// is left out.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub sensor: Option<Spanned<String>>,
    /// What was measured.
    #[schemars(with = "Vec<ScanTable>")]
    pub scans: Spanned<Vec<ScanTable>>,
    /// What is unknown.
    #[schemars(with = "Vec<FreeTable>")]
    pub free: Spanned<Vec<FreeTable>>,
    /// How it is found.
    #[serde(default)]
    pub solver: SolverTable,
}

/// A measured scan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScanTable {
    /// A scan log, from the folder of this file.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Which of its scans, from 0; may be left out where it holds one.
    #[serde(default)]
    pub number: Option<usize>,
    /// Position of the sensor; that of the scene, if all of the pose is left out.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// How it was turned.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
}

/// Something unknown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeTable {
    /// Its path: `sensor.pose`, `objects.NAME.pose`, `materials.NAME.reflectance`,
    /// `atmosphere.fog_visibility_m` ...
    #[schemars(with = "String")]
    pub path: Spanned<String>,
    /// Where the search starts; where the scene has it, if left out.
    #[serde(default)]
    #[schemars(with = "Option<ValueTable>")]
    pub start: Option<Spanned<ValueTable>>,
    /// True value, if known: the error of the estimate is reported.
    #[serde(default)]
    #[schemars(with = "Option<ValueTable>")]
    pub truth: Option<Spanned<ValueTable>>,
    /// How a pose moves.
    #[serde(default)]
    pub motion: MotionName,
    /// Bounds of a number, in its own unit.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 2]>")]
    pub between: Option<Spanned<[f64; 2]>>,
    /// Lower and upper corner of the box that a planar pose stays in, m.
    #[serde(default)]
    #[schemars(with = "Option<[[f64; 2]; 2]>")]
    pub within_m: Option<Spanned<[[f64; 2]; 2]>>,
}

/// A number, or a pose.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueTable {
    /// A number, in its own unit.
    #[serde(default)]
    pub value: Option<f64>,
    /// The position of a pose.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// The rotation of a pose.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
}

/// How a pose moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MotionName {
    /// In the plane: height and tilt stay.
    #[default]
    Planar,
    /// In all six degrees of freedom.
    Spatial,
}

/// How the unknowns are found.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SolverTable {
    /// The way to the minimum.
    pub method: MethodName,
    /// How a residual is charged. Robust by default: what mirrors, glass and people show to some
    /// beams must not pull on the others.
    pub loss: LossTable,
    /// Graduated non-convexity: factor on the width of a robust loss at the start, which lets far
    /// starts converge; 1 begins with the loss's own width.
    pub widest: f64,
    /// Iterations at most.
    pub iterations: usize,
    /// What a beam is charged for that was measured and is not predicted, m.
    pub missing_m: f64,
    /// What a count of intensity is charged for, m, where the sensor measures intensities; 0 leaves
    /// them out.
    pub intensity_m: f64,
    /// Factors on the width of the beams, stage by stage, the last one 1: wide beams see an edge from
    /// afar, narrow ones tell where it is.
    pub beam_widths: Vec<f64>,
    /// Whether derivatives see edges move across the beams: needed where a mirror or an edge is to be
    /// found along its own plane, and the default where an object's pose is unknown.
    pub edges: Option<bool>,
    /// Number of start poses tried across the scene (or in `within_m`) first, for the first unknown
    /// that is a pose in the plane. All answers that explain the scans equally well are reported.
    /// Left out: only the given start.
    pub search_poses: Option<usize>,
}

/// The way to the minimum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// Levenberg and Marquardt.
    #[default]
    LevenbergMarquardt,
    /// Gauss and Newton.
    GaussNewton,
    /// L-BFGS with a Wolfe line search.
    Lbfgs,
}

/// How a residual is charged.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LossTable {
    /// By its square.
    Squared,
    /// Beyond the scale by its length.
    Huber {
        /// The scale, m.
        scale_m: f64,
    },
    /// Beyond the scale by its logarithm.
    Cauchy {
        /// The scale, m.
        scale_m: f64,
    },
    /// Beyond the scale hardly more.
    GemanMcClure {
        /// The scale, m.
        scale_m: f64,
    },
}

impl Default for LossTable {
    fn default() -> Self {
        Self::Cauchy { scale_m: 0.05 }
    }
}

impl Default for SolverTable {
    fn default() -> Self {
        Self {
            method: MethodName::default(),
            loss: LossTable::default(),
            widest: 16.0,
            iterations: 100,
            missing_m: 1.0,
            intensity_m: 0.01,
            beam_widths: vec![1.0],
            edges: None,
            search_poses: None,
        }
    }
}
