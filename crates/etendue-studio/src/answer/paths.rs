//! Rays from the sensor to the surfaces that return light, as lines.

use etendue::scene::{CastScratch, Ray};
use etendue::sensors::transport::{LightRay, LightReturn, TreeSettings, World, trace_tree};
use nalgebra::{Point3, Vector3};
use serde::Serialize;

/// The path of light to one surface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RayPath {
    /// Points from the sensor to the surface, m.
    pub points: Vec<[f64; 3]>,
    /// Half the optical path, m.
    pub range: f64,
    /// Power of the light, 1/m².
    pub power: f64,
    /// Number of surfaces on the path.
    pub depth: u32,
    /// Whether points are missing: refraction in solid glass is drawn as a straight line.
    pub is_abridged: bool,
}

/// Maximum number of paths.
const MAX_PATHS: usize = 64;

/// Greatest distance of points that are the same, m.
const SAME: f64 = 1e-6;

/// The paths of light along a ray; an open line of length `far` (m) without any.
pub fn paths(world: &World<f64>, ray: &LightRay<f64>, far: f64) -> Vec<RayPath> {
    let mut scratch = CastScratch::new();
    let mut lights: Vec<LightReturn<f64>> = Vec::new();
    let settings = TreeSettings::default();
    trace_tree(world, ray, &settings, &mut scratch, |light| {
        lights.push(light);
    });
    lights.sort_by(|a, b| b.power.total_cmp(&a.power));
    lights.truncate(MAX_PATHS);
    if lights.is_empty() {
        let hit = world.scene().closest_hit(&ray.values(), &mut scratch);
        let end = ray.origin + ray.direction * hit.map_or(far, |hit| hit.distance);
        return vec![RayPath {
            points: vec![ray.origin.into(), end.into()],
            range: 0.0,
            power: 0.0,
            depth: 0,
            is_abridged: false,
        }];
    }
    lights
        .iter()
        .map(|light| path(world, ray, light, &mut scratch))
        .collect()
}

/// The path to one surface.
fn path(
    world: &World<f64>,
    ray: &LightRay<f64>,
    light: &LightReturn<f64>,
    scratch: &mut CastScratch,
) -> RayPath {
    let mut back = Backwards {
        world,
        ray,
        scratch,
    };
    let between = back.points_between(light.point, -light.arrival, light.depth - 1);
    let ends = [ray.origin, light.point];
    let points = match &between {
        Some(between) => {
            let between = between.iter().rev().copied();
            std::iter::once(ends[0])
                .chain(between)
                .chain([ends[1]])
                .collect()
        }
        None => ends.to_vec(),
    };
    RayPath {
        points: points.iter().map(|point| (*point).into()).collect(),
        range: light.optical_range,
        power: light.power,
        depth: light.depth,
        is_abridged: between.is_none(),
    }
}

/// Search of a path from its end to the sensor: at each surface the light was reflected or passed straight on.
struct Backwards<'a> {
    world: &'a World<'a, f64>,
    ray: &'a LightRay<f64>,
    scratch: &'a mut CastScratch,
}

impl Backwards<'_> {
    /// Surfaces between a point and the sensor, `surfaces` of them, the last one first; `None` if the light was
    /// refracted on the way.
    fn points_between(
        &mut self,
        from: Point3<f64>,
        towards_sensor: Vector3<f64>,
        surfaces: u32,
    ) -> Option<Vec<Point3<f64>>> {
        let from_sensor = from - self.ray.origin;
        if surfaces == 0 {
            let distance = from_sensor.norm();
            let is_seen =
                distance < SAME || from_sensor.dot(&self.ray.direction) > distance * (1.0 - 1e-9);
            return is_seen.then(Vec::new);
        }
        // Find the previous surface
        let ray = Ray {
            time: self.ray.time,
            near: SAME,
            ..Ray::new(from, towards_sensor)
        };
        let hit = self.world.scene().closest_hit(&ray, self.scratch)?;
        let at = from + towards_sensor * hit.distance;
        // Reflected there, or passed straight on
        let mirrored = towards_sensor - hit.normal * (2.0 * towards_sensor.dot(&hit.normal));
        let before = [mirrored, towards_sensor];
        before.into_iter().find_map(|direction| {
            let mut rest = self.points_between(at, direction, surfaces - 1)?;
            rest.insert(0, at);
            Some(rest)
        })
    }
}
