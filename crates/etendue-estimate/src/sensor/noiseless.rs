//! Noise-free lidar at rest during a scan.

use etendue_physics::beam::BeamFrame;
use etendue_sensors::lidar::{Lidar, Shot, ShotList};
use nalgebra::Point3;
use std::sync::Arc;

/// Noise-free lidar at rest during a scan, with the shots of one sweep, by default the first.
#[derive(Clone, Debug)]
pub struct NoiselessLidar {
    lidar: Lidar,
    shots: Arc<ShotList>,
    /// Step between the numbers, in the complete scan, of successive shots: 1 unless thinned.
    stride: usize,
    /// Number of beams of the complete scan.
    complete_beams: usize,
}

/// Direction and exit point of a beam, in the sensor frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// Azimuth, rad.
    pub azimuth: f64,
    /// Elevation, rad.
    pub elevation: f64,
    /// Exit point of the beam, m.
    pub origin: Point3<f64>,
}

impl Direction {
    /// Point at a range (m) along the beam, in the sensor frame.
    pub fn point(&self, range: f64) -> Point3<f64> {
        self.origin + BeamFrame::new(self.azimuth, self.elevation).axis * range
    }
}

impl NoiselessLidar {
    /// Noise-free model of a lidar, with the shots of its first sweep.
    pub fn new(lidar: &Lidar) -> Self {
        Self::of_sweep(lidar, 0)
    }

    /// Noise-free model of a lidar, with the shots of the sweep with an index. Patterns may not repeat; where a turn is no
    /// whole number of firings, the shots of one sweep are between those of another.
    pub fn of_sweep(lidar: &Lidar, sweep: u32) -> Self {
        let shots = lidar.shots(sweep);
        Self {
            lidar: lidar.clone(),
            stride: 1,
            complete_beams: shots.len(),
            shots: Arc::new(shots.into()),
        }
    }

    /// The lidar.
    pub fn lidar(&self) -> &Lidar {
        &self.lidar
    }

    /// Shots of a scan, in the order of the measurements.
    pub fn shots(&self) -> &[Shot] {
        &self.shots
    }

    /// Shots of a scan, shared.
    pub(crate) fn shared_shots(&self) -> &Arc<ShotList> {
        &self.shots
    }

    /// Number of beams (shots) of a scan.
    pub fn beams(&self) -> usize {
        self.shots.len()
    }

    /// Step between the numbers, in the complete scan, of successive shots.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Number of beams of the complete scan, which the numbers of [`BeamGroup`](super::BeamGroup)
    /// refer to.
    pub(crate) fn complete_beams(&self) -> usize {
        self.complete_beams
    }

    /// Direction and exit point of a beam, by index.
    pub fn direction(&self, beam: usize) -> Direction {
        let shot = &self.shots[beam];
        Direction {
            azimuth: shot.azimuth,
            elevation: shot.elevation,
            origin: shot.origin,
        }
    }

    /// Whether all beams have the same elevation (planar scanner).
    pub(crate) fn is_planar(&self) -> bool {
        let first = self.shots.first().map(|shot| shot.elevation);
        self.shots.iter().all(|shot| Some(shot.elevation) == first)
    }

    /// The lidar with every `every`-th beam and one ray per beam.
    ///
    /// Beams keep their numbers of the complete scan.
    #[must_use]
    pub(crate) fn thinned(&self, every: usize) -> Self {
        let every = every.max(1);
        let shots = self.shots.iter().copied().step_by(every);
        let mut lidar = self.lidar.clone();
        lidar.beam = lidar.beam.with_one_ray();
        Self {
            lidar,
            shots: Arc::new(shots.collect::<Vec<_>>().into()),
            stride: self.stride * every,
            complete_beams: self.complete_beams,
        }
    }

    /// The lidar with the given beams, each turned by an azimuth (rad). The beams are numbered anew.
    #[must_use]
    pub(crate) fn turned_beams(&self, beams: &[(usize, f64)]) -> Self {
        let turned = |(beam, azimuth): &(usize, f64)| self.shots[*beam].rotated(*azimuth, 0.0);
        let shots: Vec<Shot> = beams.iter().map(turned).collect();
        Self {
            lidar: self.lidar.clone(),
            stride: 1,
            complete_beams: shots.len(),
            shots: Arc::new(shots.into()),
        }
    }

    /// The lidar with the divergence of its beams multiplied by `factor`.
    #[must_use]
    pub(crate) fn widened(mut self, factor: f64) -> Self {
        self.lidar.beam = self.lidar.beam.widened(factor);
        self
    }
}
