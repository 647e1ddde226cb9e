//! Reasons for a beam without a range.

use thiserror::Error;

/// Reason for a beam without a range.
///
/// The URG-04LX reports such beams as a distance below 20 mm, an error code (SCIP 2.0
/// specification, Hokuyo C-42-03320B). Modelled are the codes whose cause is in the model. Not
/// modelled: the grades of "low intensity" 2 to 5 (their difference is undocumented),
/// 6 and 7 (a filter over neighbouring beams, undocumented), 10 and 15 (undocumented), 16
/// (4096 mm, a collision of numbers in the device's encoding) and 19 (not measurable, no cause
/// given).
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NoDetection {
    /// The received power is negligible.
    #[error("no light was received")]
    NothingReceived,
    /// The object is beyond the maximum range but within the combined ambiguity.
    #[error("the object is beyond the range, at {range} m")]
    BeyondRange {
        /// Range of the object, m.
        range: f64,
    },
    /// The received power is too low for a measurement.
    #[error("low intensity")]
    LowIntensity,
    /// The ranges of the two frequencies differ too much.
    #[error("the two frequencies disagree by {disagreement} m")]
    Disagreement {
        /// Difference of the two ranges, m.
        disagreement: f64,
    },
    /// The received power saturates the converter at the lowest gain.
    #[error("strong reflector: the converter saturates")]
    StrongReflector,
    /// The object is nearer than the minimum range.
    #[error("too near, at {range} m")]
    TooNear {
        /// Range of the object, m.
        range: f64,
    },
}

impl NoDetection {
    /// The error code of the URG-04LX; none for an object that is too near, which it reports as a
    /// small distance.
    pub fn urg_code(self) -> Option<u8> {
        match self {
            Self::NothingReceived | Self::BeyondRange { .. } => Some(0),
            Self::LowIntensity => Some(1),
            Self::Disagreement { .. } => Some(8),
            Self::StrongReflector => Some(18),
            Self::TooNear { .. } => None,
        }
    }
}
