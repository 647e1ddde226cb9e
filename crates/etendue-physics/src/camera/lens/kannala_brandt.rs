//! Kannala-Brandt lens model.

use crate::Scalar;
use std::f64::consts::PI;

/// Largest number of Newton steps from a good start.
const STEPS: usize = 20;
/// Tolerance of distorted coordinates, focal lengths.
const TOLERANCE: f64 = 1e-14;

/// Fisheye lens: with $\theta$ the angle to the axis, the radius is
/// $$r = \theta\\,(1 + k_1\theta^2 + k_2\theta^4 + k_3\theta^6 + k_4\theta^8)$$
/// focal lengths. Parameters are in the order of OpenCV's `fisheye` module; in contrast to OpenCV,
/// angles of 90° and more are imaged too.
///
/// Kannala and Brandt 2006, "A generic camera model and calibration method for conventional,
/// wide-angle, and fish-eye lenses", doi:10.1109/TPAMI.2006.153 (their radially symmetric part).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KannalaBrandt<T> {
    /// $k_1$ to $k_4$.
    pub k: [T; 4],
}

impl<S: Scalar> KannalaBrandt<S> {
    /// Radius at an angle (rad), in focal lengths.
    pub fn radius(&self, angle: S) -> S {
        let square = angle * angle;
        let [k1, k2, k3, k4] = self.k;
        angle * (square * (square * (square * (square * k4 + k3) + k2) + k1) + 1.0)
    }
}

impl KannalaBrandt<f64> {
    /// Derivative of the radius with respect to the angle.
    pub(super) fn slope(&self, angle: f64) -> f64 {
        let square = angle * angle;
        let [k1, k2, k3, k4] = self.k;
        1.0 + square * (3.0 * k1 + square * (5.0 * k2 + square * (7.0 * k3 + square * 9.0 * k4)))
    }

    /// Angle of a radius, rad, by Newton's method from `start`.
    pub(super) fn angle(&self, radius: f64, start: f64) -> Option<f64> {
        let mut angle = start.clamp(0.0, PI);
        for _ in 0..STEPS {
            let slope = self.slope(angle);
            if slope <= 0.0 {
                return None;
            }
            let miss = radius - self.radius(angle);
            angle += miss / slope;
            if miss.abs() <= TOLERANCE * radius.max(1.0) {
                let sound = (0.0..=PI).contains(&angle) && self.slope(angle) > 0.0;
                return sound.then_some(angle);
            }
        }
        None
    }
}
