//! Triangulating receivers: the image of the spot on a line of pixels beside the laser.

use super::{Detection, Reception};
use crate::lidar::check::{Wrong, positive, zero_or_more};
use crate::lidar::light::ShotLight;
use crate::transport::LightReturn;
use etendue_physics::pulse::{PulseReturn, group_returns};
use etendue_physics::{Scalar, Stream};
use etendue_scene::Ray;
use nalgebra::{Point3, Vector3};

/// Triangulation: the image of the spot moves by $x = bf/d$ on the sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangulation {
    /// Distance between laser and lens, m.
    pub baseline: f64,
    /// Standard deviation of the spot's direction as seen by the lens, rad: the range spreads by
    /// $\sigma_d = d^2\sigma/b$.
    pub angle_noise: f64,
    /// Step of that direction, rad; 0 for none.
    pub angle_step: f64,
    /// Power that the spot must have, 1/(m² sr).
    pub threshold: f64,
}

/// Returns this close, over their range, are one spot.
const ONE_SPOT: f64 = 0.02;

impl Triangulation {
    /// The range read of a spot at `distance` (m), with a standard normal draw of noise:
    /// $b / \varphi$ with $\varphi = b/d + \sigma z$ rounded to a step.
    pub fn read(&self, distance: f64, draw: f64) -> f64 {
        self.range(distance, draw, self.angle_step)
    }

    /// [`Triangulation::read`] with a given step, rad; 0 for none. Constant steps under
    /// differentiation.
    fn range<S: Scalar>(&self, distance: S, draw: f64, step: f64) -> S {
        let mut angle = S::from(self.baseline) / distance + self.angle_noise * draw;
        if step > 0.0 {
            let rounded = (angle.value() / step).round() * step;
            angle = S::with_derivatives_of(rounded, || angle);
        }
        S::from(self.baseline) / angle.max(S::from(1e-12))
    }

    /// Checks its numbers.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        positive(&[
            ("the baseline, m,", self.baseline),
            ("the power that is just found, 1/(m2 sr),", self.threshold),
        ])?;
        zero_or_more(&[
            ("the spread of the spot's direction, rad,", self.angle_noise),
            ("the step of the spot's direction, rad,", self.angle_step),
        ])
    }

    /// The brightest spot that the lens sees, if it is bright enough.
    ///
    /// The lens is to the left of the beam; what is between it and the spot hides the spot. The
    /// spot's direction $\varphi = b/d$ carries the noise and the steps of the pixels.
    pub(super) fn detect<S: Scalar>(
        &self,
        reception: &Reception<S>,
        light: &ShotLight<S>,
        noise: Option<&mut Stream>,
    ) -> Option<Detection<S>> {
        // Keep the light that the lens sees.
        let lens = self.lens(reception);
        let seen = light.surfaces.iter();
        let seen = seen.filter(|one| is_seen(&lens, reception, &one.back));
        let mut returns: Vec<PulseReturn<S>> = seen
            .map(|one| PulseReturn {
                range: one.back.range,
                power: one.power,
            })
            .collect();
        // Read the direction of the brightest spot.
        let PulseReturn { range, power } = brightest(&mut returns)?;
        if power.value() < self.threshold {
            return None;
        }
        let draw = noise.map_or(0.0, Stream::normal);
        let step = if reception.rounding {
            self.angle_step
        } else {
            0.0
        };
        Some(Detection {
            range: self.range(range, draw, step),
            power,
            width: S::zero(),
            velocity: None,
            intensity: None,
        })
    }

    /// Position of the lens in the world, m: to the left of the beam.
    fn lens<S: Scalar>(&self, reception: &Reception<S>) -> Point3<f64> {
        let shot = reception.shot;
        let left = Vector3::new(-shot.azimuth.sin(), shot.azimuth.cos(), 0.0);
        let lens = shot.origin + left * self.baseline;
        (reception.pose * lens.map(S::from)).map(Scalar::value)
    }
}

/// Whether nothing is between the lens and the point that scattered the light. Spots in mirrors and
/// behind glass count as seen.
fn is_seen<S: Scalar>(lens: &Point3<f64>, reception: &Reception<S>, back: &LightReturn<S>) -> bool {
    if back.depth > 1 {
        return true;
    }
    let sight = back.point.map(Scalar::value) - lens;
    let distance = sight.norm();
    let ray = Ray {
        far: distance * (1.0 - 1e-6),
        time: reception.shot.time,
        ..Ray::new(*lens, sight / distance)
    };
    !reception.world.scene().occluded(&ray)
}

/// The brightest spot of some returns, which it sorts: their total power, at the mean of their
/// ranges by power.
fn brightest<S: Scalar>(returns: &mut [PulseReturn<S>]) -> Option<PulseReturn<S>> {
    let together = |near: f64, far: f64| far - near < ONE_SPOT * near;
    let mut brightest: Option<PulseReturn<S>> = None;
    group_returns(returns, together, |spot: &[PulseReturn<S>]| {
        let sum =
            |of: fn(&PulseReturn<S>) -> S| spot.iter().fold(S::zero(), |sum, one| sum + of(one));
        let power = sum(|one| one.power);
        let moment = sum(|one| one.range * one.power);
        if brightest.is_none_or(|best| power.value() >= best.power.value()) {
            brightest = Some(PulseReturn {
                range: moment / power,
                power,
            });
        }
    });
    brightest
}
