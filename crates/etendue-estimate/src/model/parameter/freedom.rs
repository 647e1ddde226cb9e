//! Degrees of freedom of an unknown, and paths that name nothing.

use thiserror::Error;

/// Degrees of freedom of an unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Freedom {
    /// A pose in all six degrees of freedom; a number without bounds, except amounts of weather,
    /// which stay above zero.
    Whole,
    /// A pose in the plane, with constant height and tilt.
    Planar,
    /// A pose in the plane with its position in a box, m.
    Boxed {
        /// Lower corner.
        lower: [f64; 2],
        /// Upper corner.
        upper: [f64; 2],
    },
    /// A number between bounds, in its unit.
    Interval {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
}

/// A path that names no parameter.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("there is no parameter \"{path}\"{}", suggestion.as_ref().map_or(String::new(), |s| format!(", did you mean \"{s}\"?")))]
pub struct UnknownPath {
    /// The path.
    pub path: String,
    /// The most similar path that names a parameter.
    pub suggestion: Option<String>,
}
