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
    /// Shots of each sweep that scans are of.
    pub sweeps: Vec<SweepInputs>,
    /// Place in `sweeps` of the sweep of each scan.
    sweep_of_scan: Vec<usize>,
}

/// Shots of a sweep, with offsets.
pub(crate) struct SweepInputs {
    /// Shots, rotated by the offsets of their beams.
    pub shots: Arc<ShotList>,
    /// Step between the numbers, in the complete scan, of successive shots.
    stride: usize,
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
    pub fn new(lidar: &Lidar, sweeps: &[NoiselessLidar], sweep_of_scan: &[usize]) -> Self {
        let of_sweep = |sweep: &NoiselessLidar| SweepInputs {
            shots: Arc::clone(sweep.shared_shots()),
            stride: sweep.stride(),
            range_offsets: Vec::new(),
        };
        Self {
            lidar: lidar.map(S::from),
            sweeps: sweeps.iter().map(of_sweep).collect(),
            sweep_of_scan: sweep_of_scan.to_vec(),
        }
    }

    /// Shots of a scan, by index.
    pub fn sweep_of(&self, scan: usize) -> &SweepInputs {
        &self.sweeps[self.sweep_of_scan[scan]]
    }
}

impl SweepInputs {
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
