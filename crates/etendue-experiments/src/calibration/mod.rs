//! Noise calibration of simulated recordings whose truth is known: right within the stated interval,
//! doubtful, refused, or wrong.
//!
//! A board or a wall with a known noise profile is recorded by a planar phase lidar at rest or in motion, alone or
//! with other objects ([`RecordingKind`]). [`run`] calibrates one recording and compares the profile with
//! the truth; [`CalibrationTable`] counts the outcomes of many.

mod known;
mod outcome;
mod setup;
mod table;

pub use etendue_calibrate::noise::truth::{Figure, Quantity};
pub use outcome::{Outcome, RecordingOutcome, run};
pub use setup::{RecordingKind, SimulatedRecording};
pub use table::{CalibrationTable, Coverage, KindRow};
