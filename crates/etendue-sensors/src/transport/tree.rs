//! Ray trees: specular paths followed exactly, direct returns from diffuse and rough lobes.

use super::branch::Branch;
use super::light_ray::LightRay;
use super::world::{Interaction, World};
use etendue_physics::Scalar;
use etendue_scene::{CastScratch, Hit, MaterialId, Ray};
use nalgebra::{Point3, Vector3};
use std::ops::Mul;

/// Limits of a ray tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSettings {
    /// Maximum number of surfaces on a path, the one that returns light included.
    pub max_depth: u32,
    /// Least fraction of the ray's power in a branch that is followed. Returned power falls with its
    /// square.
    pub throughput_threshold: f64,
}

impl Default for TreeSettings {
    /// At most 5 surfaces and at least 1e-4 of the power.
    fn default() -> Self {
        Self {
            max_depth: 5,
            throughput_threshold: 1e-4,
        }
    }
}

/// Light that returns to the sensor from one surface.
#[derive(Clone, Copy, Debug)]
pub struct LightReturn<S: Scalar> {
    /// Length of the one-way path, m: half the length of the whole path.
    pub range: S,
    /// Length of the one-way optical path, m: the range measured by time of flight or phase. Inside glass
    /// the group index multiplies the length.
    pub optical_range: S,
    /// Received power per unit of emitted power and of receiver area, 1/m²:
    /// $\tau^2 f_r \cos\theta / R^2$ with $\tau$ the one-way throughput.
    pub power: S,
    /// Fraction of the ray's power that arrives at the surface, in [0, 1].
    pub throughput: S,
    /// Cosine of the incidence at the surface, in [0, 1].
    pub cos_incidence: S,
    /// Scattering point in the world, m.
    pub point: Point3<S>,
    /// Unit direction of the light that arrives at the surface.
    pub arrival: Vector3<S>,
    /// Number of surfaces on the path, this one included.
    pub depth: u32,
    /// Number of scattering surfaces on the path: 1 in a ray tree, 1 or more in path tracing.
    pub scatterings: u32,
    /// Hit on the surface.
    pub hit: Hit,
    /// Material of the surface.
    pub material: MaterialId,
}

/// Factor on the power of a return, by the number of its shot and its hit.
pub type ReturnFactor<'a, S> = dyn Fn(usize, &Hit) -> S + Sync + 'a;

/// Power balance of a ray tree: the parts of the emitted unit of power, which sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeAudit {
    /// Scattered (in part back to the sensor) or absorbed at surfaces.
    pub surfaces: f64,
    /// Absorbed inside glass.
    pub absorbed: f64,
    /// Escaped from the scene.
    pub escaped: f64,
    /// In branches beyond the maximum depth.
    pub truncated_by_depth: f64,
    /// In branches below the throughput threshold.
    pub truncated_by_threshold: f64,
    /// Number of hits.
    pub hits: u32,
}

impl TreeAudit {
    /// Sum of all parts: 1 up to rounding.
    pub fn total(&self) -> f64 {
        self.surfaces
            + self.absorbed
            + self.escaped
            + self.truncated_by_depth
            + self.truncated_by_threshold
    }
}

/// Traces the ray tree of `ray` and calls `visit` with each return: Whitted's ray tree with path
/// reversal.
///
/// At each surface the diffuse and rough lobes return light along the reversed path, and the specular
/// lobes spawn a reflected and a transmitted branch. An object in a mirror therefore appears at the total
/// path length $R$, with one inverse square:
/// $$P = \tau^2 f_r \frac{\cos\theta}{R^2}$$
/// per unit of emitted power and receiver area. Surfaces without a diffuse or rough lobe return
/// nothing. Light enters solid glass through the front sides of its triangles and leaves it through
/// their back sides, into air (glass within glass is left out).
///
/// Whitted (1980), "An improved illumination model for shaded display",
/// doi:10.1145/358876.358882.
pub fn trace_tree<S: Scalar>(
    world: &World<S>,
    ray: &LightRay<S>,
    settings: &TreeSettings,
    scratch: &mut CastScratch,
    visit: impl FnMut(LightReturn<S>),
) -> TreeAudit {
    let first = world.scene().closest_hit(&ray.values(), scratch);
    trace_tree_from(world, ray, first, settings, scratch, visit)
}

/// [`trace_tree`] with the first hit of the ray given, for example from
/// [`Scene::closest_hits`](etendue_scene::Scene::closest_hits).
#[inline]
pub fn trace_tree_from<S: Scalar>(
    world: &World<S>,
    ray: &LightRay<S>,
    first: Option<Hit>,
    settings: &TreeSettings,
    scratch: &mut CastScratch,
    mut visit: impl FnMut(LightReturn<S>),
) -> TreeAudit {
    let mut tree = Tree::new(world, settings, |_, light| visit(light));
    tree.extend(&ray.values(), first, Branch::new(ray));
    // Depth first, in the order in which branches were spawned.
    tree.next.reverse();
    while let Some((ray, branch)) = tree.next.pop() {
        let hit = world.scene().closest_hit(&ray, scratch);
        let before = tree.next.len();
        tree.extend(&ray, hit, branch);
        tree.next[before..].reverse();
    }
    tree.audit
}

/// [`trace_tree_from`] for many rays: `visit` gets the number of the ray with each return.
///
/// The returns are the same in another order. All rays of one depth are cast together, which is faster
/// for coherent rays.
pub fn trace_trees<S: Scalar>(
    world: &World<S>,
    rays: impl Iterator<Item = LightRay<S>>,
    first: &[Option<Hit>],
    settings: &TreeSettings,
    scratch: &mut CastScratch,
    visit: impl FnMut(usize, LightReturn<S>),
) -> TreeAudit {
    // Evaluate the first hits.
    let mut tree = Tree::new(world, settings, visit);
    let mut spawned: Vec<(usize, Branch<S>)> = Vec::new();
    let mut casts: Vec<Ray> = Vec::new();
    for (number, (ray, hit)) in rays.zip(first).enumerate() {
        tree.ray = number;
        tree.extend(&ray.values(), *hit, Branch::new(&ray));
        tree.append_branches_to(&mut casts, &mut spawned);
    }

    // Cast the spawned rays, one depth after the other.
    let mut hits = Vec::new();
    while !casts.is_empty() {
        world.scene().closest_hits(&casts, &mut hits, scratch);
        let rays = std::mem::take(&mut casts);
        let branches = std::mem::take(&mut spawned);
        for ((ray, hit), (number, branch)) in rays.iter().zip(&hits).zip(branches) {
            tree.ray = number;
            tree.extend(ray, *hit, branch);
            tree.append_branches_to(&mut casts, &mut spawned);
        }
    }
    tree.audit
}

/// Distance of the first surface on a ray, m.
pub(crate) fn first_distance<S: Scalar>(world: &World<S>, ray: &LightRay<S>, hit: &Hit) -> S {
    let branch = Branch::new(ray);
    let interaction = world.interaction(hit, &branch.origin, &branch.direction, ray.time);
    branch.arrive(&interaction).range
}

/// Return of the diffuse and rough lobes of a surface; none where it has none.
#[expect(
    clippy::inline_always,
    reason = "a call would write the return to memory, which takes longer than its evaluation"
)]
#[inline(always)]
fn direct_return<S: Scalar>(
    hit: &Hit,
    interaction: &Interaction<S>,
    arrived: &Branch<S>,
) -> Option<LightReturn<S>> {
    // Evaluate the backscatter.
    let scattered = interaction
        .material
        .backscatter(interaction.cos_incidence, interaction.side);
    if scattered.value() == 0.0 {
        return None;
    }
    // Weigh it by both passes of the light path.
    let one_way = arrived.throughput / arrived.range;
    Some(LightReturn {
        range: arrived.range,
        optical_range: arrived.optical_range,
        power: returned_power(one_way, scattered, interaction.cos_incidence),
        throughput: arrived.throughput,
        cos_incidence: interaction.cos_incidence,
        point: arrived.origin,
        arrival: arrived.direction,
        depth: arrived.depth,
        scatterings: 1,
        hit: *hit,
        material: interaction.surface.material,
    })
}

/// Returned power, 1/(m² sr): $P = (\tau / R)^2 f_r \cos\theta$ with `one_way` $\tau / R$ (1/m) and
/// `scattered` the backscatter $f_r$ (1/sr).
#[expect(clippy::inline_always, reason = "also one lane of a loop")]
#[inline(always)]
pub(super) fn returned_power<S: Copy + Mul<Output = S>>(
    one_way: S,
    scattered: S,
    cos_incidence: S,
) -> S {
    one_way * one_way * scattered * cos_incidence
}

/// Ray trees in progress.
struct Tree<'w, 'a, S: Scalar, F> {
    world: &'w World<'a, S>,
    settings: &'w TreeSettings,
    visit: F,
    audit: TreeAudit,
    /// Number of the current ray.
    ray: usize,
    /// Branches to be cast.
    next: Vec<(Ray, Branch<S>)>,
}

impl<'w, 'a, S: Scalar, F: FnMut(usize, LightReturn<S>)> Tree<'w, 'a, S, F> {
    fn new(world: &'w World<'a, S>, settings: &'w TreeSettings, visit: F) -> Self {
        Self {
            world,
            settings,
            visit,
            audit: TreeAudit::default(),
            ray: 0,
            next: Vec::new(),
        }
    }

    /// Appends the branches to be cast to lists of rays and of their branches.
    fn append_branches_to(&mut self, casts: &mut Vec<Ray>, spawned: &mut Vec<(usize, Branch<S>)>) {
        for (ray, branch) in self.next.drain(..) {
            casts.push(ray);
            spawned.push((self.ray, branch));
        }
    }

    /// Extends a branch, cast as `ray`, to its hit: returns light and spawns branches there.
    #[inline]
    fn extend(&mut self, ray: &Ray, hit: Option<Hit>, branch: Branch<S>) {
        let Some(hit) = hit else {
            self.audit.escaped += branch.throughput.value();
            return;
        };
        let interaction = self
            .world
            .interaction(&hit, &branch.origin, &branch.direction, ray.time);
        let arrived = branch.arrive(&interaction);
        self.audit.hits += 1;
        self.audit.absorbed += (branch.throughput - arrived.throughput).value();
        if let Some(light) = direct_return(&hit, &interaction, &arrived) {
            (self.visit)(self.ray, light);
        }
        self.split(ray, &hit, &interaction, &arrived);
    }

    /// Spawns the branches of the specular lobes.
    #[inline]
    fn split(&mut self, ray: &Ray, hit: &Hit, interaction: &Interaction<S>, arrived: &Branch<S>) {
        let specular = interaction
            .material
            .specular(interaction.cos_incidence, interaction.side);
        let mut passed_on = 0.0;
        if specular.reflected.value() > 0.0 {
            let reflected = arrived.reflect(interaction, specular.reflected);
            passed_on = reflected.throughput.value();
            self.spawn(ray, hit, reflected);
        }
        if let Some(transmitted) = specular.transmitted {
            let transmitted = arrived.transmit(interaction, &transmitted);
            passed_on += transmitted.throughput.value();
            self.spawn(ray, hit, transmitted);
        }
        self.audit.surfaces += arrived.throughput.value() - passed_on;
    }

    /// Adds a branch that leaves the surface hit by `ray`, within the limits of the tree.
    fn spawn(&mut self, ray: &Ray, hit: &Hit, branch: Branch<S>) {
        let throughput = branch.throughput.value();
        if throughput <= 0.0 {
            return;
        }
        if branch.depth >= self.settings.max_depth {
            self.audit.truncated_by_depth += throughput;
            return;
        }
        if throughput < self.settings.throughput_threshold {
            self.audit.truncated_by_threshold += throughput;
            return;
        }
        let next = branch.cast(self.world.scene(), ray, hit);
        self.next.push((next, branch));
    }
}
