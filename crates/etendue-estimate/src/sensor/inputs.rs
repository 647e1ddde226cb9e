//! Differentiable parameters of the lidar of a fit model.

use super::noiseless::NoiselessLidar;
use etendue_physics::Scalar;
use etendue_sensors::lidar::{Lidar, Shot};
use std::ops::Range;
use std::sync::Arc;

/// Group of beams that share an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamGroup {
    /// One beam of a scan, by index.
    Beam(usize),
    /// All beams of a channel, by index.
    Channel(usize),
}

/// Parameters of a lidar, in a scalar that may carry derivatives.
pub(crate) struct LidarInputs<S> {
    /// Lidar.
    pub lidar: Lidar<S>,
    /// Shots of a scan.
    pub shots: Arc<Vec<Shot>>,
    /// Range offset of each shot, m; empty without offsets.
    pub range_offsets: Vec<f64>,
}

impl BeamGroup {
    /// Indices of the beams of the group among the shots of a scan.
    pub(crate) fn beams(self, shots: &[Shot]) -> impl Iterator<Item = usize> {
        self.span(shots.len())
            .filter(move |&beam| self.contains(&shots[beam]))
    }

    /// Range of beam indices that includes the group.
    fn span(self, count: usize) -> Range<usize> {
        match self {
            Self::Beam(beam) => beam..count.min(beam + 1),
            Self::Channel(_) => 0..count,
        }
    }

    /// Whether a shot within the span belongs to the group.
    fn contains(self, shot: &Shot) -> bool {
        match self {
            Self::Beam(_) => true,
            Self::Channel(channel) => usize::from(shot.channel) == channel,
        }
    }
}

impl<S: Scalar> LidarInputs<S> {
    /// Parameters of a lidar, with zero derivatives.
    pub fn new(sensor: &NoiselessLidar) -> Self {
        Self {
            lidar: sensor.lidar().map(S::from),
            shots: Arc::clone(sensor.shared_shots()),
            range_offsets: Vec::new(),
        }
    }

    /// Rotates the beams of a group by an azimuth and an elevation, rad.
    pub fn rotate(&mut self, group: BeamGroup, azimuth: f64, elevation: f64) {
        let span = group.span(self.shots.len());
        for shot in &mut Arc::make_mut(&mut self.shots)[span] {
            if group.contains(shot) {
                *shot = shot.rotated(azimuth, elevation);
            }
        }
    }

    /// Adds an offset to the ranges of a group of beams, m.
    pub fn offset_ranges(&mut self, group: BeamGroup, offset: f64) {
        self.range_offsets.resize(self.shots.len(), 0.0);
        for beam in group.beams(&self.shots) {
            self.range_offsets[beam] += offset;
        }
    }
}
