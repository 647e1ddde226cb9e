//! Monte Carlo path tracing: light that several rough surfaces scatter.

use super::branch::Branch;
use super::light_ray::LightRay;
use super::shading_frame::shading_frame;
use super::transmittance::transmission;
use super::tree::LightReturn;
use super::world::{Interaction, World};
use etendue_physics::Stream;
use etendue_physics::surface::{BsdfSample, Passage};
use etendue_scene::{CastScratch, Hit, Ray};
use nalgebra::{Matrix3, Point3, Vector3};
use std::f64::consts::PI;

/// Settings of path tracing: number and depth of paths, acceptance angle of the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// Number of paths that share the power of a ray.
    pub paths: u32,
    /// Maximum number of surfaces on a path.
    pub max_depth: u32,
    /// Threshold of Russian roulette: a path whose fraction of power is below it continues with a
    /// probability in proportion to that fraction, at the threshold's power. Zero disables it.
    pub roulette_below: f64,
    /// Acceptance angle: greatest angle between the ray and received light, rad.
    pub receiver_half_angle: f64,
}

impl Default for PathSettings {
    /// 256 paths of at most 16 surfaces, and a receiver that accepts all directions.
    fn default() -> Self {
        Self {
            paths: 256,
            max_depth: 16,
            roulette_below: 0.05,
            receiver_half_angle: PI,
        }
    }
}

/// Traces random light paths from `ray` and calls `visit` with each return.
///
/// The powers sum to an unbiased estimate (up to the maximum depth) of the received power per unit of
/// emitted power and of receiver area, with the area normal to the arriving light.
///
/// The first scattering surface returns light along its incoming path, through the same mirrors and
/// glass, exactly as in [`trace_tree`](super::trace_tree). Every later scattering surface (and the
/// first, where the light arrived by a mirror or through solid glass) is also connected directly
/// to the sensor,
/// $$P = \beta f(\omega_i, \omega_o) \frac{|\cos\theta_o|}{d^2} T$$
/// with $\beta$ the arriving power and $T$ the transmittance of thin sheets in between: next-event
/// estimation (Kalos 1963, doi:10.13182/NSE63-A26471). The range of a return is half its path length.
///
/// Left out: later scattered light that reaches the receiver by a mirror or through solid glass
/// (which a straight connection cannot sample). Where a path can scatter close to the sensor, the inverse square
/// makes the variance large.
pub fn trace_paths(
    world: &World<f64>,
    ray: &LightRay<f64>,
    settings: &PathSettings,
    stream: &mut Stream,
    scratch: &mut CastScratch,
    mut visit: impl FnMut(LightReturn<f64>),
) {
    // Find the first surface, which all paths share.
    let values = ray.values();
    let first = world.scene().closest_hit(&values, scratch);
    let mut receiver = PathReceiver {
        scratch,
        world,
        position: ray.origin,
        axis: ray.direction,
        least_cos: settings.receiver_half_angle.cos(),
        most_sheets: settings.max_depth,
    };
    // Trace the paths.
    for _ in 0..settings.paths {
        let path = Path {
            light: Branch::new(ray),
            weight: 1.0 / f64::from(settings.paths),
            scatterings: 0,
            is_straight: true,
        };
        trace_path(
            &mut receiver,
            path,
            values,
            first,
            settings,
            stream,
            &mut visit,
        );
    }
}

/// State of a random light path.
#[derive(Clone, Copy)]
struct Path {
    /// Last segment. Its throughput is that of the specular prefix, which the return path shares.
    light: Branch<f64>,
    /// Power over the probability density of the path.
    weight: f64,
    /// Number of scattering surfaces.
    scatterings: u32,
    /// Whether all segments are on one line: then the reversed path is the connection to the sensor.
    is_straight: bool,
}

/// Traces one path from the first hit of its first ray.
fn trace_path(
    receiver: &mut PathReceiver,
    mut path: Path,
    mut ray: Ray,
    mut hit: Option<Hit>,
    settings: &PathSettings,
    stream: &mut Stream,
    visit: &mut impl FnMut(LightReturn<f64>),
) {
    let world = receiver.world;
    while let Some(surface_hit) = hit {
        // Connect the surface to the receiver.
        let interaction = world.interaction(
            &surface_hit,
            &path.light.origin,
            &path.light.direction,
            ray.time,
        );
        path.arrive(&interaction);
        let surface = Surface {
            interaction: &interaction,
            frame: shading_frame(&interaction.normal),
            ray: &ray,
            hit: &surface_hit,
        };
        receiver.collect(&path, &surface, visit);
        if path.light.depth >= settings.max_depth {
            return;
        }

        // Sample the next direction.
        let frame = surface.frame;
        let incoming = frame.tr_mul(&-path.light.direction);
        let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
        let Some(sample) = interaction
            .material
            .sample(&incoming, interaction.side, uniform)
        else {
            return;
        };
        path.leave(&sample, &frame);

        // Terminate weak paths by Russian roulette.
        let floor = settings.roulette_below / f64::from(settings.paths);
        if path.weight <= 0.0 || !path.survives(floor, stream) {
            return;
        }

        // Cast the next segment.
        ray = path.light.cast(world.scene(), &ray, &surface_hit);
        hit = world.scene().closest_hit(&ray, receiver.scratch);
    }
}

impl Path {
    /// Extends the path to a surface.
    fn arrive(&mut self, interaction: &Interaction<f64>) {
        let distance = interaction.surface.distance;
        self.weight *= (-self.light.medium.absorption * distance).exp();
        self.light = self.light.arrive(interaction);
    }

    /// Leaves the surface in a sampled direction.
    fn leave(&mut self, sample: &BsdfSample, frame: &Matrix3<f64>) {
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
            // The weight is the fraction over the probability.
            self.light.throughput *= sample.weight * sample.pdf;
            self.is_straight &= sheet;
        } else {
            self.scatterings += 1;
        }
    }

    /// Russian roulette below a weight of `floor`.
    fn survives(&mut self, floor: f64, stream: &mut Stream) -> bool {
        if self.weight >= floor {
            return true;
        }
        let survives = stream.uniform() * floor < self.weight;
        self.weight = floor;
        survives
    }
}

/// Surface that a path arrived at.
struct Surface<'s, 'w> {
    interaction: &'s Interaction<'w, f64>,
    /// Shading frame.
    frame: Matrix3<f64>,
    /// The ray that hit it.
    ray: &'s Ray,
    hit: &'s Hit,
}

/// Point receiver with an acceptance cone.
struct PathReceiver<'w, 'a> {
    world: &'w World<'a, f64>,
    /// Position in the world, m.
    position: Point3<f64>,
    /// Unit vector of the optical axis.
    axis: Vector3<f64>,
    /// Cosine of the acceptance angle.
    least_cos: f64,
    /// Most thin sheets between a surface and the receiver.
    most_sheets: u32,
    scratch: &'w mut CastScratch,
}

impl PathReceiver<'_, '_> {
    /// Calls `visit` with the returns from the surface that `path` arrived at.
    fn collect(
        &mut self,
        path: &Path,
        surface: &Surface,
        visit: &mut impl FnMut(LightReturn<f64>),
    ) {
        let interaction = surface.interaction;
        if interaction.material.is_delta_only() {
            return;
        }
        let light = &path.light;
        let back = LightReturn {
            range: light.range,
            optical_range: light.optical_range,
            power: 0.0,
            throughput: path.weight,
            cos_incidence: interaction.cos_incidence,
            point: light.origin,
            arrival: light.direction,
            depth: light.depth,
            scatterings: path.scatterings + 1,
            hit: *surface.hit,
            material: interaction.surface.material,
        };
        let mut send = |returned: LightReturn<f64>| {
            if returned.power > 0.0 {
                visit(returned);
            }
        };

        // Return along the reversed path.
        if path.scatterings == 0 {
            let cos = interaction.cos_incidence;
            let scattered = interaction.material.backscatter(cos, interaction.side) * cos;
            let power = path.weight * light.throughput * scattered / light.range.powi(2);
            send(LightReturn { power, ..back });
        }

        // Direct connection, unless it is the reversed path.
        let is_reversed_path = path.scatterings == 0 && path.is_straight;
        if !is_reversed_path && let Some(connection) = self.connect(light, surface) {
            send(LightReturn {
                range: 0.5 * (light.range + connection.length),
                optical_range: 0.5 * (light.optical_range + connection.optical_length),
                power: path.weight * connection.power,
                ..back
            });
        }
    }

    /// Direct connection of a surface to the receiver; none where no light passes.
    fn connect(&mut self, light: &Branch<f64>, surface: &Surface) -> Option<Connection> {
        // Check the acceptance angle.
        let away = self.position - light.origin;
        let length = away.norm();
        let direction = away / length;
        if -direction.dot(&self.axis) < self.least_cos {
            return None;
        }

        // Evaluate the scattering towards the receiver.
        let interaction = surface.interaction;
        let incoming = surface.frame.tr_mul(&-light.direction);
        let outgoing = surface.frame.tr_mul(&direction);
        let scattered = interaction
            .material
            .evaluate(&incoming, &outgoing, interaction.side);
        if scattered <= 0.0 {
            return None;
        }

        // Attenuate by what is in between.
        let segment = Ray {
            origin: light.origin,
            direction,
            near: self
                .world
                .scene()
                .spawn_near(surface.ray, surface.hit, &direction),
            far: length,
            ..*surface.ray
        };
        let passed = transmission(self.world, segment, self.most_sheets, self.scratch)?;
        Some(Connection {
            length,
            optical_length: length + passed.extra_path,
            power: scattered * outgoing.z.abs() * passed.fraction / (length * length),
        })
    }
}

/// Straight connection of a surface to the receiver.
struct Connection {
    /// Length, m.
    length: f64,
    /// Optical length, m.
    optical_length: f64,
    /// Power per unit of power that arrives at the surface, 1/m².
    power: f64,
}
