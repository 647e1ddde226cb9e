//! What can be wrong with a recording of a panel.

use thiserror::Error;

/// Why a recording gives no profile.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NoiseError {
    /// There is no scan.
    #[error("{recording}: there is no scan in it")]
    Empty {
        /// The recording.
        recording: String,
    },
    /// Nothing ever returned.
    #[error("{recording}: all {beams} beams dropped; nothing was seen in {scans} scans")]
    AllDropped {
        /// The recording.
        recording: String,
        /// How many beams were fired.
        beams: usize,
        /// In how many scans.
        scans: usize,
    },
    /// Too little to find a panel in.
    #[error("{recording}: {directions} directions returned, a panel takes {needed} at least")]
    TooFewBeams {
        /// The recording.
        recording: String,
        /// In how many directions something was seen.
        directions: usize,
        /// How many it takes.
        needed: usize,
    },
    /// No flat surface in front of the sensor.
    #[error("{recording}: no panel found: {found}")]
    NoPanel {
        /// The recording.
        recording: String,
        /// What there is instead.
        found: String,
    },
    /// Several panels, and nothing says which.
    #[error("{recording}: {count} panels found where {declared} is declared: {found}")]
    SeveralPanels {
        /// The recording.
        recording: String,
        /// How many were found.
        count: usize,
        /// How many were declared.
        declared: usize,
        /// Where they stand.
        found: String,
    },
    /// Ranges in metres and in millimetres.
    #[error(
        "{recording}: scan {scan} gives {range:.4} where others give {median:.4} in the same direction: metres and millimetres are mixed"
    )]
    MixedUnits {
        /// The recording.
        recording: String,
        /// A scan that differs.
        scan: u32,
        /// What it gives.
        range: f64,
        /// What the others give.
        median: f64,
    },
    /// Ranges that can only be millimetres.
    #[error("{recording}: the panel would stand {distance:.0} m away: the ranges are millimetres")]
    Millimetres {
        /// The recording.
        recording: String,
        /// The distance found.
        distance: f64,
    },
    /// Too few beams on the panel for statistics.
    #[error(
        "{recording}: {beams} beams on the panel over {span_deg:.1} degrees of incidence: statistics take {needed} at least"
    )]
    TooLittle {
        /// The recording.
        recording: String,
        /// How many.
        beams: usize,
        /// Over which incidences, degrees.
        span_deg: f64,
        /// How many it takes.
        needed: usize,
    },
    /// No profile to compare with.
    #[error("there is no profile to compare with")]
    NoProfiles,
    /// A hold-out needs several scans.
    #[error("{recording}: {scans} scans cannot be split in two parts of four at least")]
    NoHoldOut {
        /// The recording.
        recording: String,
        /// How many there are.
        scans: usize,
    },
}

impl NoiseError {
    /// What the user can do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "record a few seconds in front of the panel",
            Self::AllDropped { .. } => {
                "check that the sensor turns and sees: move the panel nearer, or turn it"
            }
            Self::TooFewBeams { .. } | Self::TooLittle { .. } => {
                "record whole turns for some seconds, with a panel that fills 20 degrees or more"
            }
            Self::NoPanel { .. } => {
                "stand a flat board squarely in front of the sensor, with nothing flat \
                 nearer than half its distance; `etendue calibrate aim` shows what is seen"
            }
            Self::SeveralPanels { .. } => {
                "say which by bearing_deg or sector_deg in the calibration setup file (--bearing), or name each \
                 panel's material with its own [[panels]]"
            }
            Self::MixedUnits { .. } => "convert all ranges to metres",
            Self::Millimetres { .. } => "divide the ranges by 1000: ranges are metres",
            Self::NoProfiles => "make profiles with `etendue calibrate BENCH.toml -o profiles`",
            Self::NoHoldOut { .. } => "record for longer",
        }
    }
}
