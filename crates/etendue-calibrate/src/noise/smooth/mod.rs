//! Curves over incidence: penalised splines, chosen by cross-validation.

mod basis;
mod spline;

pub use basis::Basis;
pub use spline::{Curve, Link, Observation, fit_curve};
