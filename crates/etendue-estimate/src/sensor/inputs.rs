//! Differentiable parameters of the lidar of a fit model.

use super::noiseless::NoiselessLidar;
use etendue_physics::Scalar;
use etendue_sensors::lidar::{Lidar, Shot, ShotList};
use std::ops::Range;
use std::sync::Arc;

/// Group of beams that share an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BeamGroup {
    /// One beam, by its number in the complete scan.
    Beam(usize),
    /// All beams of a channel, by index.
    Channel(usize),
}

/// Parameters of a lidar, in a scalar that may carry derivatives.
pub(crate) struct LidarInputs<S> {
    /// Lidar.
    pub lidar: Lidar<S>,
    /// Shots of a scan.
    pub shots: Arc<ShotList>,
    /// Step between the numbers, in the complete scan, of successive shots.
    pub stride: usize,
    /// Range offset of each shot, m; empty without offsets.
    pub range_offsets: Vec<f64>,
}

impl BeamGroup {
    /// Indices of the beams of the group among the shots of a scan.
    ///
    /// `stride` is the step between the numbers, in the complete scan, of successive shots.
    fn indices(self, shots: &[Shot], stride: usize) -> impl Iterator<Item = usize> {
        self.span(shots.len(), stride)
            .filter(move |&index| self.contains(&shots[index]))
    }

    /// Range of indices among `count` shots that includes the group.
    fn span(self, count: usize, stride: usize) -> Range<usize> {
        match self {
            Self::Beam(beam) if beam.is_multiple_of(stride) && beam / stride < count => {
                beam / stride..beam / stride + 1
            }
            Self::Beam(_) => 0..0,
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
            stride: sensor.stride(),
            range_offsets: Vec::new(),
        }
    }

    /// Indices of the beams of a group among the shots.
    pub fn beams_of(&self, group: BeamGroup) -> impl Iterator<Item = usize> {
        group.indices(&self.shots, self.stride)
    }

    /// Rotates the beams of a group by an azimuth and an elevation, rad.
    pub fn rotate(&mut self, group: BeamGroup, azimuth: f64, elevation: f64) {
        let span = group.span(self.shots.len(), self.stride);
        for shot in &mut Arc::make_mut(&mut self.shots).shots_mut()[span] {
            if group.contains(shot) {
                *shot = shot.rotated(azimuth, elevation);
            }
        }
    }

    /// Adds an offset to the ranges of a group of beams, m.
    pub fn offset_ranges(&mut self, group: BeamGroup, offset: f64) {
        self.range_offsets.resize(self.shots.len(), 0.0);
        for beam in group.indices(&self.shots, self.stride) {
            self.range_offsets[beam] += offset;
        }
    }
}
