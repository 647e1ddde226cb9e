//! Rays of light with derivatives.

use etendue_physics::Scalar;
use etendue_scene::Ray;
use nalgebra::{Point3, Vector3};

/// Ray of light that leaves the sensor, in the world.
#[derive(Clone, Copy, Debug)]
pub struct LightRay<S: Scalar> {
    /// Origin, m.
    pub origin: Point3<S>,
    /// Unit direction.
    pub direction: Vector3<S>,
    /// Time of emission, s from the scene's epoch.
    pub time: f64,
    /// Visibility mask: objects whose mask has no bit in common with it are not hit.
    pub mask: u32,
}

impl<S: Scalar> LightRay<S> {
    /// A ray at time zero that can hit every object. `direction` must be a unit vector.
    pub fn new(origin: Point3<S>, direction: Vector3<S>) -> Self {
        Self {
            origin,
            direction,
            time: 0.0,
            mask: u32::MAX,
        }
    }

    /// The ray without derivatives.
    pub fn plain(&self) -> LightRay<f64> {
        LightRay {
            origin: self.origin.map(Scalar::value),
            direction: self.direction.map(Scalar::value),
            time: self.time,
            mask: self.mask,
        }
    }

    /// The ray without derivatives, to be cast.
    #[inline]
    pub fn values(&self) -> Ray {
        Ray {
            time: self.time,
            mask: self.mask,
            ..Ray::new(
                self.origin.map(Scalar::value),
                self.direction.map(Scalar::value),
            )
        }
    }
}
