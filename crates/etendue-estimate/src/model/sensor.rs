//! The sensor of a model.

use super::without_noise;
use etendue_physics::Scalar;
use etendue_physics::beam::{BeamFrame, BeamWidth, SubRayPattern};
use etendue_physics::phase::Bias;
use etendue_sensors::RangeReading;
use etendue_sensors::cw::{CwLidar, Shot as CwShot};
use etendue_sensors::lidar::{Lidar, Receiver, Shot};
use etendue_sensors::lidar::{MeanReceiver, MeanShot};
use nalgebra::Point3;
use std::sync::Arc;

/// A sensor without its noise, at rest during a scan.
#[derive(Clone, Debug)]
pub enum Sensor {
    /// Continuous wave: one range a beam.
    ContinuousWave(CwLidar<f64>),
    /// A scanner: range and intensity of each shot's first point.
    Scanner(ScannerSensor),
}

/// A scanner with the shots of its first sweep.
#[derive(Clone, Debug)]
pub struct ScannerSensor {
    pub(super) scanner: Lidar,
    pub(super) shots: Arc<Vec<Shot>>,
}

/// Where a beam goes, in the sensor's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction {
    /// Azimuth, rad.
    pub azimuth: f64,
    /// Elevation, rad.
    pub elevation: f64,
    /// Where it leaves from, m.
    pub origin: Point3<f64>,
}

/// What one beam measured, or is predicted to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured<S = f64> {
    range: Option<S>,
    intensity: Option<S>,
}

/// What of a scanner a setting holds: its receiver, its beam with the rings of rays that sample it,
/// its divergences over its own, where its shots go, and what is added to the ranges of each channel, m.
pub(crate) struct ScannerSetting<S> {
    pub receiver: MeanReceiver<S>,
    pub beam: BeamWidth,
    pub rings: u32,
    pub widening: Option<[S; 2]>,
    pub shots: Arc<Vec<Shot>>,
    pub range_offsets: Vec<f64>,
}

/// A sensor in `S`.
pub(crate) enum SensorSetting<S> {
    ContinuousWave(CwLidar<S>),
    Scanner(ScannerSetting<S>),
}

impl Direction {
    /// The point at a range (m) along it, in the sensor's frame.
    pub fn point(&self, range: f64) -> Point3<f64> {
        self.origin + BeamFrame::new(self.azimuth, self.elevation).axis * range
    }
}

impl<S: Copy> Measured<S> {
    /// A range (m) and an intensity (counts), as far as there are.
    pub fn new(range: Option<S>, intensity: Option<S>) -> Self {
        Self { range, intensity }
    }

    /// The range, m, if there is one.
    pub fn range(&self) -> Option<S> {
        self.range
    }

    /// The intensity in counts, if there is one.
    pub fn intensity(&self) -> Option<S> {
        self.intensity
    }

    /// Its first `kinds` quantities.
    pub(crate) fn quantities(&self, kinds: usize) -> impl Iterator<Item = Option<S>> {
        [self.range, self.intensity].into_iter().take(kinds)
    }
}

impl From<RangeReading> for Measured {
    fn from(reading: RangeReading) -> Self {
        Self::new(reading.range(), None)
    }
}

impl<S: Scalar> From<&CwShot<S>> for Measured<S> {
    fn from(shot: &CwShot<S>) -> Self {
        Self::new(shot.range(), None)
    }
}

impl<S: Scalar> From<&Option<MeanShot<S>>> for Measured<S> {
    fn from(shot: &Option<MeanShot<S>>) -> Self {
        let of = |part: fn(&MeanShot<S>) -> S| shot.as_ref().map(part);
        Self::new(of(|shot| shot.range), of(|shot| shot.intensity))
    }
}

impl ScannerSensor {
    /// A scanner without its noise.
    pub fn new(scanner: &Lidar) -> Self {
        Self {
            shots: Arc::new(scanner.shots(0)),
            scanner: scanner.clone(),
        }
    }

    /// Full angles of divergence, horizontal and vertical, as the beam states them, rad.
    pub(super) fn widths(&self) -> [f64; 2] {
        let divergence = self.scanner.beam.width().divergence;
        [divergence.horizontal, divergence.vertical]
    }

    /// Whether echoes of pulses are timed.
    pub(super) fn is_pulsed(&self) -> bool {
        matches!(self.scanner.receiver, Receiver::Pulsed(_))
    }

    /// The scanner.
    pub fn scanner(&self) -> &Lidar {
        &self.scanner
    }

    /// The shots of a scan, in the order of what they measure.
    pub fn shots(&self) -> &[Shot] {
        &self.shots
    }
}

impl Sensor {
    pub(super) fn wavelength(&self) -> f64 {
        match self {
            Self::ContinuousWave(lidar) => lidar.wavelength,
            Self::Scanner(own) => own.scanner.wavelength,
        }
    }

    /// How many quantities a beam measures: its range, and for scanners its intensity.
    pub fn kinds(&self) -> usize {
        match self {
            Self::ContinuousWave(_) => 1,
            Self::Scanner(_) => 2,
        }
    }

    /// How many beams a scan has.
    pub fn beams(&self) -> usize {
        match self {
            Self::ContinuousWave(lidar) => lidar.beams.len(),
            Self::Scanner(own) => own.shots.len(),
        }
    }

    /// Where a beam goes.
    pub fn direction(&self, beam: usize) -> Direction {
        match self {
            Self::ContinuousWave(lidar) => Direction {
                azimuth: lidar.beams[beam].azimuth,
                elevation: lidar.beams[beam].elevation,
                origin: Point3::origin(),
            },
            Self::Scanner(own) => Direction {
                azimuth: own.shots[beam].azimuth,
                elevation: own.shots[beam].elevation,
                origin: own.shots[beam].origin,
            },
        }
    }

    /// How many lines there are that have offsets of their own: beams, or the channels of a
    /// scanner.
    pub(super) fn lines(&self) -> usize {
        match self {
            Self::ContinuousWave(lidar) => lidar.beams.len(),
            Self::Scanner(own) => own.scanner.channels.len(),
        }
    }

    /// Which of them a beam belongs to.
    pub(super) fn line(&self, beam: usize) -> usize {
        match self {
            Self::ContinuousWave(_) => beam,
            Self::Scanner(own) => usize::from(own.shots[beam].channel),
        }
    }

    /// What paths call them.
    pub(super) fn lines_name(&self) -> &'static str {
        match self {
            Self::ContinuousWave(_) => "beams",
            Self::Scanner(_) => "channels",
        }
    }

    /// Every `every`-th beam alone, one ray a beam.
    #[must_use]
    pub(super) fn thinned(&self, every: usize) -> Self {
        match self {
            Self::ContinuousWave(lidar) => {
                let mut thin = lidar.clone();
                thin.beams = lidar.beams.iter().copied().step_by(every.max(1)).collect();
                thin.pattern = SubRayPattern::Centre;
                Self::ContinuousWave(thin)
            }
            Self::Scanner(own) => {
                let mut thin = own.clone();
                let shots = own.shots.iter().copied();
                thin.shots = Arc::new(shots.step_by(every.max(1)).collect());
                thin.scanner.beam = thin.scanner.beam.with_rings(0);
                Self::Scanner(thin)
            }
        }
    }

    /// Beams `factor` times as wide.
    #[must_use]
    pub(super) fn widened(mut self, factor: f64) -> Self {
        match &mut self {
            Self::ContinuousWave(lidar) => lidar.half_tangent *= factor,
            Self::Scanner(own) => {
                if let Some(width) = own.scanner.beam.width_mut() {
                    width.divergence.horizontal *= factor;
                    width.divergence.vertical *= factor;
                }
            }
        }
        self
    }

    pub(super) fn lifted<S: Scalar>(&self) -> SensorSetting<S> {
        match self {
            Self::ContinuousWave(lidar) => SensorSetting::ContinuousWave(lidar.map(S::from)),
            Self::Scanner(own) => SensorSetting::Scanner(ScannerSetting {
                receiver: MeanReceiver::of(&own.scanner.receiver)
                    .expect("a scanner's receiver is not a phase receiver"),
                beam: own.scanner.beam.width(),
                rings: own.scanner.beam.rings(),
                widening: None,
                shots: Arc::clone(&own.shots),
                range_offsets: vec![0.0; own.scanner.channels.len()],
            }),
        }
    }
}

impl From<&CwLidar<f64>> for Sensor {
    /// Noise, jitter and rounding are left out.
    fn from(lidar: &CwLidar<f64>) -> Self {
        Self::ContinuousWave(without_noise(lidar))
    }
}

impl<S: Scalar> SensorSetting<S> {
    /// Its bias, if it has one.
    pub(super) fn bias(&mut self) -> Option<&mut Bias<S>> {
        match self {
            Self::ContinuousWave(lidar) => Some(&mut lidar.receiver.bias),
            Self::Scanner(_) => None,
        }
    }

    /// Turns the beams of a line by an azimuth and an elevation, rad.
    pub(super) fn turn(&mut self, line: usize, azimuth: f64, elevation: f64) {
        match self {
            Self::ContinuousWave(lidar) => {
                lidar.beams[line].azimuth += azimuth;
                lidar.beams[line].elevation += elevation;
            }
            Self::Scanner(setting) => {
                let own = |shot: &&mut Shot| usize::from(shot.channel) == line;
                for shot in Arc::make_mut(&mut setting.shots).iter_mut().filter(own) {
                    shot.azimuth += azimuth;
                    shot.elevation += elevation;
                }
            }
        }
    }
}
