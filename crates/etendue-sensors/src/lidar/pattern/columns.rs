//! Schedule of the columns within a sweep.

/// Schedule of the columns within a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Columns {
    /// Locked to the motion by an encoder: columns evenly spaced over the whole sweep.
    PerSweep {
        /// Number of columns in a whole sweep.
        columns: u32,
        /// Number of columns that fire, from the first on; `None` for all.
        fired: Option<u32>,
    },
    /// By a clock that runs on from sweep to sweep: the number of columns may vary by one between sweeps.
    Period {
        /// Time between columns, s.
        seconds: f64,
    },
    /// At the steps of an encoder over part of a rotation.
    Steps {
        /// Number of columns in a sweep.
        columns: u32,
        /// Time between columns, s.
        period: f64,
    },
}

/// Index and start time of a column of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnStart {
    /// Index in the sweep, from 0.
    pub number: u32,
    /// Start time since the start of the run, s.
    pub time: f64,
}

impl Columns {
    /// Greatest number of columns of a sweep of a duration (s).
    pub(in crate::lidar) fn most(self, sweep_duration: f64) -> u32 {
        match self {
            Self::PerSweep { columns, fired } => fired.unwrap_or(columns),
            Self::Steps { columns, .. } => columns,
            Self::Period { seconds } => columns_before(sweep_duration / seconds),
        }
    }
}

/// Number of columns of a clock that begin before a time, given in periods of the clock. A period that divides the time
/// within rounding divides it exactly.
pub(in crate::lidar) fn columns_before(periods: f64) -> u32 {
    let rounding = (1e-15 * periods).max(1e-9);
    whole((periods - rounding).ceil())
}

/// A whole, non-negative number as an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number, not negative, and saturating"
)]
pub(in crate::lidar) fn whole(number: f64) -> u32 {
    number as u32
}
