//! Sensors without noise, at rest during a scan.

use etendue_physics::beam::{BeamFrame, SubRayPattern};
use etendue_physics::phase::Noise;
use etendue_sensors::cw::CwLidar;
use etendue_sensors::lidar::PhaseMethod;
use etendue_sensors::lidar::{Lidar, Receiver, Shot};
use nalgebra::Point3;
use std::sync::Arc;

/// A sensor without noise, at rest during a scan.
#[derive(Clone, Debug)]
pub enum Sensor {
    /// Continuous wave: one range per beam.
    ContinuousWave(CwLidar<f64>),
    /// Scanner: range and intensity of the first return of every shot.
    Scanner(ScannerSensor),
}

/// A scanner with the shots of its first sweep.
#[derive(Clone, Debug)]
pub struct ScannerSensor {
    scanner: Lidar,
    shots: Arc<Vec<Shot>>,
}

/// Direction and exit point of a beam in the sensor frame.
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
    /// The point at a range (m) along the beam, in the sensor frame.
    pub fn point(&self, range: f64) -> Point3<f64> {
        self.origin + BeamFrame::new(self.azimuth, self.elevation).axis * range
    }
}

impl ScannerSensor {
    /// A scanner without noise.
    pub fn new(scanner: &Lidar) -> Self {
        Self {
            shots: Arc::new(scanner.shots(0)),
            scanner: scanner.clone(),
        }
    }

    /// Horizontal and vertical full angle of divergence, rad.
    pub(crate) fn divergence(&self) -> [f64; 2] {
        let divergence = self.scanner.beam.width().divergence;
        [divergence.horizontal, divergence.vertical]
    }

    /// Whether the receiver times echoes of pulses.
    pub(crate) fn is_pulsed(&self) -> bool {
        matches!(self.scanner.receiver, Receiver::Pulsed(_))
    }

    /// The scanner.
    pub fn scanner(&self) -> &Lidar {
        &self.scanner
    }

    /// The shots of a scan, in the order of its measurements.
    pub fn shots(&self) -> &[Shot] {
        &self.shots
    }

    pub(crate) fn shared_shots(&self) -> &Arc<Vec<Shot>> {
        &self.shots
    }
}

impl Sensor {
    /// Wavelength, m.
    pub(crate) fn wavelength(&self) -> f64 {
        match self {
            Self::ContinuousWave(lidar) => lidar.wavelength,
            Self::Scanner(own) => own.scanner.wavelength,
        }
    }

    /// Number of quantities that a beam measures: 1 for the range, 2 for range and intensity.
    pub fn kinds(&self) -> usize {
        match self {
            Self::ContinuousWave(_) => 1,
            Self::Scanner(_) => 2,
        }
    }

    /// Number of beams of a scan.
    pub fn beams(&self) -> usize {
        match self {
            Self::ContinuousWave(lidar) => lidar.beams.len(),
            Self::Scanner(own) => own.shots.len(),
        }
    }

    /// Direction of a beam.
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

    /// Number of lines that have offsets of their own: beams of a continuous-wave lidar, channels of
    /// a scanner.
    pub(crate) fn lines(&self) -> usize {
        match self {
            Self::ContinuousWave(lidar) => lidar.beams.len(),
            Self::Scanner(own) => own.scanner.channels.len(),
        }
    }

    /// The line of a beam.
    pub(crate) fn line(&self, beam: usize) -> usize {
        match self {
            Self::ContinuousWave(_) => beam,
            Self::Scanner(own) => usize::from(own.shots[beam].channel),
        }
    }

    /// Name of the lines in parameter paths.
    pub(crate) fn lines_name(&self) -> &'static str {
        match self {
            Self::ContinuousWave(_) => "beams",
            Self::Scanner(_) => "channels",
        }
    }

    /// The sensor with every `every`-th beam and one ray per beam.
    #[must_use]
    pub(crate) fn thinned(&self, every: usize) -> Self {
        match self {
            Self::ContinuousWave(lidar) => {
                let mut thinned = lidar.clone();
                thinned.beams = lidar.beams.iter().copied().step_by(every.max(1)).collect();
                thinned.pattern = SubRayPattern::Centre;
                Self::ContinuousWave(thinned)
            }
            Self::Scanner(own) => {
                let mut thinned = own.clone();
                let shots = own.shots.iter().copied();
                thinned.shots = Arc::new(shots.step_by(every.max(1)).collect());
                thinned.scanner.beam = own.scanner.beam.with_one_ray();
                Self::Scanner(thinned)
            }
        }
    }

    /// The sensor with the divergence of its beams multiplied by `factor`.
    #[must_use]
    pub(crate) fn widened(mut self, factor: f64) -> Self {
        match &mut self {
            Self::ContinuousWave(lidar) => lidar.half_tangent *= factor,
            Self::Scanner(own) => own.scanner.beam = own.scanner.beam.widened(factor),
        }
        self
    }
}

impl From<&CwLidar<f64>> for Sensor {
    /// The lidar without noise, azimuth jitter and rounding.
    fn from(lidar: &CwLidar<f64>) -> Self {
        let mut noiseless = lidar.clone();
        noiseless.azimuth_jitter = 0.0;
        noiseless.resolution = None;
        noiseless.receiver.noise = Noise::default();
        noiseless.receiver.method = PhaseMethod::ClosedForm;
        noiseless.receiver.converter_bits = None;
        Self::ContinuousWave(noiseless)
    }
}
