//! Least-squares fits of a simulator model to scans.
//!
//! The range residual of a beam is the predicted minus the measured range, in units of
//! [`FitProblem::sigma`]. A beam with a measured but no predicted range is missing and costs the
//! gate; a beam with a predicted but no measured range is counted and costs nothing, because sensors
//! lose beams for reasons outside the model. A beam with a measured and a predicted intensity has
//! their difference as a second residual, in units of [`FitProblem::intensity_sigma`].

mod ambiguous_minima;
mod coarse;
mod correlation;
mod goodness;
mod grid;
mod likelihood;
mod posterior;
mod problem;
mod refine_by_rays;
mod report;
mod restarts;
mod schedules;
mod soft_visibility;
mod stages;
mod weighted;

pub use ambiguous_minima::{
    AmbiguousMinima, ComparedMinimum, EXCLUSION_LEVEL, find_ambiguous_minima, sigma_of_cost,
};
pub use coarse::{CoarseSearch, coarse_search, scatter};
pub use goodness::{Goodness, Verdict};
pub use grid::planar_grid;
pub use problem::{FitError, FitProblem};
pub use report::{FitReport, Misfits, report};
pub use restarts::solve_from_start;
pub use schedules::solve_by_schedules;
pub use soft_visibility::{SoftVisibility, Softness};
pub use stages::solve_in_stages;
pub use weighted::{WeightedFit, refine_weighted};
