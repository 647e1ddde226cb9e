//! Triangulating receivers.

use super::receive::{Fired, Found, Light};
use super::simulate::Simulator;
use crate::scanner::Triangulation;
use crate::transport;
use etendue_physics::Stream;
use etendue_scene::Ray;
use nalgebra::{Isometry3, Vector3};

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
    let left = Vector3::new(-shot.azimuth.sin(), shot.azimuth.cos(), 0.0);
    let lens = pose * (shot.origin + left * camera.baseline);
    let sees = |back: &transport::Return<f64>| {
        let way = back.point - lens;
        let distance = way.norm();
        let ray = Ray {
            far: distance * (1.0 - 1e-6),
            time: shot.time,
            ..Ray::new(lens, way / distance)
        };
        !simulator.world.scene().occluded(&ray)
    };
    let direct = light
        .sources
        .iter()
        .filter(|(back, _)| back.depth > 1 || sees(back));
    let mut spots: Vec<_> = direct.collect();
    spots.sort_by(|a, b| a.0.range.total_cmp(&b.0.range));
    let surfaces = spots.chunk_by(|a, b| b.0.range - a.0.range < 0.02 * a.0.range);
    let (power, range) = surfaces
        .map(|spot| {
            let power: f64 = spot.iter().map(|(_, power)| power).sum();
            let moment: f64 = spot.iter().map(|(back, power)| back.range * power).sum();
            (power, moment / power)
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
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
