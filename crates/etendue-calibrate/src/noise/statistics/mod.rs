//! What beams on a panel show, incidence by incidence.

mod between_bin_variance;
mod bins;
mod censored;
mod neighbour_correlation;
mod quantisation;
mod wilson;

pub use between_bin_variance::between_bin_variance;
pub use bins::{Bin, bins, wide_bins};
pub use censored::{Sample, Spread, censored_normal, fixed_pattern_share};
pub use neighbour_correlation::{NeighbourCorrelation, neighbour_correlation};
pub use quantisation::detect_steps;
pub use wilson::{dispersion, independent_looks, wilson};
