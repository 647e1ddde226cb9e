//! Triangulating receivers.

use crate::lidar::Shot;
use crate::lidar::check::{Wrong, positive, zero_or_more};
use crate::lidar::receive::{Fired, Found, Light};
use crate::lidar::sweep::Simulator;
use crate::transport;
use etendue_physics::pulse::{PulseReturn, group_returns};
use etendue_physics::{Scalar, Stream};
use etendue_scene::{Ray, Scene};
use nalgebra::{Isometry3, Point3, Vector3};

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
        let mut angle = self.baseline / distance + self.angle_noise * draw;
        if self.angle_step > 0.0 {
            angle = (angle / self.angle_step).round() * self.angle_step;
        }
        self.baseline / angle.max(1e-12)
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
}

/// The lens to the left of a beam.
pub(in crate::lidar) struct Lens {
    at: Point3<f64>,
    time: f64,
}

impl Lens {
    pub(in crate::lidar) fn new(
        shot: &Shot,
        pose: &Isometry3<f64>,
        camera: &Triangulation,
    ) -> Self {
        let left = Vector3::new(-shot.azimuth.sin(), shot.azimuth.cos(), 0.0);
        Self {
            at: pose * (shot.origin + left * camera.baseline),
            time: shot.time,
        }
    }

    /// Whether nothing stands between the lens and the point that sent the light back. Spots in
    /// mirrors and behind glass are taken to be seen.
    pub(in crate::lidar) fn sees<S: Scalar>(
        &self,
        scene: &Scene,
        back: &transport::LightReturn<S>,
    ) -> bool {
        if back.depth > 1 {
            return true;
        }
        let way = back.point.map(Scalar::value) - self.at;
        let distance = way.norm();
        let ray = Ray {
            far: distance * (1.0 - 1e-6),
            time: self.time,
            ..Ray::new(self.at, way / distance)
        };
        !scene.occluded(&ray)
    }
}

/// The brightest spot of some returns, which it sorts: their total power, at the mean of their
/// ranges by power.
pub(in crate::lidar) fn brightest<S: Scalar>(
    returns: &mut [PulseReturn<S>],
) -> Option<PulseReturn<S>> {
    let together = |near: f64, far: f64| far - near < ONE_SPOT * near;
    let mut brightest: Option<PulseReturn<S>> = None;
    group_returns(returns, together, |spot| {
        let power = spot.iter().fold(S::zero(), |sum, one| sum + one.power);
        let moment = { spot.iter() }.fold(S::zero(), |sum, one| sum + one.range * one.power);
        if brightest.is_none_or(|best| power.value() >= best.power.value()) {
            brightest = Some(PulseReturn {
                range: moment / power,
                power,
            });
        }
    });
    brightest
}

/// The range of the brightest spot that the lens beside the laser sees, if it is bright enough.
///
/// The lens stands to the left of the beam; what stands between it and the spot hides it. The
/// spot's direction $\varphi = b/d$ carries the noise and the steps of the pixels.
pub(in crate::lidar) fn triangulate<P: Fn(f64) -> Isometry3<f64>>(
    simulator: &Simulator<P>,
    camera: &Triangulation,
    Fired { shot, pose, .. }: Fired,
    light: &Light,
    noise: Option<&mut Stream>,
) -> Option<Found> {
    let lens = Lens::new(&shot, pose, camera);
    let scene = simulator.world.scene();
    let seen = light
        .sources
        .iter()
        .filter(|(back, _)| lens.sees(scene, back));
    let mut returns: Vec<PulseReturn> = seen
        .map(|&(back, power)| PulseReturn {
            range: back.range,
            power,
        })
        .collect();
    let PulseReturn { range, power } = brightest(&mut returns)?;
    if power < camera.threshold {
        return None;
    }
    let draw = noise.map_or(0.0, Stream::normal);
    Some(Found {
        range: camera.read(range, draw),
        power,
        width: 0.0,
        velocity: None,
        intensity: None,
    })
}
