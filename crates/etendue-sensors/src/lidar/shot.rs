//! Shots: origin, direction and time of each firing of a laser.

use etendue_physics::beam::BeamFrame;
use nalgebra::{Point3, Vector3};

/// One firing of one laser: time, origin and direction of its beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// Index of the column in the sweep.
    pub column: u32,
    /// Index of the channel in the lidar.
    pub channel: u16,
    /// Firing time since the start of the run, s.
    pub time: f64,
    /// Azimuth of the beam in the sensor's frame, rad, in (-pi, pi].
    pub azimuth: f64,
    /// Elevation of the beam, rad.
    pub elevation: f64,
    /// Origin of the beam, in the sensor's frame, m.
    pub origin: Point3<f64>,
    pub(super) direction: Vector3<f64>,
}

impl Shot {
    /// Initial value of a shot before it is aimed.
    pub(crate) const UNAIMED: Self = Self {
        column: 0,
        channel: 0,
        time: 0.0,
        azimuth: 0.0,
        elevation: 0.0,
        origin: Point3::new(0.0, 0.0, 0.0),
        direction: Vector3::new(1.0, 0.0, 0.0),
    };

    /// The same shot with an angle (rad) added to its azimuth.
    pub(crate) fn turned(&self, angle: f64) -> Self {
        self.rotated(angle, 0.0)
    }

    /// The same shot with angles (rad) added to its azimuth and its elevation.
    #[must_use]
    pub fn rotated(&self, azimuth: f64, elevation: f64) -> Self {
        let azimuth = self.azimuth + azimuth;
        let elevation = self.elevation + elevation;
        Self {
            azimuth,
            elevation,
            direction: BeamFrame::new(azimuth, elevation).axis,
            ..*self
        }
    }

    /// Unit direction of the beam in the sensor's frame.
    pub fn direction(&self) -> Vector3<f64> {
        self.direction
    }

    /// Unit vectors along the beam, to its left and upwards, in the sensor's frame.
    pub fn frame(&self) -> BeamFrame {
        BeamFrame::along(&self.direction)
    }

    /// The point at `distance` (m) along the beam, in the sensor's frame.
    #[inline]
    pub fn point(&self, distance: f64) -> Point3<f64> {
        self.origin + self.direction * distance
    }
}
