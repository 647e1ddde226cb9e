//! Does a profile hold on beams that it was not fitted to?

mod baselines;
mod distances;
mod hold_out;
mod monte_carlo;
mod scores;

pub use baselines::Predictor;
pub use distances::{jensen_shannon, kolmogorov_smirnov, kolmogorov_smirnov_p};
pub use hold_out::{HoldOut, hold_out};
pub use monte_carlo::{MonteCarloBand, monte_carlo_test};
pub use scores::{Band, Calibrated, Scores, score};
