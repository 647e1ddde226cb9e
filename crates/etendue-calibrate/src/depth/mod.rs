//! Depth bias of a lidar, estimated from the consistency of its own maps.
//!
//! The range error of a lidar grows with the incidence $\gamma$. In a map of scans from several poses this
//! error increases the thickness of walls. [`train`](train::train) estimates the [`DepthModel`] that
//! minimises the thickness, without ground truth:
//!
//! 1. [`DepthMap::build`] downsamples the scans, estimates the incidence of every point in its own scan, and
//!    selects flat neighbourhoods of the map with several viewpoints;
//! 2. a [`DepthObjective`] is the mean [`DepthLoss`] over them, with analytic gradients;
//! 3. [`train`](train::train) minimises it over the weights of the model and, optionally, over corrections
//!    of the poses;
//! 4. a [`BiasCurve`](train::BiasCurve) gives the bias over incidence with its uncertainty.
//!
//! Source: Agishev, Petříček, Zimmermann 2023, "Self-Supervised Depth Correction of Lidar
//! Measurements from Map Consistency Loss", doi:10.1109/LRA.2023.3287791 (equations are numbered
//! as there).
//!
//! [`correct_scan`] removes an estimated bias from a scan; [`ScanPairs`] detects poses in another
//! convention.
//!
//! Limitations: [`DepthLoss::Trace`] does not recover the bias, because the density of the sampling
//! dominates it. Pose errors of a centimetre bias the weights: estimate the poses too ([`PoseFreedom`]). A
//! lower loss is no evidence of a smaller error: a model of the wrong shape lowers the loss and can increase
//! the error.

mod convention;
mod correct;
mod correction_errors;
mod error;
pub mod features;
mod loss;
mod map;
mod model;
mod signature;
pub mod train;

pub use convention::{PoseConvention, ScanPairs};
pub use correct::{CorrectedScan, correct_scan};
pub use correction_errors::correction_errors;
pub use error::DepthError;
pub use loss::{DepthLoss, DepthObjective, DepthUnknowns, PoseFreedom, PosePrior, RobustLoss};
pub use map::{DepthMap, DepthMapOptions, DepthMapReport, DepthMeasurement};
pub use model::{
    DepthModel, InverseCosineBias, LinearBias, PolynomialBias, TableBias, WaveformBias,
};
pub use signature::ScanSignature;
