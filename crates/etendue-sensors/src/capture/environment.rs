//! Location, time, weather and light of a run.

use crate::lidar::Air;
use crate::noise_profiles::NoiseProfiles;
use etendue_physics::ambient::{StandardAir, dipole_field};
use etendue_physics::gnss::{Geodetic, LocalFrame, normal_gravity};
use etendue_scene::Textures;
use etendue_scene::lighting::Lighting;
use nalgebra::{Point3, Vector3};

/// Location on the Earth, time, weather and light of a run. The world's frame is the local tangent
/// frame: x east, y north, z up.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Pose of the world's frame on the Earth.
    pub frame: LocalFrame,
    /// Gravity in the world, m/s².
    pub gravity: Vector3<f64>,
    /// The Earth's magnetic field in the world, T.
    pub magnetic_field: Vector3<f64>,
    /// Pressure and temperature.
    pub pressure: StandardAir,
    /// Weather.
    pub air: Air,
    /// Start of the run, Unix time, s.
    pub start: f64,
    /// Light sources of the scene, for cameras.
    pub lighting: Lighting,
    /// Textures of the objects, for cameras.
    pub textures: Textures,
    /// Noise profiles of the materials, for lidars.
    pub profiles: NoiseProfiles,
}

impl Environment {
    /// Environment of a location and a time, with normal gravity, the Earth's dipole field, the standard
    /// atmosphere and clear air.
    pub fn at(origin: Geodetic, start: f64) -> Self {
        Self {
            frame: LocalFrame::new(origin),
            gravity: Vector3::z() * -normal_gravity(&origin),
            magnetic_field: dipole_field(&origin),
            pressure: StandardAir::default(),
            air: Air::default(),
            start,
            lighting: Lighting::default(),
            textures: Textures::default(),
            profiles: NoiseProfiles::default(),
        }
    }

    /// Air pressure at a point of the world, Pa, at its height above the ellipsoid.
    pub fn pressure_at(&self, point_in_world: &Point3<f64>) -> f64 {
        let height = self.frame.geodetic(point_in_world).height;
        self.pressure.pressure_at(height)
    }
}

impl Default for Environment {
    /// 43.07° N, 89.40° W (Madison, Wisconsin), at 265 m, noon of 1 June 2026 UTC.
    fn default() -> Self {
        Self::at(Geodetic::from_degrees(43.07, -89.4, 265.0), 1_780_315_200.0)
    }
}
