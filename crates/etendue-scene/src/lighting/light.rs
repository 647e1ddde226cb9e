//! The sun and lamps.

use etendue_physics::Spectrum;
use nalgebra::{Isometry3, Point3, Vector3};

/// A light.
#[derive(Clone, Debug, PartialEq)]
pub enum Light {
    /// Light from one direction (nearly), everywhere the same.
    Sun(Sun),
    /// Light to all directions from a point.
    Point(PointLamp),
    /// Light into a cone from a point.
    Spot(SpotLamp),
    /// Light from a rectangle.
    Area(AreaLamp),
}

/// Light from a small disc infinitely far away.
#[derive(Clone, Debug, PartialEq)]
pub struct Sun {
    /// Unit vector to it, in the world.
    pub to_sun: Vector3<f64>,
    /// Irradiance on a surface that faces it, W m⁻² per m of wavelength.
    pub irradiance: Spectrum,
    /// Half of the angle that its disc is seen at, rad; 0 for hard shadows.
    pub half_angle: f64,
}

/// Light to all directions from a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointLamp {
    /// Where it is, in the world, m.
    pub position: Point3<f64>,
    /// Radiant intensity, W/sr per m of wavelength.
    pub intensity: Spectrum,
}

/// Light into a cone from a point.
#[derive(Clone, Debug, PartialEq)]
pub struct SpotLamp {
    /// Where it is, in the world, m.
    pub position: Point3<f64>,
    /// Unit vector of the cone's axis, in the world.
    pub axis: Vector3<f64>,
    /// Radiant intensity on the axis, W/sr per m of wavelength.
    pub intensity: Spectrum,
    /// Angle to the axis up to which the intensity is full, rad.
    pub inner: f64,
    /// Angle to the axis from which on there is none, rad; a smooth step in between.
    pub outer: f64,
}

/// Light from one side of a rectangle, alike in all directions (Lambert).
#[derive(Clone, Debug, PartialEq)]
pub struct AreaLamp {
    /// Where it is: it spans x and y about its origin and shines to +z.
    pub world_from_lamp: Isometry3<f64>,
    /// Size along x and y, m.
    pub size: [f64; 2],
    /// Radiance, W m⁻² sr⁻¹ per m of wavelength.
    pub radiance: Spectrum,
}

impl SpotLamp {
    /// Share of the intensity on the axis that goes into the unit direction `away`.
    pub fn share(&self, away: &Vector3<f64>) -> f64 {
        let angle = away.dot(&self.axis).clamp(-1.0, 1.0).acos();
        let part = ((self.outer - angle) / (self.outer - self.inner).max(1e-12)).clamp(0.0, 1.0);
        part * part * (3.0 - 2.0 * part)
    }
}

impl AreaLamp {
    /// The point at `u`, `v` in [0, 1) across the rectangle, in the world.
    pub fn point(&self, [u, v]: [f64; 2]) -> Point3<f64> {
        let local = Point3::new((u - 0.5) * self.size[0], (v - 0.5) * self.size[1], 0.0);
        self.world_from_lamp * local
    }

    /// Unit vector that it faces, in the world.
    pub fn normal(&self) -> Vector3<f64> {
        self.world_from_lamp * Vector3::z()
    }

    /// Its area, m².
    pub fn area(&self) -> f64 {
        self.size[0] * self.size[1]
    }

    /// How far along a ray (unit `direction`) its bright side is met.
    pub fn meet(&self, origin: &Point3<f64>, direction: &Vector3<f64>) -> Option<f64> {
        let start = self.world_from_lamp.inverse_transform_point(origin);
        let way = self.world_from_lamp.inverse_transform_vector(direction);
        if way.z >= 0.0 || start.z <= 0.0 {
            return None;
        }
        let distance = -start.z / way.z;
        let place = start + way * distance;
        let inside = 2.0 * place.x.abs() <= self.size[0] && 2.0 * place.y.abs() <= self.size[1];
        inside.then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lamp_is_seen_from_its_bright_side_alone() {
        let lamp = AreaLamp {
            world_from_lamp: Isometry3::translation(0.0, 0.0, 1.0),
            size: [2.0, 1.0],
            radiance: 1.0.into(),
        };
        let down = -Vector3::z();
        assert_eq!(lamp.meet(&Point3::new(0.9, 0.4, 3.0), &down), Some(2.0));
        assert_eq!(lamp.meet(&Point3::new(0.9, 0.6, 3.0), &down), None);
        assert_eq!(lamp.meet(&Point3::origin(), &Vector3::z()), None);
        assert_eq!(lamp.area(), 2.0);
    }

    #[test]
    fn a_spot_is_full_inside_and_dark_outside_of_its_cone() {
        let spot = SpotLamp {
            position: Point3::origin(),
            axis: Vector3::x(),
            intensity: 1.0.into(),
            inner: 0.2,
            outer: 0.4,
        };
        let share = |angle: f64| spot.share(&Vector3::new(angle.cos(), angle.sin(), 0.0));
        assert_eq!((share(0.1), share(0.5)), (1.0, 0.0));
        assert!((share(0.3) - 0.5).abs() < 1e-9);
    }
}
