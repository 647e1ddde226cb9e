//! Skew rays of a beam and their coordinates.

use etendue_physics::Scalar;
use etendue_sensors::lidar::{Beam, BeamProfile};

/// Bundle of the skew rays of a beam, parametrised by two coordinates in the cross-section.
///
/// The unit of the coordinates is the standard deviation of an elliptic beam
/// ([`BeamRay::place`](etendue_physics::beam::BeamRay)) or the radius of a conical one.
#[derive(Clone, Copy)]
pub(super) struct RayBundle<S> {
    /// Horizontal and vertical slopes of the rays at coordinate 1.
    pub slope: [S; 2],
    /// Horizontal and vertical offsets at the exit of the rays at coordinate 1, m.
    pub exit: [f64; 2],
}

impl<S: Scalar> RayBundle<S> {
    /// Bundle of a beam.
    pub fn of_beam(beam: &Beam<S>) -> Self {
        match beam.profile {
            BeamProfile::Elliptic { width, .. } => Self {
                slope: width.divergence.sd(),
                exit: width.exit.sd(),
            },
            BeamProfile::Cone { half_tangent, .. } => Self {
                slope: [half_tangent; 2],
                exit: [0.0; 2],
            },
        }
    }

    /// Coordinates of the ray through a point given by its distances left, up and along the axis, m.
    pub fn coordinates(&self, [left, up, along]: [S; 3]) -> [S; 2] {
        let [horizontal, vertical] = self.slope.map(|slope| slope * along);
        let [exit_horizontal, exit_vertical] = self.exit;
        let area = horizontal * vertical + exit_horizontal * exit_vertical;
        [
            (vertical * left + up * exit_horizontal) / area,
            (horizontal * up - left * exit_vertical) / area,
        ]
    }

    /// Offset at the exit (m) and slope of the ray with given coordinates, each to the left and
    /// upwards.
    pub fn ray(&self, [horizontal, vertical]: [S; 2]) -> [[S; 2]; 2] {
        let offset = [-(vertical * self.exit[0]), horizontal * self.exit[1]];
        let slope = [horizontal * self.slope[0], vertical * self.slope[1]];
        [offset, slope]
    }

    /// The bundle without derivatives.
    pub fn values(&self) -> RayBundle<f64> {
        RayBundle {
            slope: self.slope.map(Scalar::value),
            exit: self.exit,
        }
    }
}
