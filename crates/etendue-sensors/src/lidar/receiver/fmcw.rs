//! Frequency-modulated continuous-wave receivers: range and radial velocity ([`Fmcw`]).

use super::detection::{Detection, Reception};
use crate::lidar::domain::{OutsideDomain, positive};
use crate::lidar::light::ShotLight;
use crate::lidar::shot::Shot;
use crate::transport::{LightReturn, World};
use etendue_physics::pulse::{Fmcw, FmcwEcho};
use etendue_physics::{Scalar, Stream};
use etendue_scene::{ObjectId, Scene};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

/// Half the time step of the central differences of velocities, s.
const STEP: f64 = 1e-4;

/// The velocities of the points of a rigid object: that of the point $p$ is $v + G\\,(p - q)$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointVelocities {
    /// The point $q$, m.
    pub point: Point3<f64>,
    /// Its velocity $v$, m/s.
    pub velocity: Vector3<f64>,
    /// The gradient $G$ of the velocity, 1/s.
    pub gradient: Matrix3<f64>,
}

/// Checks the parameters of a receiver.
pub(super) fn check(fmcw: &Fmcw) -> Result<(), OutsideDomain> {
    positive(&[
        ("the frequency swept by a chirp, Hz,", fmcw.bandwidth),
        ("the duration of a chirp, s,", fmcw.chirp),
        ("the noise, 1/(m2 sr),", fmcw.noise),
        ("the threshold over the noise", fmcw.threshold),
    ])
}

/// Appends the detections of a shot, with ranges and radial velocities.
pub(super) fn detect<S: Scalar>(
    fmcw: &Fmcw,
    reception: &Reception<S>,
    light: &ShotLight<S>,
    noise: Option<&mut Stream>,
    detections: &mut Vec<Detection<S>>,
) {
    // Assign each surface return its radial velocity.
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
    // Detect the peaks of the beat spectrum.
    let echoes = fmcw.echoes(&mut targets, noise);
    detections.extend(echoes.iter().map(|echo| Detection {
        range: echo.range,
        power: echo.power,
        width: S::zero(),
        velocity: Some(echo.velocity),
        intensity: None,
    }));
}

/// Radial velocity of a static point along a shot, m/s, positive away from the sensor.
///
/// It is $-\dot{\mathbf o}\cdot\mathbf d$ with the beam's origin $\mathbf o$ and direction $\mathbf d$ in the
/// world, by central differences of the sensor's poses over ±0.1 ms.
pub(in crate::lidar) fn radial_velocity<S: Scalar>(
    shot: &Shot,
    world_from_sensor: &dyn Fn(f64) -> Isometry3<S>,
) -> S {
    let origin = shot.origin.map(S::from);
    let [before, after] = [-STEP, STEP].map(|step| world_from_sensor(shot.time + step) * origin);
    let direction = world_from_sensor(shot.time).rotation * shot.direction().map(S::from);
    -(after - before).dot(&direction) / (2.0 * STEP)
}

/// The velocities of the points of an object at a time (s), from the motion of [`recession`]; `None` without motion.
pub(in crate::lidar) fn point_velocities(
    scene: &Scene,
    object: ObjectId,
    time: f64,
) -> Option<PointVelocities> {
    scene.motion(object)?;
    let [before, own, after] =
        [-STEP, 0.0, STEP].map(|step| scene.world_from_object(object, time + step));
    let matrix = |pose: &Isometry3<f64>| pose.rotation.to_rotation_matrix().into_inner();
    let turning = (matrix(&after) - matrix(&before)) * matrix(&own).transpose();
    let shift = after.translation.vector - before.translation.vector;
    Some(PointVelocities {
        point: own.translation.vector.into(),
        velocity: shift / (2.0 * STEP),
        gradient: turning / (2.0 * STEP),
    })
}

/// Velocity of the scattering point along the direction in which the light arrives, m/s.
///
/// To first order, the length of a path by static mirrors changes only with the motion of its end points
/// (Fermat's principle). Moving mirrors are not modelled. Constant under differentiation.
fn recession<S: Scalar>(world: &World<S>, back: &LightReturn<S>, time: f64) -> f64 {
    let scene = world.scene();
    let mesh = scene.objects()[back.hit.object.0 as usize].mesh;
    if scene.motion(back.hit.object).is_none() && scene.deformation(mesh).is_none() {
        return 0.0;
    }
    let [before, after] = [-STEP, STEP].map(|step| scattering_point(world, back, time + step));
    (after - before).dot(&back.arrival.map(Scalar::value)) / (2.0 * STEP)
}

/// Position of the scattering point in the world at a time (s), m.
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
