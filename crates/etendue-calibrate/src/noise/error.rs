//! Errors of noise calibration.

use thiserror::Error;

/// Errors of noise calibration, mostly of unusable recordings.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NoiseError {
    /// A recording without scans.
    #[error("{recording}: the recording contains no scan")]
    Empty {
        /// Name of the recording.
        recording: String,
    },
    /// No beam returned.
    #[error("{recording}: none of {beams} beams in {scans} scans returned")]
    AllDropped {
        /// Name of the recording.
        recording: String,
        /// Number of beams.
        beams: usize,
        /// Number of scans.
        scans: usize,
    },
    /// Too few directions with returns for the panel search.
    #[error(
        "{recording}: {directions} directions{} returned, but a panel requires at least {needed}",
        .bearing_deg.map(|at| format!(" around the declared bearing of {at:.0} degrees")).unwrap_or_default()
    )]
    TooFewBeams {
        /// Name of the recording.
        recording: String,
        /// Number of directions with returns.
        directions: usize,
        /// Least number.
        needed: usize,
        /// Declared bearing that limits the search, degrees.
        bearing_deg: Option<f64>,
    },
    /// No flat surface that faces the sensor.
    #[error("{recording}: no panel found: {found}")]
    NoPanel {
        /// Name of the recording.
        recording: String,
        /// Description of the surfaces that were found.
        found: String,
    },
    /// Several panels, and no hint that selects one.
    #[error("{recording}: {count} panels found, but {declared} is declared: {found}")]
    SeveralPanels {
        /// Name of the recording.
        recording: String,
        /// Number of panels found.
        count: usize,
        /// Number of panels declared.
        declared: usize,
        /// Distances and bearings of the panels.
        found: String,
    },
    /// The sensor moves.
    #[error(
        "{recording}: the sensor moves: the ranges of {:.0} % of {directions} directions change during the recording, by {:.0} % in the median",
        1e2 * .changed, 1e2 * .median
    )]
    Moving {
        /// Name of the recording.
        recording: String,
        /// Fraction of the directions whose ranges change.
        changed: f64,
        /// Number of directions.
        directions: usize,
        /// Median change relative to the range.
        median: f64,
    },
    /// The panel moves relative to the sensor.
    #[error(
        "{recording}: the sensor or the panel moves: the panel turned by {turn_deg:.1} degrees and moved by {shift_percent:.0} % of its distance, and is in place in {scans} of {all} scans"
    )]
    PanelMoves {
        /// Name of the recording.
        recording: String,
        /// Rotation, degrees.
        turn_deg: f64,
        /// Change of the distance relative to the distance, per cent.
        shift_percent: f64,
        /// Number of scans in which the panel is near its median pose.
        scans: usize,
        /// Number of scans.
        all: usize,
    },
    /// Ranges in metres and in millimetres.
    #[error(
        "{recording}: the range in scan {scan} is {range:.4}, but the median in the same direction is {median:.4}: metres and millimetres are mixed"
    )]
    MixedUnits {
        /// Name of the recording.
        recording: String,
        /// Index of the scan.
        scan: u32,
        /// Its range.
        range: f64,
        /// Median of the other scans.
        median: f64,
    },
    /// Ranges in millimetres.
    #[error(
        "{recording}: the distance of the panel would be {distance:.0} m: the ranges are millimetres"
    )]
    Millimetres {
        /// Name of the recording.
        recording: String,
        /// Fitted distance, m.
        distance: f64,
    },
    /// Too few beams on the panel for statistics.
    #[error(
        "{recording}: {beams} beams on the panel over {span_deg:.1} degrees of incidence, but statistics require at least {needed} over 4 degrees"
    )]
    TooFewBeamsOnPanel {
        /// Name of the recording.
        recording: String,
        /// Number of beams.
        beams: usize,
        /// Span of their incidence, degrees.
        span_deg: f64,
        /// Least number.
        needed: usize,
    },
    /// No profile for a comparison.
    #[error("no profile was given for the comparison")]
    NoProfiles,
    /// Too few scans for a hold-out test.
    #[error("{recording}: {scans} scans cannot be split into two parts of at least four")]
    NoHoldOut {
        /// Name of the recording.
        recording: String,
        /// Number of scans.
        scans: usize,
    },
}

impl NoiseError {
    /// Remedy for the user.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "record a few seconds in front of the panel",
            Self::AllDropped { .. } => {
                "check that the sensor works; move the panel nearer, or turn it"
            }
            Self::TooFewBeams {
                bearing_deg: Some(_),
                ..
            } => {
                "correct the bearing (--bearing, or bearing_deg of the setup file): degrees, anticlockwise from the x axis of \
                 the sensor; without one, the panel is searched all around"
            }
            Self::TooFewBeams { .. } | Self::TooFewBeamsOnPanel { .. } => {
                "record full rotations for some seconds, with a panel that covers 20 degrees or more"
            }
            Self::NoPanel { .. } => {
                "place a flat board in front of the sensor, facing it, with no other flat surface \
                 nearer than half its distance; `etendue calibrate aim` shows the detected panel"
            }
            Self::SeveralPanels { .. } => {
                "select one by bearing_deg or sector_deg in the calibration setup file (--bearing), or give each \
                 panel its material in a [[panels]] table"
            }
            Self::Moving { .. } | Self::PanelMoves { .. } => {
                "record with the sensor at rest; for a driving robot, cut the recording to a time at which it stands"
            }
            Self::MixedUnits { .. } => "convert all ranges to metres",
            Self::Millimetres { .. } => "divide the ranges by 1000: ranges must be in metres",
            Self::NoProfiles => "write profiles with `etendue calibrate SETUP.toml -o profiles`",
            Self::NoHoldOut { .. } => "record for longer",
        }
    }
}
