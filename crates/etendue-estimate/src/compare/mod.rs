//! How alike two clouds are: a real one and a simulated one, say.
//!
//! [`compare_clouds`] gives distances between nearest neighbours, [`compare_distributions`]
//! those between two samples of one number (range, intensity, incidence), [`compare_beams`] the
//! errors and drop-outs of two scans beam by beam.

mod beams;
mod clouds;
mod distributions;

pub use beams::{BeamComparison, BeamReturn, DropOuts, ErrorSpan, ErrorStatistics, compare_beams};
pub use clouds::{CloudComparison, compare_clouds};
pub use distributions::{DistributionComparison, compare_distributions};
