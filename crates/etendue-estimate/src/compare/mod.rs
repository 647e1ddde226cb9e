//! Comparison of two scans of one scene, such as a recorded and a simulated one.
//!
//! - [`compare_clouds`]: nearest-neighbour distances between point clouds
//! - [`compare_distributions`]: distances between samples of one quantity (range, intensity, incidence)
//! - [`compare_beams`]: errors and drop-outs beam by beam

mod beams;
mod clouds;
mod distributions;

pub use beams::{BeamComparison, BeamReturn, DropOuts, ErrorSpan, ErrorStatistics, compare_beams};
pub use clouds::{CloudComparison, compare_clouds};
pub use distributions::{DistributionComparison, compare_distributions};
