//! What beams on a panel show, incidence by incidence.

mod bins;
mod censored;
mod likeness;
mod places;
mod quantisation;
mod wilson;

pub use bins::{Bin, bins, wide_bins};
pub use censored::{Sample, Spread, censored_normal, standing_share};
pub use likeness::{Likeness, likeness};
pub use places::place_to_place;
pub use quantisation::detect_steps;
pub use wilson::{dispersion, independent_looks, wilson};
