//! Range readings and measurements of beams, with ground truth.

use etendue_scene::{MaterialId, ObjectId};
use nalgebra::{Isometry3, Point3};

/// Reading of a beam: a range, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeReading {
    /// A range, m.
    Range(f64),
    /// No return, or one from beyond the maximum range (REP 117: +inf).
    NoReturn,
    /// A target nearer than the minimum range (REP 117: -inf).
    TooNear,
    /// An error code of the device (REP 117: NaN).
    Error(u8),
}

impl RangeReading {
    /// The range, m; `None` without one.
    pub fn range(self) -> Option<f64> {
        match self {
            Self::Range(range) => Some(range),
            _ => None,
        }
    }

    /// The range by the ROS convention REP 117, m: +inf for no return, -inf for too near, NaN for an error.
    pub fn rep117(self) -> f64 {
        match self {
            Self::Range(range) => range,
            Self::NoReturn => f64::INFINITY,
            Self::TooNear => f64::NEG_INFINITY,
            Self::Error(_) => f64::NAN,
        }
    }
}

/// Ground truth of a beam: the first surface on its axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Range that a sensor without error reports: half the optical path to the surface plus the range offset of the channel, m.
    pub range: f64,
    /// Object of the surface.
    pub object: ObjectId,
    /// Material of the surface.
    pub material: MaterialId,
    /// Incidence angle between the beam and the normal, rad, in [0, pi/2].
    pub incidence: f64,
}

/// BeamMeasurement of one beam, with or without a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamMeasurement {
    /// Index of the beam in its sweep.
    pub beam: u32,
    /// Time of emission, s from the start of the run.
    pub time: f64,
    /// Azimuth in the sensor's frame, anticlockwise from x, rad.
    pub azimuth: f64,
    /// Elevation above the sensor's x-y plane, rad.
    pub elevation: f64,
    /// Reported range, or the reason why there is none.
    pub reading: RangeReading,
    /// Measured point, m, in the frame of the simulation ([`Frame`](crate::lidar::Frame)); `None` without a range.
    pub position: Option<Point3<f64>>,
    /// Received power per unit of transmitted power and of receiver aperture, 1/(m² sr):
    /// $\sum w \tau^2 f_r \cos\theta / R^2$ over the returns.
    pub power: f64,
    /// Number of separate surfaces that returned light: their ranges differ by more than 1 cm and by more
    /// than the slope of one plane across the beam.
    pub returns: u16,
    /// Ground truth; `None` without a surface on the axis.
    pub truth: Option<Truth>,
}

impl BeamMeasurement {
    /// Whether light of more than one surface contributes (mixed pixel).
    pub fn is_mixed(&self) -> bool {
        self.returns > 1
    }
}

/// One sweep of a lidar as a table of beams.
#[derive(Clone, Debug, PartialEq)]
pub struct BeamSweep {
    /// Index of the sweep in its run.
    pub index: u32,
    /// Start, s from the start of the run.
    pub start: f64,
    /// Pose of the sensor at the start.
    pub world_from_sensor: Isometry3<f64>,
    /// One measurement per beam, in firing order.
    pub measurements: Vec<BeamMeasurement>,
}
