//! Fits of a model to scans.
//!
//! The residual of a beam is the predicted less the measured range. A measured beam without a
//! prediction is missing and costs the gate; a predicted beam without a measurement costs nothing
//! (sensors lose beams for reasons outside the model) and is counted. Where a beam has a measured and a
//! predicted intensity, their difference is a second residual, in units of
//! [`FitProblem::intensity_sigma`].

mod ambiguous_minima;
mod coarse;
mod grid;
mod problem;
mod refine_by_rays;
mod report;
mod stages;

pub use ambiguous_minima::{AmbiguousMinima, chance, find_ambiguous_minima};
pub use coarse::{CoarseSearch, coarse_search, scatter};
pub use grid::planar_grid;
pub use problem::{FitError, FitProblem};
pub use report::{FitReport, Misfits, report};
pub use stages::solve_in_stages;
