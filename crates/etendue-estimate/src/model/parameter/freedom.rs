//! Degrees of freedom of an unknown, and unknown paths.

use thiserror::Error;

/// Degrees of freedom of an unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Freedom {
    /// Pose with all six degrees of freedom, or number without bounds (amounts of weather are bounded
    /// below by zero).
    Whole,
    /// Pose with position along x and y, and yaw; height and tilt are constant.
    Planar,
    /// As [`Freedom::Planar`], with the position in a box.
    Boxed {
        /// Lower corner, m.
        lower: [f64; 2],
        /// Upper corner, m.
        upper: [f64; 2],
    },
    /// Number between bounds, in the unit of the parameter.
    Interval {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
}

/// Error: no parameter has the path.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("there is no parameter \"{path}\"{}", suggestion.as_ref().map_or(String::new(), |s| format!(", did you mean \"{s}\"?")))]
pub struct UnknownPath {
    /// The path.
    pub path: String,
    /// Most similar path of a parameter.
    pub suggestion: Option<String>,
}
