//! Noise profiles from recordings of panels of known materials.
//!
//! [`calibrate`] takes recordings of one material and returns a [`NoiseCalibration`]: the
//! [`Profile`](etendue_physics::profile::Profile), the panels that were found, and the data of the fit. It
//! consists of these steps:
//!
//! 1. [`panel`]: search for the panel, with declared values as hints, and robust fit of its plane.
//! 2. Incidence from the fitted plane. Both sides of the normal share one curve, except near the normal
//!    where they differ significantly (a [glare](etendue_physics::profile::Glare)).
//! 3. [`statistics`]: bias and spread of the returned beams, and the drop-out, with confidence intervals
//!    from the effective number of independent samples; quantisation steps; correlation of neighbours. Next
//!    to edges, where only a fraction of the spot returns, a beam counts as returned but its range is
//!    ignored.
//! 4. [`smooth`]: penalised splines over incidence with cross-validated penalties.
//! 5. A law of distance, from the ranging principle or from recordings at several distances.
//! 6. [`reflectance`]: a reflectance model for gaps and extrapolation.
//!
//! [`verdict`] judges whether the data support the profile: good, doubtful or refused.
//!
//! [`score`] tests a profile on beams that it was not fitted to, [`identify`](identify()) identifies
//! materials, [`adapt`](transfer::adapt) predicts the profile of an unrecorded material, [`replay`](replay())
//! simulates the beams of a recording, [`truth`] compares a calibration of a simulated recording with the known profile.
//!
//! Not modelled: panels that are not flat (their shape becomes bias and fixed-pattern noise), light from
//! two surfaces at edges, warm-up.

mod beams;
mod bias_hypotheses;
mod calibrate;
mod clouds;
mod coverage;
mod curve_settings;
mod curves;
mod distance_law;
mod edges;
mod error;
mod errors;
mod glare;
mod identify;
mod knots;
mod modes;
mod options;
pub mod panel;
mod panel_report;
mod plane_errors;
mod quantisation;
mod recording;
pub mod reflectance;
mod replay;
pub mod score;
pub mod smooth;
pub mod statistics;
pub mod transfer;
pub mod truth;
pub mod verdict;
mod warnings;

pub use beams::{BeamOutcome, PanelBeam, PanelBeams};
pub use bias_hypotheses::{BiasHypothesis, fit_bias_hypotheses};
pub use calibrate::{NoiseCalibration, calibrate};
pub use coverage::{BEAMS_PER_BAND, IncidenceCoverage};
pub use error::NoiseError;
pub use identify::{MaterialLikelihood, identify};
pub use modes::RangeMode;
pub use options::{CalibrationOptions, RangingPrinciple};
pub use panel::{Panel, PanelHint, PanelSearch};
pub use panel_report::PanelReport;
pub use quantisation::detect_steps;
pub use recording::{BeamSample, DirectionCell, PanelRecording};
pub use replay::replay;
