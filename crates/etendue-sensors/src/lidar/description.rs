//! The description of a lidar.

use super::{Channel, Intensity, RangeLimits, Receiver, ScanPattern};
use etendue_physics::beam::BeamWidth;

/// A scanning lidar.
#[derive(Clone, Debug, PartialEq)]
pub struct Lidar {
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
