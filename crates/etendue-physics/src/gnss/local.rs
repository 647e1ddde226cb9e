//! The local tangent frame.

use super::Geodetic;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// Local tangent frame at a point of the Earth: x east, y north, z up (REP 103). World coordinates
/// refer to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalFrame {
    origin: Geodetic,
    ecef_from_local: Isometry3<f64>,
}

impl LocalFrame {
    /// Tangent frame at `origin`.
    pub fn new(origin: Geodetic) -> Self {
        let (sin_latitude, cos_latitude) = origin.latitude.sin_cos();
        let (sin_longitude, cos_longitude) = origin.longitude.sin_cos();
        let east = Vector3::new(-sin_longitude, cos_longitude, 0.0);
        let up = Vector3::new(
            cos_latitude * cos_longitude,
            cos_latitude * sin_longitude,
            sin_latitude,
        );
        let axes = Matrix3::from_columns(&[east, up.cross(&east), up]);
        let rotation = Rotation3::from_matrix_unchecked(axes);
        Self {
            origin,
            ecef_from_local: Isometry3::from_parts(
                Translation3::from(origin.to_ecef().coords),
                UnitQuaternion::from_rotation_matrix(&rotation),
            ),
        }
    }

    /// Point of the Earth at the origin of the frame.
    pub fn origin(&self) -> Geodetic {
        self.origin
    }

    /// Geodetic position of a point of the frame (m).
    ///
    /// ```
    /// use etendue_physics::gnss::{Geodetic, LocalFrame};
    /// use nalgebra::Point3;
    /// let frame = LocalFrame::new(Geodetic::from_degrees(43.0, -89.4, 260.0));
    /// let north = frame.geodetic(&Point3::new(0.0, 1000.0, 0.0));
    /// assert!(north.latitude.to_degrees() > 43.008);
    /// // The Earth falls away from the plane: 1 km out, 7.8 cm below.
    /// assert!((north.height - 260.078).abs() < 1e-3);
    /// assert!((frame.local(&north) - Point3::new(0.0, 1000.0, 0.0)).norm() < 1e-8);
    /// ```
    pub fn geodetic(&self, point_in_local: &Point3<f64>) -> Geodetic {
        Geodetic::from_ecef(&(self.ecef_from_local * point_in_local))
    }

    /// Point of the frame at a geodetic position, m.
    pub fn local(&self, place: &Geodetic) -> Point3<f64> {
        self.ecef_from_local
            .inverse_transform_point(&place.to_ecef())
    }

    /// Point of the frame at an earth-centred, earth-fixed position (m), m.
    pub fn local_of_ecef(&self, position: &Point3<f64>) -> Point3<f64> {
        self.ecef_from_local.inverse_transform_point(position)
    }

    /// Rotates a vector of the earth-centred, earth-fixed frame into this frame.
    pub fn turned_from_ecef(&self, vector: &Vector3<f64>) -> Vector3<f64> {
        self.ecef_from_local.inverse_transform_vector(vector)
    }
}
