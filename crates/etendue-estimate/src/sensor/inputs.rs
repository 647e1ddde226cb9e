//! Differentiable parameters of the lidar of a fit model.

use super::noiseless::NoiselessLidar;
use etendue_physics::Scalar;
use etendue_sensors::lidar::{Lidar, Shot};
use std::ops::Range;
use std::sync::Arc;

/// Group of beams that share an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub shots: Arc<Vec<Shot>>,
    /// Number of each shot in the complete scan, ascending.
    numbers: Arc<Vec<usize>>,
    /// Range offset of each shot, m; empty without offsets.
    pub range_offsets: Vec<f64>,
}

impl BeamGroup {
    /// Indices of the beams of the group among the shots of a scan.
    ///
    /// `numbers` are the numbers of the shots in the complete scan.
    fn indices(self, shots: &[Shot], numbers: &[usize]) -> impl Iterator<Item = usize> {
        self.span(numbers)
            .filter(move |&index| self.contains(&shots[index]))
    }

    /// Range of indices that includes the group, among shots with ascending numbers in the complete scan.
    fn span(self, numbers: &[usize]) -> Range<usize> {
        match self {
            Self::Beam(beam) => match numbers.binary_search(&beam) {
                Ok(index) => index..index + 1,
                Err(_) => 0..0,
            },
            Self::Channel(_) => 0..numbers.len(),
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
            numbers: Arc::clone(sensor.numbers()),
            range_offsets: Vec::new(),
        }
    }

    /// Indices of the beams of a group among the shots.
    pub fn beams_of(&self, group: BeamGroup) -> impl Iterator<Item = usize> {
        group.indices(&self.shots, &self.numbers)
    }

    /// Rotates the beams of a group by an azimuth and an elevation, rad.
    pub fn rotate(&mut self, group: BeamGroup, azimuth: f64, elevation: f64) {
        let span = group.span(&self.numbers);
        for shot in &mut Arc::make_mut(&mut self.shots)[span] {
            if group.contains(shot) {
                *shot = shot.rotated(azimuth, elevation);
            }
        }
    }

    /// Adds an offset to the ranges of a group of beams, m.
    pub fn offset_ranges(&mut self, group: BeamGroup, offset: f64) {
        self.range_offsets.resize(self.shots.len(), 0.0);
        for beam in group.indices(&self.shots, &self.numbers) {
            self.range_offsets[beam] += offset;
        }
    }
}
