//! Monte Carlo path tracing: light that several rough surfaces scatter.

use super::branch::Branch;
use super::light_ray::LightRay;
use super::shading_frame::shading_frame;
use super::transmittance::transmission;
use super::tree::LightReturn;
use super::world::{Interaction, World};
use etendue_physics::surface::{BsdfSample, Passage, PreparedMaterial, Side};
use etendue_physics::{Scalar, Stream};
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

/// Tracer of random light paths.
///
/// The powers of the returns along a ray sum to an unbiased estimate (up to the maximum depth) of the received
/// power per unit of emitted power and of receiver area, with the area normal to the arriving light.
///
/// The first scattering surface returns light along its incoming path, through the same mirrors and
/// glass, exactly as in [`trace_tree`](super::trace_tree). Every later scattering surface (and the
/// first, where the light arrived by a mirror or through solid glass) is also connected directly
/// to the sensor,
/// $$P = \beta f(\omega_i, \omega_o) \frac{|\cos\theta_o|}{d^2} T$$
/// with $\beta$ the arriving power and $T$ the transmittance of thin sheets in between: next-event
/// estimation (Kalos 1963, doi:10.13182/NSE63-A26471). The range of a return is half its path length.
///
/// **Derivatives** are those of the integral over the points of the surfaces: paths are drawn in plain numbers, and
/// then points and densities are constant, each point fixed to its object, while what the light does between them is
/// evaluated in `S`. So edges of surfaces that are seen from others need no terms of their own. Directions of mirrors
/// and glass follow the surfaces; a direction from a rough surface to one of these is constant. The motion of shadows,
/// and of edges that a rough surface sees by way of mirrors and glass, is left out.
///
/// Left out: later scattered light that reaches the receiver by a mirror or through solid glass
/// (which a straight connection cannot sample). Where a path can scatter close to the sensor, the inverse square
/// makes the variance large.
///
/// ```
/// use etendue_physics::surface::{Lobe, Material};
/// use etendue_physics::{Dual, DualParts, Purpose, Stream};
/// use etendue_scene::{
///     CastScratch, MaterialId, MeshId, NamedMaterial, Object, SceneBuilder, primitive,
/// };
/// use etendue_sensors::transport::{LightRay, PathSettings, PathTracer, World};
/// use nalgebra::{Isometry3, Point3, Vector3};
///
/// // A painted room of 2 m, with a derivative by the reflectance.
/// let paint = |reflectance| Material { lobes: vec![Lobe::lambert(reflectance)] };
/// let scene = SceneBuilder {
///     materials: vec![NamedMaterial { name: "paint".into(), material: paint(0.5.into()) }],
///     meshes: vec![primitive::cuboid([2.0; 3])?.inside_out().into()],
///     objects: vec![Object {
///         name: "room".into(),
///         mesh: MeshId(0),
///         world_from_object: Isometry3::identity(),
///         material: MaterialId(0),
///         mask: u32::MAX,
///     }],
///     ..SceneBuilder::default()
/// }
/// .build()?;
/// let material = Material { lobes: vec![Lobe::lambert(Dual::<1>::variable(0.5, 0))] };
/// let world = World::at_wavelength(&scene, 785e-9)?
///     .lift::<Dual<1>>()
///     .with_material(MaterialId(0), material);
///
/// // Light that two surfaces scatter is proportional to the square of the reflectance.
/// let ray = LightRay::new(
///     Point3::<f64>::new(0.3, 0.0, 0.0).map(Dual::from),
///     Vector3::<f64>::x().map(Dual::from),
/// );
/// let mut stream = Stream::new(1, 0, 0, 0, Purpose::LightPath);
/// let tracer = PathTracer::new(&world, PathSettings::default());
/// let mut count = 0;
/// tracer.trace(&ray, &mut stream, &mut CastScratch::new(), |back| {
///     if back.scatterings == 2 {
///         count += 1;
///         let relative = back.power.gradient()[0] / back.power.re;
///         assert!((relative - 2.0 / 0.5).abs() < 1e-9);
///     }
/// });
/// assert_eq!(count, 256);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PathTracer<'w, 'a, S: Scalar> {
    world: &'w World<'a, S>,
    /// The materials without derivatives, from which directions are drawn.
    materials: Vec<PreparedMaterial<f64>>,
    settings: PathSettings,
}

impl<'w, 'a, S: Scalar> PathTracer<'w, 'a, S> {
    /// A tracer in a world.
    pub fn new(world: &'w World<'a, S>, settings: PathSettings) -> Self {
        let materials = world.materials().iter();
        let materials = materials.map(|prepared| {
            let values = prepared.material().map(|parameter| parameter.value());
            values.prepared()
        });
        Self {
            world,
            materials: materials.collect(),
            settings,
        }
    }

    /// Traces random light paths from `ray` and calls `visit` with each return.
    pub fn trace(
        &self,
        ray: &LightRay<S>,
        stream: &mut Stream,
        scratch: &mut CastScratch,
        mut visit: impl FnMut(LightReturn<S>),
    ) {
        // Find the first surface, which all paths share.
        let values = ray.values();
        let first = self.world.scene().closest_hit(&values, scratch);
        let mut receiver = PathReceiver {
            scratch,
            world: self.world,
            position: ray.origin,
            axis: values.direction,
            least_cos: self.settings.receiver_half_angle.cos(),
            most_sheets: self.settings.max_depth,
        };
        // Trace the paths.
        for _ in 0..self.settings.paths {
            let path = Path {
                light: Branch::new(ray),
                weight: S::from(1.0 / f64::from(self.settings.paths)),
                scatterings: 0,
                is_straight: true,
            };
            self.trace_path(&mut receiver, path, values, first, stream, &mut visit);
        }
    }

    /// Traces one path from the first hit of its first ray.
    fn trace_path(
        &self,
        receiver: &mut PathReceiver<S>,
        mut path: Path<S>,
        mut ray: Ray,
        mut hit: Option<Hit>,
        stream: &mut Stream,
        visit: &mut impl FnMut(LightReturn<S>),
    ) {
        let world = self.world;
        let mut scattered: Option<Scattered<S>> = None;
        while let Some(surface_hit) = hit {
            // Fix the point to its object, with a direction that has derivatives.
            if let Some(scattered) = scattered.take() {
                path.attach(&scattered, world, &surface_hit, ray.time);
            }

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
            if path.light.depth >= self.settings.max_depth {
                return;
            }

            // Sample the next direction.
            let frame = surface.frame.map(Scalar::value);
            let incoming = frame.tr_mul(&-path.light.direction.map(Scalar::value));
            let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
            let material = &self.materials[interaction.surface.material.0 as usize];
            let Some(sample) = material.sample(&incoming, interaction.side, uniform) else {
                return;
            };
            let direction = (frame * sample.direction).normalize();
            if sample.is_delta {
                path.leave_specularly(&sample, &interaction, &direction);
            } else {
                scattered = Some(Scattered {
                    material: interaction.material,
                    side: interaction.side,
                    frame: surface.frame,
                    incoming: -path.light.direction,
                });
                path.scatter(&sample, &interaction, &direction);
            }

            // Terminate weak paths by Russian roulette.
            let floor = self.settings.roulette_below / f64::from(self.settings.paths);
            if path.weight.value() <= 0.0 || !path.survives(floor, stream) {
                return;
            }

            // Cast the next segment.
            ray = path.light.cast(world.scene(), &ray, &surface_hit);
            hit = world.scene().closest_hit(&ray, receiver.scratch);
        }
    }
}

/// Surface that scattered a path into a sampled direction.
struct Scattered<'w, S: Scalar> {
    material: &'w PreparedMaterial<S>,
    side: Side,
    /// Shading frame.
    frame: Matrix3<S>,
    /// Direction to where the light is from.
    incoming: Vector3<S>,
}

impl<S: Scalar> Scattered<'_, S> {
    /// Light that is scattered in a direction, per solid angle.
    fn towards(&self, direction: &Vector3<S>) -> S {
        let incoming = self.frame.tr_mul(&self.incoming);
        let outgoing = self.frame.tr_mul(direction);
        self.material.evaluate(&incoming, &outgoing, self.side) * outgoing.z.abs()
    }
}

/// State of a random light path.
#[derive(Clone, Copy)]
struct Path<S: Scalar> {
    /// Last segment. Its throughput is that of the specular prefix, which the return path shares.
    light: Branch<S>,
    /// Power over the probability density of the path.
    weight: S,
    /// Number of scattering surfaces.
    scatterings: u32,
    /// Whether all segments are on one line: then the reversed path is the connection to the sensor.
    is_straight: bool,
}

impl<S: Scalar> Path<S> {
    /// Extends the path to a surface.
    fn arrive(&mut self, interaction: &Interaction<S>) {
        let distance = interaction.surface.distance;
        self.weight *= (-self.light.medium.absorption * distance).exp();
        self.light = self.light.arrive(interaction);
    }

    /// Leaves a surface by mirror reflection or by transmission; `direction` without derivatives.
    fn leave_specularly(
        &mut self,
        sample: &BsdfSample,
        interaction: &Interaction<S>,
        direction: &Vector3<f64>,
    ) {
        let specular = interaction
            .material
            .specular(interaction.cos_incidence, interaction.side);
        let left = match (sample.passage, specular.transmitted) {
            (Some(_), Some(transmitted)) => self.light.transmit(interaction, &transmitted),
            _ => self.light.reflect(interaction, specular.reflected),
        };
        // The weight is the fraction of the power over the probability, which has no derivatives.
        let fraction = left.throughput / self.light.throughput;
        self.weight *= S::with_derivatives_of(sample.weight, || {
            fraction * (sample.weight / fraction.value())
        });
        self.is_straight &= matches!(sample.passage, Some(Passage::Sheet { .. }));
        self.light = Branch {
            direction: direction.zip_map(&left.direction, |value, attached| {
                S::with_derivatives_of(value, || attached)
            }),
            ..left
        };
    }

    /// Leaves a surface in a scattered direction.
    fn scatter(
        &mut self,
        sample: &BsdfSample,
        interaction: &Interaction<S>,
        direction: &Vector3<f64>,
    ) {
        self.weight *= sample.weight;
        self.light.direction = direction.map(S::from);
        if sample.passage.is_some() {
            match interaction.material.scattered_passage(interaction.side) {
                Some(Passage::Sheet { extra_path }) => self.light.optical_range += extra_path,
                Some(Passage::Interface { medium, .. }) => self.light.medium = medium,
                None => {}
            }
        }
        self.scatterings += 1;
    }

    /// Adds the derivatives of a scattered segment that ends at a hit, with the hit point fixed to its object: those of the
    /// direction, and those of the light $f\cos\theta_o\cos\theta/d^2$ that arrives per area. Where the hit surface
    /// scatters nothing, the direction is constant, and the light is that per solid angle.
    fn attach(&mut self, scattered: &Scattered<S>, world: &World<S>, hit: &Hit, time: f64) {
        let ends_at_scatterer = !world
            .material(world.scene().material_of(hit))
            .is_delta_only();
        let origin = self.light.origin;
        let straight = self.light.direction;
        let target = || {
            let point = origin.map(Scalar::value) + straight.map(Scalar::value) * hit.distance;
            world.attached_point(hit, &point, time)
        };
        // Turn the direction to the point.
        if ends_at_scatterer {
            self.light.direction = straight.map_with_location(|axis, _, value| {
                S::with_derivatives_of(value.value(), || (target() - origin).normalize()[axis])
            });
        }
        // Multiply the weight by the light over its value.
        let direction = self.light.direction;
        self.weight *= S::with_derivatives_of(1.0, || {
            let mut light = scattered.towards(&direction);
            if ends_at_scatterer {
                let interaction = world.interaction(hit, &origin, &direction, time);
                let distance = interaction.surface.distance;
                light *= interaction.cos_incidence / (distance * distance);
            }
            light / light.value()
        });
    }

    /// Russian roulette below a weight of `floor`.
    fn survives(&mut self, floor: f64, stream: &mut Stream) -> bool {
        let weight = self.weight;
        if weight.value() >= floor {
            return true;
        }
        let survives = stream.uniform() * floor < weight.value();
        self.weight = S::with_derivatives_of(floor, || weight * (floor / weight.value()));
        survives
    }
}

/// Surface that a path arrived at.
struct Surface<'s, 'w, S: Scalar> {
    interaction: &'s Interaction<'w, S>,
    /// Shading frame.
    frame: Matrix3<S>,
    /// The ray that hit it.
    ray: &'s Ray,
    hit: &'s Hit,
}

/// Point receiver with an acceptance cone.
struct PathReceiver<'w, 'a, S: Scalar> {
    world: &'w World<'a, S>,
    /// Position in the world, m.
    position: Point3<S>,
    /// Unit vector of the optical axis, without derivatives.
    axis: Vector3<f64>,
    /// Cosine of the acceptance angle.
    least_cos: f64,
    /// Most thin sheets between a surface and the receiver.
    most_sheets: u32,
    scratch: &'w mut CastScratch,
}

impl<S: Scalar> PathReceiver<'_, '_, S> {
    /// Calls `visit` with the returns from the surface that `path` arrived at.
    fn collect(
        &mut self,
        path: &Path<S>,
        surface: &Surface<S>,
        visit: &mut impl FnMut(LightReturn<S>),
    ) {
        let interaction = surface.interaction;
        if interaction.material.is_delta_only() {
            return;
        }
        let light = &path.light;
        let back = LightReturn {
            range: light.range,
            optical_range: light.optical_range,
            power: S::zero(),
            throughput: path.weight,
            cos_incidence: interaction.cos_incidence,
            point: light.origin,
            arrival: light.direction,
            depth: light.depth,
            scatterings: path.scatterings + 1,
            hit: *surface.hit,
            material: interaction.surface.material,
        };
        let mut send = |returned: LightReturn<S>| {
            if returned.power.value() > 0.0 {
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
                range: (light.range + connection.length) * 0.5,
                optical_range: (light.optical_range + connection.optical_length) * 0.5,
                power: path.weight * connection.power,
                ..back
            });
        }
    }

    /// Direct connection of a surface to the receiver; none where no light passes.
    fn connect(&mut self, light: &Branch<S>, surface: &Surface<S>) -> Option<Connection<S>> {
        // Check the acceptance angle.
        let away = self.position - light.origin;
        let length = away.norm();
        let direction = away / length;
        let towards = direction.map(Scalar::value);
        if -towards.dot(&self.axis) < self.least_cos {
            return None;
        }

        // Evaluate the scattering towards the receiver.
        let interaction = surface.interaction;
        let incoming = surface.frame.tr_mul(&-light.direction);
        let outgoing = surface.frame.tr_mul(&direction);
        let scattered = interaction
            .material
            .evaluate(&incoming, &outgoing, interaction.side);
        if scattered.value() <= 0.0 {
            return None;
        }

        // Attenuate by what is in between.
        let segment = Ray {
            origin: light.origin.map(Scalar::value),
            direction: towards,
            near: self
                .world
                .scene()
                .spawn_near(surface.ray, surface.hit, &towards),
            far: length.value(),
            ..*surface.ray
        };
        let line = (light.origin, direction);
        let passed = transmission(self.world, segment, line, self.most_sheets, self.scratch)?;
        Some(Connection {
            length,
            optical_length: length + passed.extra_path,
            power: scattered * outgoing.z.abs() * passed.fraction / (length * length),
        })
    }
}

/// Straight connection of a surface to the receiver.
struct Connection<S> {
    /// Length, m.
    length: S,
    /// Optical length, m.
    optical_length: S,
    /// Power per unit of power that arrives at the surface, 1/m².
    power: S,
}
