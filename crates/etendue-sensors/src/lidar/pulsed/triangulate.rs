//! Triangulating receivers.

use super::receive::{Fired, Found, Light};
use super::simulate::Simulator;
use crate::lidar::{Shot, Triangulation};
use crate::transport;
use etendue_physics::pulse::{PulseReturn, group_returns};
use etendue_physics::{Scalar, Stream};
use etendue_scene::{Ray, Scene};
use nalgebra::{Isometry3, Point3, Vector3};

/// Returns this close, over their range, are one spot.
const ONE_SPOT: f64 = 0.02;

/// The lens to the left of a beam.
pub(super) struct Lens {
    at: Point3<f64>,
    time: f64,
}

impl Lens {
    pub(super) fn new(shot: &Shot, pose: &Isometry3<f64>, camera: &Triangulation) -> Self {
        let left = Vector3::new(-shot.azimuth.sin(), shot.azimuth.cos(), 0.0);
        Self {
            at: pose * (shot.origin + left * camera.baseline),
            time: shot.time,
        }
    }

    /// Whether nothing stands between the lens and the point that sent the light back. Spots in
    /// mirrors and behind glass are taken to be seen.
    pub(super) fn sees<S: Scalar>(&self, scene: &Scene, back: &transport::LightReturn<S>) -> bool {
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
pub(super) fn brightest<S: Scalar>(returns: &mut [PulseReturn<S>]) -> Option<PulseReturn<S>> {
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
pub(super) fn triangulate<P: Fn(f64) -> Isometry3<f64>>(
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
