//! Similarity of two clouds, such as a recorded and a simulated one.
//!
//! [`compare_clouds`] gives distances of nearest neighbours, [`compare_distributions`]
//! distances between two samples of one quantity (range, intensity, incidence), [`compare_beams`] the
//! errors and drop-outs of two scans beam by beam.

mod beams;
mod clouds;
mod distributions;

pub use beams::{BeamComparison, BeamReturn, DropOuts, ErrorSpan, ErrorStatistics, compare_beams};
pub use clouds::{CloudComparison, compare_clouds};
pub use distributions::{DistributionComparison, compare_distributions};
