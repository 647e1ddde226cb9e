//! What a simulated sensor reports, with the truth behind it.

use etendue_scene::{MaterialId, ObjectId};
use nalgebra::{Isometry3, Point3};

/// What a device says of one beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeReading {
    /// A range, m.
    Range(f64),
    /// Nothing came back, or it came from beyond the device's range (REP 117: +inf).
    NoReturn,
    /// Something nearer than the device can measure (REP 117: -inf).
    TooNear,
    /// The device's own error code (REP 117: NaN).
    Error(u8),
}

impl RangeReading {
    /// The range, m, if there is one.
    pub fn range(self) -> Option<f64> {
        match self {
            Self::Range(range) => Some(range),
            _ => None,
        }
    }

    /// The range as ROS users expect it (REP 117): +inf for no return, -inf for too near, NaN for
    /// an error.
    pub fn rep117(self) -> f64 {
        match self {
            Self::Range(range) => range,
            Self::NoReturn => f64::INFINITY,
            Self::TooNear => f64::NEG_INFINITY,
            Self::Error(_) => f64::NAN,
        }
    }
}

/// What really stood in a beam's way: known in simulation only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Distance from the sensor to the first surface on the beam's axis, m.
    pub range: f64,
    /// The object there.
    pub object: ObjectId,
    /// Its material there.
    pub material: MaterialId,
    /// Incidence: angle between the beam and the surface's normal, rad, in [0, pi/2].
    pub incidence: f64,
}

/// One beam's measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Number of the beam in its sweep.
    pub beam: u32,
    /// When it was fired, s from the start of the run.
    pub time: f64,
    /// Azimuth in the sensor's frame, anticlockwise from x, rad.
    pub azimuth: f64,
    /// Elevation above the sensor's x-y plane, rad.
    pub elevation: f64,
    /// What the device reports.
    pub reading: RangeReading,
    /// Received power, relative to the transmitted power times the receiver's aperture
    /// (1/m^2 sr: the sum over returns of weight x throughput^2 x BRDF x cos / R^2).
    pub power: f64,
    /// How many separate surfaces sent light back: ranges that differ by more than 1 cm and by more
    /// than one slanted plane explains across the beam.
    pub returns: u16,
    /// The truth on the beam's axis; none where the axis meets nothing.
    pub truth: Option<Truth>,
}

impl Measurement {
    /// The measured point in the sensor's frame, m, if there is a range.
    pub fn point(&self) -> Option<Point3<f64>> {
        let range = self.reading.range()?;
        let (sin_azimuth, cos_azimuth) = self.azimuth.sin_cos();
        let (sin_elevation, cos_elevation) = self.elevation.sin_cos();
        Some(Point3::new(
            range * cos_elevation * cos_azimuth,
            range * cos_elevation * sin_azimuth,
            range * sin_elevation,
        ))
    }

    /// Whether light of more than one surface was mixed into this measurement.
    pub fn is_mixed(&self) -> bool {
        self.returns > 1
    }
}

/// One turn of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarSweep {
    /// Number of the sweep in its run.
    pub index: u32,
    /// When it began, s from the start of the run.
    pub start: f64,
    /// Pose of the sensor when it began.
    pub world_from_sensor: Isometry3<f64>,
    /// One measurement a beam, in firing order.
    pub measurements: Vec<Measurement>,
}
