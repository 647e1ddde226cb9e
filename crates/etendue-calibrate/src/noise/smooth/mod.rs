//! Smooth curves over incidence: penalised splines with cross-validated penalties.

mod basis;
mod spline;

pub use basis::SplineBasis;
pub use spline::{CurveObservation, LinkFunction, SmoothCurve, fit_curve};
