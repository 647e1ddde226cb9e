//! The description of a lidar.

use super::{Beam, Channel, Intensity, RangeLimits, Receiver, ScanPattern};

/// A lidar: where its beams point, what light they send, and how its receiver turns the light that
/// returns into ranges.
///
/// `S` is the type of the differentiable numbers of beam and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Lidar<S = f64> {
    /// Name, as the user types it.
    pub name: String,
    /// Documents that the numbers come from.
    pub source: String,
    /// Wavelength, m.
    pub wavelength: f64,
    /// Lasers.
    pub channels: Vec<Channel>,
    /// Motion of the beams.
    pub pattern: ScanPattern,
    /// Cross-section of each beam.
    pub beam: Beam<S>,
    /// Standard deviation of each beam's azimuth about its nominal one, rad.
    pub azimuth_jitter: f64,
    /// Receiver.
    pub receiver: Receiver<S>,
    /// Range limits and step.
    pub limits: RangeLimits,
    /// Reported intensity.
    pub intensity: Intensity,
}

impl<S: Copy> Lidar<S> {
    /// The same lidar with every differentiable number replaced by `f` of it.
    ///
    /// To differentiate by the divergence, say, map everything with `Dual::from` and set it to a
    /// variable.
    pub fn map<U>(&self, mut f: impl FnMut(S) -> U) -> Lidar<U> {
        Lidar {
            name: self.name.clone(),
            source: self.source.clone(),
            wavelength: self.wavelength,
            channels: self.channels.clone(),
            pattern: self.pattern.clone(),
            beam: self.beam.map(&mut f),
            azimuth_jitter: self.azimuth_jitter,
            receiver: self.receiver.map(f),
            limits: self.limits,
            intensity: self.intensity,
        }
    }
}
