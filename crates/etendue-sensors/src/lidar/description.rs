//! The description of a lidar.

use super::beam::Beam;
use super::channel::Channel;
use super::intensity::Intensity;
use super::pattern::ScanPattern;
use super::range_limits::RangeLimits;
use super::receiver::Receiver;

/// A lidar: an immutable value that many runs share.
///
/// `S` is the scalar of the differentiable numbers (divergence and receiver): `f64` simulates, a
/// dual number also gives derivatives ([`Lidar::map`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Lidar<S = f64> {
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
    /// The beam of every laser.
    pub beam: Beam<S>,
    /// What measures the received light.
    pub receiver: Receiver<S>,
    /// Limits and step of the reported ranges.
    pub limits: RangeLimits,
    /// Scale of the reported intensity.
    pub intensity: Intensity,
}

impl Lidar {
    /// The same lidar in another scalar, every differentiable number replaced by `f` of it.
    ///
    /// To differentiate by the divergence, map everything with `Dual::from` and set the divergence of
    /// the beam to a variable.
    pub fn map<S>(&self, mut f: impl FnMut(f64) -> S) -> Lidar<S> {
        Lidar {
            name: self.name.clone(),
            source: self.source.clone(),
            wavelength: self.wavelength,
            channels: self.channels.clone(),
            pattern: self.pattern.clone(),
            beam: self.beam.map(&mut f),
            receiver: self.receiver.map(f),
            limits: self.limits,
            intensity: self.intensity,
        }
    }
}
