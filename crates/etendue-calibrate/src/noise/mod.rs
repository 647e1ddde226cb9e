//! Calibrated noise: recordings of known panels become [`Profile`](etendue_physics::profile::Profile)s.
//!
//! [`calibrate`] takes recordings of one material and gives a [`Calibration`]: the profile, the
//! panels that it found, and what it rests on. The steps:
//!
//! 1. [`panel`]: the panel is found in the recording, declared numbers are hints; its plane is
//!    fitted robustly.
//! 2. Incidence comes from the fitted plane; both sides of its normal are one, but near it where they
//!    differ by more than the panel does elsewhere (a [glare](etendue_physics::profile::Glare)).
//! 3. [`statistics`]: bias and spread of the beams that returned, drop-out apart, with intervals
//!    that count independent samples; steps of the device; neighbour_correlation of neighbours. Beside edges, where
//!    part of the spot comes back, a beam counts as returned, its range does not count.
//! 4. [`smooth`]: penalised splines over incidence, chosen by cross-validation.
//! 5. A law of distance, from the ranging principle or from recordings at several distances.
//! 6. [`reflectance`]: a reflectance model for gaps and beyond the edge.
//!
//! [`score`] tests a profile on beams that it was not fitted to, [`identify`](identify()) identifies
//! materials, [`adapt`](transfer::adapt) predicts an unrecorded one.
//!
//! Not modelled: panels that are not flat (their shape enters bias and fixed-pattern noise), light of
//! two surfaces at edges, warming up.

mod beams;
mod bias_hypotheses;
mod calibrate;
mod curves;
mod edges;
mod error;
mod glare;
mod identify;
mod knots;
mod law;
pub mod panel;
mod recording;
pub mod reflectance;
mod replay;
pub mod score;
pub mod smooth;
pub mod statistics;
pub mod transfer;
mod warnings;

pub use beams::{BeamOutcome, PanelBeam, PanelBeams};
pub use bias_hypotheses::{BiasHypothesis, fit_bias_hypotheses};
pub use calibrate::{Calibration, CalibrationOptions, PanelReport, SensorKind, calibrate};
pub use error::NoiseError;
pub use identify::{MaterialLikelihood, identify};
pub use panel::{Panel, PanelHint, PanelSearch};
pub use recording::{BeamSample, DirectionCell, Recording};
pub use replay::replay;
