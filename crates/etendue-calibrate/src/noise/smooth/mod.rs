//! Smooth curves over incidence: penalised splines with cross-validated penalties.

mod basis;
mod spline;

pub use basis::SplineBasis;
pub use spline::{SmoothCurve, LinkFunction, CurveObservation, fit_curve};
