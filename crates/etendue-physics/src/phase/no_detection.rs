//! Why a beam has no range.

use thiserror::Error;

/// Why a beam has no range.
///
/// The URG-04LX reports such beams as a distance below 20 mm, an error code (SCIP 2.0
/// specification, Hokuyo C-42-03320B). Modelled are the codes whose cause is in the model. Not
/// modelled: the shades of "low intensity" 2 to 5 (the device does not document how they differ),
/// 6 and 7 (a filter over neighbouring beams, undocumented), 10 and 15 (undocumented), 16
/// (4096 mm, a collision of numbers in the device's encoding) and 19 (not measurable, no cause
/// given).
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NoDetection {
    /// No light worth mentioning came back.
    #[error("nothing came back")]
    NothingReceived,
    /// The object is beyond the device's range but within the combined ambiguity.
    #[error("the object is beyond the range, at {range} m")]
    BeyondRange {
        /// Where it is, m.
        range: f64,
    },
    /// Too little light came back for a measurement.
    #[error("low intensity")]
    LowIntensity,
    /// The two frequencies contradict each other.
    #[error("the two frequencies disagree by {disagreement} m")]
    Disagreement {
        /// By how much, m.
        disagreement: f64,
    },
    /// So much light came back that the converter saturates at the lowest gain.
    #[error("strong reflector: the converter saturates")]
    StrongReflector,
    /// Nearer than the device measures.
    #[error("too near, at {range} m")]
    TooNear {
        /// Where it is, m.
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
