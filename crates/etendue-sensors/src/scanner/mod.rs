//! Scanners as data: where and when each laser fires, and what its receiver does.
//!
//! A [`Scanner`] holds a table of [`Channel`]s and a [`ScanPattern`] that moves them. A sweep is
//! one period of the pattern, made of columns: in each, every channel fires once, at its own
//! time. [`Scanner::shots`] lists them. Angles are the project's: azimuth anticlockwise from x
//! seen from above, elevation above the x-y plane, in the sensor's frame (x forward, y left,
//! z up).

mod channel;
mod check;
mod check_light;
mod column_times;
mod pattern;
mod receiver;
mod shot;
mod shots;
mod turn;

pub use channel::{Channel, number_rings};
pub use check::{ScannerError, ScannerPart};
pub use pattern::{
    Columns, Nod, Oscillating, Oscillation, Polygon, Prism, Raster, Risley, ScanPattern, Spinning,
};
pub use receiver::{
    Intensity, Pipeline, PulsedReceiver, RangeLimits, Receiver, Sensitivity, Triangulation,
};
pub use shot::{Aim, Shot};
pub(crate) use shot::{Column, Firing, Laser};
pub use shots::Shots;
pub(crate) use turn::{LaserLanes, Level, SinCosLanes, TurnedShots};

use etendue_physics::beam::BeamWidth;

/// A scanning lidar.
#[derive(Clone, Debug, PartialEq)]
pub struct Scanner {
    /// Its name, as the user types it.
    pub name: String,
    /// The document that its numbers come from.
    pub source: String,
    /// Wavelength, m.
    pub wavelength: f64,
    /// Its lasers.
    pub channels: Vec<Channel>,
    /// How they move.
    pub pattern: ScanPattern,
    /// Its beams.
    pub beam: BeamWidth,
    /// Rings of sub-rays that sample each beam; none is the axis alone.
    pub sub_ray_rings: u32,
    /// What becomes of the light.
    pub receiver: Receiver,
    /// What ranges it reports.
    pub limits: RangeLimits,
    /// What intensity it reports.
    pub intensity: Intensity,
}
