//! Depth correction learnt from map consistency.
//!
//! A lidar's range error grows with the incidence $\gamma$. Where several poses saw one wall, the
//! error thickens the wall in the map; [`train`](train::train) finds the [`DepthModel`] that makes
//! walls thin again, without any ground truth:
//!
//! 1. [`DepthMap::build`] samples the scans, gives every point the incidence seen in its own scan,
//!    and selects flat neighbourhoods of the map that were seen from several places;
//! 2. a [`DepthObjective`] is the mean consistency [`DepthLoss`] over them, with analytic gradients;
//! 3. [`train`](train::train) minimises it over the model's weights and, optionally, over corrections of
//!    the poses;
//! 4. a [`BiasCurve`](train::BiasCurve) gives the uncertainty of the bias over incidence.
//!
//! Source: Agishev, Petříček, Zimmermann 2023, "Self-Supervised Depth Correction of Lidar
//! Measurements from Map Consistency Loss", doi:10.1109/LRA.2023.3287791 (equations are numbered
//! as there).
//!
//! [`correct_scan`] removes a learnt bias from a scan; [`likely_convention`] detects poses in another
//! convention.
//!
//! Three warnings. [`DepthLoss::Trace`] does not find the bias: it is dominated by the density of
//! the sampling. Poses that are wrong by a centimetre spoil a fit of the weights alone: fit them
//! too ([`PoseFreedom`]). And a lower loss proves nothing: a model of the wrong shape lowers it
//! and can be further from the truth.

mod convention;
mod correct;
mod error;
pub mod features;
mod loss;
mod map;
mod model;
mod signature;
pub mod train;

pub use convention::{PoseConvention, likely_convention};
pub use correct::{CorrectedScan, correct_scan};
pub use error::DepthError;
pub use loss::{DepthLoss, DepthObjective, DepthUnknowns, PoseFreedom, RobustLoss};
pub use map::{DepthMap, DepthMeasurement, DepthMapOptions, DepthMapReport};
pub use model::{DepthModel, InverseCosineBias, LinearBias, PolynomialBias, WaveformBias};
pub use signature::ScanSignature;
