//! Coverage of the stated uncertainty of fits.
//!
//! A [`CoverageCase`] is a lidar in a scene with unknowns, a start and a loss. [`CoverageCase::run`]
//! simulates scans with the noise of the lidar, each from another pose, fits each, and compares the
//! errors with the stated standard deviations ([`CaseCoverage`]). The intervals of 1.96 standard deviations
//! should contain the truth in 95 % of the scans. Where they do not, the fits that failed, with an error
//! above four standard deviations, should be called doubtful.

mod case;
mod lidars;
mod rooms;
mod table;

pub use case::{CaseCoverage, CoverageCase, FitOutcome, Start};
pub use table::{all_cases, coverage_page, coverage_row};
