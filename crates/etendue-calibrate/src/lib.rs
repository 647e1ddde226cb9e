//! Calibration of sensors from recordings.
//!
//! | module | input | result |
//! |---|---|---|
//! | [`noise`] | scans of panels of one material | a [noise profile](etendue_physics::profile::Profile): bias, spread, drop-out and intensity over incidence |
//! | [`standing`] | scans of a standing sensor | the [parts of its noise](standing::NoiseParts): independent, of neighbours, common to a scan, fixed patterns |
//! | [`depth`] | scans of one environment from several poses | a [`DepthModel`](depth::DepthModel) of the range bias over incidence, with its uncertainty |
//!
//! A model of the depth bias corrects scans, and simulates the bias in exact depths:
//!
//! ```
//! use etendue_calibrate::depth::{DepthModel, PolynomialBias};
//! let model = DepthModel::Polynomial(PolynomialBias::plain([0.004, 0.008]));
//! let measured = model.distort(7.0, 1.2);
//! assert!((model.correct(measured, 1.2) - 7.0).abs() < 1e-14);
//! ```
//!
//! Least-squares problems and L-BFGS are solved by [`etendue_estimate::solve`]. Not modelled: range bias due
//! to reflectance, temperature and multiple echoes.

pub mod depth;
pub mod noise;
pub mod standing;
