//! Frequency-modulated continuous-wave receivers: range and radial velocity ([`Fmcw`]).

use super::{Detection, Reception};
use crate::lidar::check::{Wrong, positive};
use crate::lidar::light::ShotLight;
use crate::lidar::shot::Shot;
use crate::transport::{LightReturn, World};
use etendue_physics::pulse::{Fmcw, FmcwEcho};
use etendue_physics::{Scalar, Stream};
use nalgebra::{Isometry3, Point3};

/// Time before and after, for the central differences of velocities, s.
const STEP: f64 = 1e-4;

/// Checks the numbers of a receiver.
pub(super) fn check(fmcw: &Fmcw) -> Result<(), Wrong> {
    positive(&[
        ("the frequency swept by a chirp, Hz,", fmcw.bandwidth),
        ("the duration of a chirp, s,", fmcw.chirp),
        ("the noise, 1/(m2 sr),", fmcw.noise),
        ("the threshold over the noise", fmcw.threshold),
    ])
}

/// Appends the targets of a shot with their radial velocities.
pub(super) fn detect<S: Scalar>(
    fmcw: &Fmcw,
    reception: &Reception<S>,
    light: &ShotLight<S>,
    noise: Option<&mut Stream>,
    detections: &mut Vec<Detection<S>>,
) {
    let own = radial_velocity(reception.shot, reception.world_from_sensor);
    let target = |back: &LightReturn<S>, power: S| FmcwEcho {
        range: back.optical_range,
        power,
        velocity: own + recession(reception.world, back, reception.shot.time),
    };
    let targets = light
        .surfaces
        .iter()
        .map(|one| target(&one.back, one.power));
    let mut targets: Vec<FmcwEcho<S>> = targets.collect();
    let echoes = fmcw.echoes(&mut targets, noise);
    detections.extend(echoes.iter().map(|echo| Detection {
        range: echo.range,
        power: echo.power,
        width: S::zero(),
        velocity: Some(echo.velocity),
        intensity: None,
    }));
}

/// Speed at which a point at rest recedes along a shot, m/s: minus the sensor's own velocity, from its
/// poses a tenth of a millisecond before and after.
fn radial_velocity<S: Scalar>(shot: &Shot, world_from_sensor: &dyn Fn(f64) -> Isometry3<S>) -> S {
    let origin = shot.origin.map(S::from);
    let [before, after] = [-STEP, STEP].map(|step| world_from_sensor(shot.time + step) * origin);
    let direction = world_from_sensor(shot.time).rotation * shot.direction().map(S::from);
    -(after - before).dot(&direction) / (2.0 * STEP)
}

/// Speed of the point that scattered the light along the direction in which the light arrived, m/s.
/// To first order a path by mirrors at rest lengthens by the motion of its ends alone (Fermat); moving
/// mirrors are left out. Constant under differentiation.
fn recession<S: Scalar>(world: &World<S>, back: &LightReturn<S>, time: f64) -> f64 {
    let scene = world.scene();
    let mesh = scene.objects()[back.hit.object.0 as usize].mesh;
    if scene.motion(back.hit.object).is_none() && scene.deformation(mesh).is_none() {
        return 0.0;
    }
    let [before, after] = [-STEP, STEP].map(|step| scattering_point(world, back, time + step));
    (after - before).dot(&back.arrival.map(Scalar::value)) / (2.0 * STEP)
}

/// Position at a time of the point that scattered the light, m.
fn scattering_point<S: Scalar>(world: &World<S>, back: &LightReturn<S>, time: f64) -> Point3<f64> {
    let scene = world.scene();
    let hit = &back.hit;
    let id = scene.objects()[hit.object.0 as usize].mesh;
    let mesh = scene.mesh(id);
    let [a, b, c] = match scene.deformation(id) {
        Some(deformation) => mesh.triangles[hit.triangle as usize]
            .map(|vertex| deformation.vertex_at(vertex as usize, time)),
        None => mesh.corners(hit.triangle),
    };
    let [to_b, to_c] = hit.barycentric;
    scene.world_from_object(hit.object, time) * (a + (b - a) * to_b + (c - a) * to_c)
}
