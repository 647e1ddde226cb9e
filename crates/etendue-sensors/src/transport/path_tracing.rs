//! Monte-Carlo path tracing: light that several rough surfaces scattered before it came back.

use super::branch::Branch;
use super::straight::{frame_about, see_through};
use super::world::Meeting;
use super::{LightRay, LightReturn, World};
use etendue_physics::Stream;
use etendue_physics::surface::{Passage, Sample};
use etendue_scene::{Hit, Ray};
use nalgebra::{Matrix3, Point3, Vector3};
use std::f64::consts::PI;

/// How many paths are traced, how far, and what the receiver sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// How many paths share the ray's power.
    pub paths: u32,
    /// Most surfaces on a path.
    pub max_depth: u32,
    /// Russian roulette: a path with less than this fraction of its power goes on with a
    /// probability that its power is in proportion to, and with this much. Zero: never.
    pub roulette_below: f64,
    /// Greatest angle between the ray and the light that the receiver sees, rad.
    pub receiver_half_angle: f64,
}

impl Default for PathSettings {
    /// 256 paths of at most 16 surfaces to a receiver that sees all around.
    fn default() -> Self {
        Self {
            paths: 256,
            max_depth: 16,
            roulette_below: 0.05,
            receiver_half_angle: PI,
        }
    }
}

/// Follows random paths of light from `ray` and hands what comes back to `visit`: returns whose
/// powers sum to an unbiased estimate (but for the greatest depth) of the received power per unit
/// of emitted power and of receiver area, where the receiver's area faces the arriving light.
///
/// The first scattering surface returns light along its incoming path, through the same mirrors and
/// glass, exactly as in [`trace_tree`](super::trace_tree). Every later scattering surface (and the
/// first, if the light reached it over a mirror or through solid glass) is also connected directly
/// to the sensor,
/// $$P = \beta f(\omega_i, \omega_o) \frac{|\cos\theta_o|}{d^2} T$$
/// with $\beta$ the light that arrives and $T$ what thin sheets on the way let pass: the event
/// estimation of neutron transport (Kalos 1963, doi:10.13182/NSE63-A26471). A return's range is
/// half of the way there and back.
///
/// Left out: later scattered light that reaches the receiver over a mirror or through solid glass
/// (no straight line leads there). Where a path can scatter close to the sensor, the inverse square
/// makes the variance large.
pub fn trace_paths(
    world: &World<f64>,
    ray: &LightRay<f64>,
    settings: &PathSettings,
    stream: &mut Stream,
    mut visit: impl FnMut(LightReturn<f64>),
) {
    let values = ray.values();
    let first = world.scene().closest_hit(&values);
    let receiver = Receiver {
        world,
        place: ray.origin,
        axis: ray.direction,
        least_cos: settings.receiver_half_angle.cos(),
        most_sheets: settings.max_depth,
    };
    for _ in 0..settings.paths {
        let path = Path {
            light: Branch::new(ray),
            weight: 1.0 / f64::from(settings.paths),
            scatterings: 0,
            is_straight: true,
        };
        trace_path(
            &receiver,
            path,
            (values, first),
            settings,
            stream,
            &mut visit,
        );
    }
}

/// Light on its way.
#[derive(Clone, Copy)]
struct Path {
    /// Its throughput counts as long as nothing scattered it: that of the way back, too.
    light: Branch<f64>,
    /// Power that it carries, with the chance that it took this way.
    weight: f64,
    scatterings: u32,
    /// Whether the way so far is one line: the way back is the connection to the sensor.
    is_straight: bool,
}

fn trace_path(
    receiver: &Receiver,
    mut path: Path,
    (mut ray, mut hit): (Ray, Option<Hit>),
    settings: &PathSettings,
    stream: &mut Stream,
    visit: &mut impl FnMut(LightReturn<f64>),
) {
    let world = receiver.world;
    while let Some(met) = hit {
        let meeting = world.meet(&met, &path.light.origin, &path.light.direction, ray.time);
        path.arrive(&meeting);
        let frame = frame_about(&meeting.normal);
        receiver.collect(&path, &meeting, &frame, (&ray, &met), visit);
        if path.light.depth >= settings.max_depth {
            return;
        }
        let incoming = frame.tr_mul(&-path.light.direction);
        let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
        let Some(sample) = meeting.material.sample(&incoming, meeting.side, uniform) else {
            return;
        };
        path.leave(&sample, &frame);
        let floor = settings.roulette_below / f64::from(settings.paths);
        if path.weight <= 0.0 || !path.survives(floor, stream) {
            return;
        }
        ray = path.light.cast(world.scene(), &ray, &met);
        hit = world.scene().closest_hit(&ray);
    }
}

impl Path {
    fn arrive(&mut self, meeting: &Meeting<f64>) {
        let distance = meeting.surface.distance;
        self.weight *= (-self.light.medium.absorption * distance).exp();
        self.light = self.light.arrive(meeting);
    }

    fn leave(&mut self, sample: &Sample, frame: &Matrix3<f64>) {
        self.weight *= sample.weight;
        self.light.direction = (frame * sample.direction).normalize();
        let sheet = match sample.passage {
            Some(Passage::Sheet { extra_path }) => {
                self.light.optical_range += extra_path;
                true
            }
            Some(Passage::Interface { medium, .. }) => {
                self.light.medium = medium;
                false
            }
            None => false,
        };
        if sample.is_delta {
            // Weight is fraction over probability.
            self.light.throughput *= sample.weight * sample.pdf;
            self.is_straight &= sheet;
        } else {
            self.scatterings += 1;
        }
    }

    fn survives(&mut self, floor: f64, stream: &mut Stream) -> bool {
        if self.weight >= floor {
            return true;
        }
        let survives = stream.uniform() * floor < self.weight;
        self.weight = floor;
        survives
    }
}

/// Where the light is wanted.
struct Receiver<'w, 'a> {
    world: &'w World<'a, f64>,
    place: Point3<f64>,
    axis: Vector3<f64>,
    least_cos: f64,
    most_sheets: u32,
}

impl Receiver<'_, '_> {
    /// What the surface that `path` arrived at sends to the receiver.
    fn collect(
        &self,
        path: &Path,
        meeting: &Meeting<f64>,
        frame: &Matrix3<f64>,
        (ray, hit): (&Ray, &Hit),
        visit: &mut impl FnMut(LightReturn<f64>),
    ) {
        if meeting.material.is_delta_only() {
            return;
        }
        let light = &path.light;
        let back = LightReturn {
            range: light.range,
            optical_range: light.optical_range,
            power: 0.0,
            throughput: path.weight,
            cos_incidence: meeting.cos_incidence,
            point: light.origin,
            arrival: light.direction,
            depth: light.depth,
            scatterings: path.scatterings + 1,
            hit: *hit,
            material: meeting.surface.material,
        };
        let mut send = |returned: LightReturn<f64>| {
            if returned.power > 0.0 {
                visit(returned);
            }
        };
        if path.scatterings == 0 {
            let cos = meeting.cos_incidence;
            let scattered = meeting.material.backscatter(cos, meeting.side) * cos;
            let power = path.weight * light.throughput * scattered / light.range.powi(2);
            send(LightReturn { power, ..back });
        }
        let is_way_back = path.scatterings == 0 && path.is_straight;
        if !is_way_back && let Some(straight) = self.connect(light, meeting, frame, (ray, hit)) {
            send(LightReturn {
                range: 0.5 * (light.range + straight.length),
                optical_range: 0.5 * (light.optical_range + straight.optical_length),
                power: path.weight * straight.power,
                ..back
            });
        }
    }

    /// What goes straight to the receiver of light that arrived at a surface.
    fn connect(
        &self,
        light: &Branch<f64>,
        meeting: &Meeting<f64>,
        frame: &Matrix3<f64>,
        (ray, hit): (&Ray, &Hit),
    ) -> Option<Connection> {
        let away = self.place - light.origin;
        let length = away.norm();
        let direction = away / length;
        if -direction.dot(&self.axis) < self.least_cos {
            return None;
        }
        let incoming = frame.tr_mul(&-light.direction);
        let outgoing = frame.tr_mul(&direction);
        let scattered = meeting
            .material
            .evaluate(&incoming, &outgoing, meeting.side);
        if scattered <= 0.0 {
            return None;
        }
        let straight = Ray {
            origin: light.origin,
            direction,
            near: self.world.scene().spawn_near(ray, hit, &direction),
            far: length,
            ..*ray
        };
        let (passed, extra_path) = see_through(self.world, straight, self.most_sheets)?;
        Some(Connection {
            length,
            optical_length: length + extra_path,
            power: scattered * outgoing.z.abs() * passed / (length * length),
        })
    }
}

/// A straight line to the receiver.
struct Connection {
    /// m.
    length: f64,
    /// m.
    optical_length: f64,
    /// For each unit of light that arrived at the surface, 1/m².
    power: f64,
}
