//! Description of a lidar.

use super::beam::Beam;
use super::channel::Channel;
use super::column_times::ColumnTimes;
use super::correlated_noise::CorrelatedNoise;
use super::intensity::Intensity;
use super::pattern::ScanPattern;
use super::range_limits::RangeLimits;
use super::receiver::Receiver;

/// Description of a lidar: an immutable value that many runs share.
///
/// `S` is the scalar of the differentiable parameters (divergence and receiver): `f64` for simulation, dual
/// numbers for derivatives ([`Lidar::map`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Lidar<S = f64> {
    /// Name, as in commands.
    pub name: String,
    /// Source of the parameters, for example a data sheet.
    pub source: String,
    /// Wavelength, m.
    pub wavelength: f64,
    /// Lasers with their detectors.
    pub channels: Vec<Channel>,
    /// Motion of the beams.
    pub pattern: ScanPattern,
    /// Beam of every channel.
    pub beam: Beam<S>,
    /// Receiver of every channel.
    pub receiver: Receiver<S>,
    /// Limits and step of the reported ranges.
    pub limits: RangeLimits,
    /// Range noise that is not independent from shot to shot.
    pub noise: CorrelatedNoise,
    /// Scale of the reported intensity.
    pub intensity: Intensity,
}

impl Lidar {
    /// The same lidar in another scalar, with every differentiable parameter mapped by `f`.
    ///
    /// For derivatives with respect to the divergence, map all parameters with `Dual::from` and set the
    /// divergence of the beam to a variable.
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
            noise: self.noise,
            intensity: self.intensity,
        }
    }
}

impl Lidar {
    /// Duration of one sweep, s.
    pub fn sweep_duration(&self) -> f64 {
        self.pattern.sweep_duration()
    }

    /// Greatest number of columns of a sweep.
    pub fn columns(&self) -> u32 {
        self.pattern.columns().most(self.sweep_duration())
    }

    /// Number of columns of the sweep of an index: fewer than [`Lidar::columns`] in some sweeps of lidars whose columns
    /// follow a clock that runs on from sweep to sweep.
    pub fn columns_of_sweep(&self, sweep: u32) -> u32 {
        u32::try_from(ColumnTimes::of(self, sweep, None).count()).unwrap_or(u32::MAX)
    }
}
