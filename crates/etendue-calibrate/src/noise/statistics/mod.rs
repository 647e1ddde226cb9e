//! Statistics of the beams on a panel, over incidence.

mod band_differences;
mod between_bin_variance;
mod bins;
mod censored;
mod neighbour_correlation;

mod wilson;

pub use band_differences::{BandDifference, BandQuantity, band_differences};
pub use between_bin_variance::between_bin_variance;
pub use bins::{IncidenceBin, bins, wide_bins};
pub use censored::{CensoredSample, NormalEstimate, censored_normal, fixed_pattern_share};
pub use neighbour_correlation::{NeighbourCorrelation, neighbour_correlation};

pub use wilson::{dispersion, effective_sample_size, wilson};
