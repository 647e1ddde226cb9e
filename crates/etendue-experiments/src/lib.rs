//! Experiments of published papers and closed-loop demonstrations, as functions that return tables.
//!
//! - [`arena`]: localisation, mirror tracking and receiver calibration after Heiden et al. 2019
//!   (arXiv:1912.01652), next to registration baselines.
//! - [`coverage`]: whether the stated uncertainty of fits holds.
//! - [`depth`]: depth-bias correction in a synthetic corridor after Agishev et al. 2023.
//! - [`calibration`]: noise calibration of simulated recordings with poles, people, clutter and moving robots.
//! - [`demo`]: a scaled car on a race course and a vehicle in a procedural town, after Elmquist et
//!   al. 2021 (doi:10.1115/1.4050080).
//!
//! This crate is a leaf: only the command line and its own tests depend on it.

pub mod arena;
pub mod calibration;
pub mod coverage;
pub mod demo;
pub mod depth;
