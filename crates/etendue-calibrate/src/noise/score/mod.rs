//! Tests of profiles on beams that they were not fitted to.

mod baselines;
mod distances;
mod hold_out;
mod monte_carlo;
mod scores;

pub use baselines::BeamPredictor;
pub use distances::{jensen_shannon, kolmogorov_smirnov, kolmogorov_smirnov_p};
pub use hold_out::{HoldOutScores, hold_out, hold_out_quickly};
pub use monte_carlo::{MonteCarloBand, monte_carlo_test};
pub use scores::{DropOutClass, IncidenceBand, PredictionScores, score};
