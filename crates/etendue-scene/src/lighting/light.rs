//! The sun and lamps.

use etendue_physics::Spectrum;
use nalgebra::{Isometry3, Point3, Vector3};

/// A light source.
#[derive(Clone, Debug, PartialEq)]
pub enum Light {
    /// Nearly parallel light, the same everywhere.
    Sun(Sun),
    /// A point that emits in all directions.
    Point(PointLamp),
    /// A point that emits into a cone.
    Spot(SpotLamp),
    /// A rectangle that emits from one side.
    Area(AreaLamp),
}

/// The sun: a small disc at infinite distance.
#[derive(Clone, Debug, PartialEq)]
pub struct Sun {
    /// Unit vector to the sun, in the world.
    pub to_sun: Vector3<f64>,
    /// Irradiance on a surface that faces the sun, W m⁻² per m of wavelength.
    pub irradiance: Spectrum,
    /// Half the apparent angle of the disc, rad; 0 for hard shadows.
    pub half_angle: f64,
}

/// A point that emits in all directions.
#[derive(Clone, Debug, PartialEq)]
pub struct PointLamp {
    /// Position in the world, m.
    pub position: Point3<f64>,
    /// Radiant intensity, W/sr per m of wavelength.
    pub intensity: Spectrum,
}

/// A point that emits into a cone.
#[derive(Clone, Debug, PartialEq)]
pub struct SpotLamp {
    /// Position in the world, m.
    pub position: Point3<f64>,
    /// Unit vector of the cone's axis, in the world.
    pub axis: Vector3<f64>,
    /// Radiant intensity on the axis, W/sr per m of wavelength.
    pub intensity: Spectrum,
    /// Angle to the axis up to which the intensity is that of the axis, rad.
    pub inner: f64,
    /// Angle to the axis beyond which the intensity is zero, rad; a smooth step in between.
    pub outer: f64,
}

/// A rectangle that emits from one side with the same radiance in all directions (Lambert).
#[derive(Clone, Debug, PartialEq)]
pub struct AreaLamp {
    /// Pose: the rectangle spans x and y about its origin and emits towards +z.
    pub world_from_lamp: Isometry3<f64>,
    /// Size along x and y, m.
    pub size: [f64; 2],
    /// Radiance, W m⁻² sr⁻¹ per m of wavelength.
    pub radiance: Spectrum,
}

impl SpotLamp {
    /// Intensity in the unit direction `away`, relative to that on the axis.
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

    /// Unit normal of the emitting side, in the world.
    pub fn normal(&self) -> Vector3<f64> {
        self.world_from_lamp * Vector3::z()
    }

    /// Area, m².
    pub fn area(&self) -> f64 {
        self.size[0] * self.size[1]
    }

    /// Distance along a ray (unit `direction`) to the emitting side, if the ray hits it.
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
