//! Schema of fit problems.

use crate::scene::RotationDeg;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Supported version of the format.
pub(super) const VERSION: u32 = 1;

/// A fit problem.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FitFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// A scene file, relative to the folder of this file, or the name of an embedded scene.
    #[schemars(with = "String")]
    pub scene: Spanned<String>,
    /// A sensor file, relative to the folder of this file, or the name of a preset. Default: the
    /// sensor of the scene.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub sensor: Option<Spanned<String>>,
    /// Measured scans.
    #[schemars(with = "Vec<ScanTable>")]
    pub scans: Spanned<Vec<ScanTable>>,
    /// Free parameters.
    #[schemars(with = "Vec<FreeTable>")]
    pub free: Spanned<Vec<FreeTable>>,
    /// Solver settings.
    #[serde(default)]
    pub solver: SolverTable,
}

/// A measured scan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScanTable {
    /// A scan log, relative to the folder of this file.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Index of the scan in the log, from 0; optional if the log contains one scan.
    #[serde(default)]
    pub number: Option<usize>,
    /// Topic of a bag; required if it has points of several sensors.
    #[serde(default)]
    pub topic: Option<String>,
    /// Position of the sensor. Default, without a position and a rotation: the pose of the scene.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Rotation of the sensor.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
}

/// A free parameter.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeTable {
    /// Path of the parameter: `sensor.pose`, `objects.NAME.pose`, `materials.NAME.reflectance`,
    /// `atmosphere.fog_visibility_m` ...
    #[schemars(with = "String")]
    pub path: Spanned<String>,
    /// Initial value. Default: the value of the scene.
    #[serde(default)]
    #[schemars(with = "Option<ValueTable>")]
    pub start: Option<Spanned<ValueTable>>,
    /// True value, if known; the error of the estimate is reported.
    #[serde(default)]
    #[schemars(with = "Option<ValueTable>")]
    pub truth: Option<Spanned<ValueTable>>,
    /// Degrees of freedom of a pose.
    #[serde(default)]
    pub motion: MotionName,
    /// Bounds of a number, in the unit of the parameter.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 2]>")]
    pub between: Option<Spanned<[f64; 2]>>,
    /// Lower and upper corner of a box that bounds the position of a planar pose, m.
    #[serde(default)]
    #[schemars(with = "Option<[[f64; 2]; 2]>")]
    pub within_m: Option<Spanned<[[f64; 2]; 2]>>,
}

/// A number, or a pose.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueTable {
    /// A number, in the unit of the parameter.
    #[serde(default)]
    pub value: Option<f64>,
    /// Position of a pose.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Rotation of a pose.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
}

/// Degrees of freedom of a pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MotionName {
    /// Planar motion; height and tilt are constant.
    #[default]
    Planar,
    /// Six degrees of freedom.
    Spatial,
}

/// Solver settings.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SolverTable {
    /// Optimisation method.
    pub method: MethodName,
    /// Loss of a residual. The default is robust, because mirrors, glass and people cause outliers.
    pub loss: LossTable,
    /// Graduated non-convexity: factor on the scale of a robust loss at the start, for convergence
    /// from distant initial values; 1 starts with the scale itself.
    #[schemars(range(min = 1e-09))]
    pub widest: f64,
    /// Maximum number of iterations.
    #[schemars(range(max = 1_000_000))]
    pub iterations: usize,
    /// Residual of a beam that was measured but is not predicted, m.
    #[schemars(range(min = 0.0))]
    pub missing_m: f64,
    /// Residual per count of intensity, m, for sensors that measure intensities; 0 ignores
    /// intensities.
    #[schemars(range(min = 0.0))]
    pub intensity_m: f64,
    /// Factors on the width of the beams, one per stage, the last one 1. Wide beams detect distant
    /// edges, narrow beams locate them.
    pub beam_widths: Vec<f64>,
    /// Whether derivatives include the motion of edges across beams. It is needed to locate a
    /// mirror or an edge along its own plane. Default: enabled if an object pose is free.
    pub edges: Option<bool>,
    /// Number of random light paths per ray, for light that several rough surfaces reflect. Default: ray trees,
    /// which only follow mirrors and glass.
    #[schemars(range(min = 1))]
    pub paths: Option<u32>,
    /// Number of initial poses of a search across the scene (or in `within_m`) for the first free
    /// planar pose. All solutions are reported, with their likelihood ratios. Default: only the
    /// initial value.
    #[schemars(range(max = 1_000_000))]
    pub search_poses: Option<usize>,
}

impl SolverTable {
    /// Weight of the intensities of a fit without a problem file: [`intensity_m`](Self::intensity_m) if a material or the receiver is
    /// unknown, otherwise 0. A sensor file states the noise of the ranges. That of the intensities is smaller than a device's, so that
    /// intensities would dominate a pose and make its stated deviation too small.
    pub fn intensity_weight<'a>(&self, free: impl IntoIterator<Item = &'a String>) -> f64 {
        let of_light =
            |path: &String| path.starts_with("materials.") || path.starts_with("sensor.receiver");
        if free.into_iter().any(of_light) {
            self.intensity_m
        } else {
            0.0
        }
    }
}

/// Optimisation method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// Levenberg-Marquardt.
    #[default]
    LevenbergMarquardt,
    /// Gauss-Newton.
    GaussNewton,
    /// L-BFGS with a Wolfe line search.
    Lbfgs,
}

/// Loss of a residual.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LossTable {
    /// Squared loss.
    Squared,
    /// Huber loss: linear beyond the scale.
    Huber {
        /// The scale, m.
        scale_m: f64,
    },
    /// Cauchy loss: logarithmic beyond the scale.
    Cauchy {
        /// The scale, m.
        scale_m: f64,
    },
    /// Loss that is nearly constant beyond the scale.
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
            paths: None,
            search_poses: None,
        }
    }
}
