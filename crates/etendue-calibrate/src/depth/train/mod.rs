//! Training: estimation of a depth model from a map.

mod adam;
pub mod covariance;
mod curve;
mod gauss_newton;
mod held_out;
mod lbfgs;
mod settings;
mod split;
mod training;

pub use curve::{BiasCurve, BiasCurvePoint};
pub use settings::{DepthOptimiser, TrainingSettings};
pub use split::SequenceSplit;
pub use training::{TrainingProgress, TrainingResult, train};
