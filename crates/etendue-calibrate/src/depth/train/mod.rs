//! Training: estimation of a depth model from a map.

mod adam;
mod clusters;
pub mod covariance;
mod curve;
mod gauss_newton;
mod hold_out;
mod lbfgs;
pub mod pose_variance;
mod settings;
mod shape;
mod split;
mod training;
mod validation;
mod verdict;

pub use curve::{BiasCurve, BiasCurvePoint};
pub use hold_out::HoldOut;
pub use settings::{DepthOptimiser, PoseUncertainty, TrainingSettings};
pub use split::SequenceSplit;
pub use training::{PoseChange, TrainingProgress, TrainingResult, train};
pub use verdict::{ModelVerdict, NotDetermined, TestedModel, train_and_test};
