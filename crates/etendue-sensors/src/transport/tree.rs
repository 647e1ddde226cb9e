//! The ray tree: mirrors and glass followed exactly, diffuse light straight back.

use super::branch::Branch;
use super::world::Meeting;
use super::{LightRay, World};
use etendue_physics::Scalar;
use etendue_scene::{Hit, MaterialId, Ray};
use nalgebra::{Point3, Vector3};
use std::ops::Mul;

/// Where a ray tree ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSettings {
    /// Most surfaces on a path, the one that scatters light back included.
    pub max_depth: u32,
    /// Branches with less than this fraction of the ray's power are not followed. What comes back
    /// falls with its square.
    pub throughput_threshold: f64,
}

impl Default for TreeSettings {
    fn default() -> Self {
        Self {
            max_depth: 5,
            throughput_threshold: 1e-4,
        }
    }
}

/// Light that came back to the sensor from one surface.
#[derive(Clone, Copy, Debug)]
pub struct LightReturn<S: Scalar> {
    /// Length of the one-way path, m; where way out and way back differ, their mean.
    pub range: S,
    /// Length of the one-way optical path, m: inside glass the group index multiplies the length.
    /// This is the range that time of flight or phase tells.
    pub optical_range: S,
    /// Received power per unit of emitted power and of receiver area, 1/m²:
    /// $\tau^2 f_r \cos\theta / R^2$ with $\tau$ the one-way throughput.
    pub power: S,
    /// Fraction of the ray's power that arrives at the surface.
    pub throughput: S,
    /// Cosine of the incidence at the surface, in [0, 1].
    pub cos_incidence: S,
    /// Where the light was scattered, in the world, m.
    pub point: Point3<S>,
    /// Unit direction in which it arrived there.
    pub arrival: Vector3<S>,
    /// How many surfaces the path met, this one included.
    pub depth: u32,
    /// How many of them scattered it: 1 in a ray tree, more in path tracing.
    pub scatterings: u32,
    /// The surface.
    pub hit: Hit,
    /// Its material.
    pub material: MaterialId,
}

/// What the power of a return is multiplied by: of the number of the beam or shot and of the hit.
pub type Factor<'a, S> = dyn Fn(usize, &Hit) -> S + Sync + 'a;

/// Where the ray's unit of power went on its way out: the parts sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeAudit {
    /// To the surfaces met: scattered there (some of it back to the sensor) or absorbed.
    pub surfaces: f64,
    /// Absorbed inside glass.
    pub absorbed: f64,
    /// To where there is nothing.
    pub escaped: f64,
    /// In branches beyond the greatest depth.
    pub cut_by_depth: f64,
    /// In branches below the throughput threshold.
    pub cut_by_threshold: f64,
    /// How many surfaces were met.
    pub hits: u32,
}

impl TreeAudit {
    /// The sum of all parts: 1 but for rounding.
    pub fn total(&self) -> f64 {
        self.surfaces + self.absorbed + self.escaped + self.cut_by_depth + self.cut_by_threshold
    }
}

/// Follows `ray` through `world` and hands every return to `visit`: Whitted's ray tree with path
/// reversal.
///
/// At each surface the diffuse and rough lobes send light straight back the way it came, and the
/// mirror-like lobes spawn a reflected and a transmitted branch. A mirror therefore shows the
/// object behind it at the total path length $R$, with one inverse square:
/// $$P = \tau^2 f_r \frac{\cos\theta}{R^2}$$
/// per unit of emitted power and receiver area. Surfaces without a diffuse or rough lobe return
/// nothing. Solid glass is entered through fronts and left through backs of its triangles; what
/// is behind any back is air (glass in glass is left out).
///
/// Whitted (1980), "An improved illumination model for shaded display",
/// doi:10.1145/358876.358882.
pub fn trace_tree<S: Scalar>(
    world: &World<S>,
    ray: &LightRay<S>,
    settings: &TreeSettings,
    visit: impl FnMut(LightReturn<S>),
) -> TreeAudit {
    let first = world.scene().closest_hit(&ray.values());
    trace_tree_from(world, ray, first, settings, visit)
}

/// [`trace_tree`] where the ray's first hit is known already, from
/// [`Scene::closest_hits`](etendue_scene::Scene::closest_hits).
#[inline]
pub fn trace_tree_from<S: Scalar>(
    world: &World<S>,
    ray: &LightRay<S>,
    first: Option<Hit>,
    settings: &TreeSettings,
    mut visit: impl FnMut(LightReturn<S>),
) -> TreeAudit {
    let mut tree = Tree::new(world, settings, |_, back| visit(back));
    tree.meet(&ray.values(), first, Branch::new(ray));
    while let Some((ray, branch)) = tree.next.pop() {
        let hit = world.scene().closest_hit(&ray);
        let before = tree.next.len();
        tree.meet(&ray, hit, branch);
        // The first that was spawned is followed first.
        tree.next[before..].reverse();
    }
    tree.audit
}

/// [`trace_tree_from`] of many rays, with the number of the ray before each return: the same
/// returns in another order. All rays that mirrors and glass spawned at one depth are cast
/// together, which is faster for rays that are neighbours.
pub fn trace_trees<S: Scalar>(
    world: &World<S>,
    rays: impl Iterator<Item = LightRay<S>>,
    first: &[Option<Hit>],
    settings: &TreeSettings,
    visit: impl FnMut(usize, LightReturn<S>),
) -> TreeAudit {
    let mut tree = Tree::new(world, settings, visit);
    let mut spawned: Vec<(usize, Branch<S>)> = Vec::new();
    let mut casts: Vec<Ray> = Vec::new();
    for (number, (ray, hit)) in rays.zip(first).enumerate() {
        tree.ray = number;
        tree.meet(&ray.values(), *hit, Branch::new(&ray));
        tree.move_to(&mut casts, &mut spawned);
    }
    let mut hits = Vec::new();
    while !casts.is_empty() {
        world.scene().closest_hits(&casts, &mut hits);
        let (before, branches) = (std::mem::take(&mut casts), std::mem::take(&mut spawned));
        for ((ray, hit), (number, branch)) in before.iter().zip(&hits).zip(branches) {
            tree.ray = number;
            tree.meet(ray, *hit, branch);
            tree.move_to(&mut casts, &mut spawned);
        }
    }
    tree.audit
}

/// How far the first surface of a ray is, m.
pub(crate) fn first_distance<S: Scalar>(world: &World<S>, ray: &LightRay<S>, hit: &Hit) -> S {
    let branch = Branch::new(ray);
    let meeting = world.meet(hit, &branch.origin, &branch.direction, ray.time);
    branch.arrive(&meeting).range
}

/// What the diffuse and rough lobes of a surface send back, if there are any.
#[expect(
    clippy::inline_always,
    reason = "returned by memory, a return takes longer than made"
)]
#[inline(always)]
fn sent_back<S: Scalar>(
    hit: &Hit,
    meeting: &Meeting<S>,
    arrived: &Branch<S>,
) -> Option<LightReturn<S>> {
    let scattered = meeting
        .material
        .backscatter(meeting.cos_incidence, meeting.side);
    if scattered.value() == 0.0 {
        return None;
    }
    let one_way = arrived.throughput / arrived.range;
    Some(LightReturn {
        range: arrived.range,
        optical_range: arrived.optical_range,
        power: power_back(one_way, scattered, meeting.cos_incidence),
        throughput: arrived.throughput,
        cos_incidence: meeting.cos_incidence,
        point: arrived.origin,
        arrival: arrived.direction,
        depth: arrived.depth,
        scatterings: 1,
        hit: *hit,
        material: meeting.surface.material,
    })
}

/// Power that comes back from a surface, 1/(m² sr): what reaches it, the square root of it over the
/// range being `one_way`, times what it scatters back (1/sr).
#[expect(clippy::inline_always, reason = "also one lane of a loop")]
#[inline(always)]
pub(super) fn power_back<S: Copy + Mul<Output = S>>(
    one_way: S,
    scattered: S,
    cos_incidence: S,
) -> S {
    one_way * one_way * scattered * cos_incidence
}

struct Tree<'w, 'a, S: Scalar, F> {
    world: &'w World<'a, S>,
    settings: &'w TreeSettings,
    visit: F,
    audit: TreeAudit,
    /// Number of the ray that is followed.
    ray: usize,
    /// Branches that are still to be cast.
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

    /// Hands over the branches to be cast.
    fn move_to(&mut self, casts: &mut Vec<Ray>, spawned: &mut Vec<(usize, Branch<S>)>) {
        for (ray, branch) in self.next.drain(..) {
            casts.push(ray);
            spawned.push((self.ray, branch));
        }
    }

    /// Takes a branch, cast as `ray`, to the surface it hits and on from there.
    #[inline]
    fn meet(&mut self, ray: &Ray, hit: Option<Hit>, branch: Branch<S>) {
        let Some(hit) = hit else {
            self.audit.escaped += branch.throughput.value();
            return;
        };
        let meeting = self
            .world
            .meet(&hit, &branch.origin, &branch.direction, ray.time);
        let arrived = branch.arrive(&meeting);
        self.audit.hits += 1;
        self.audit.absorbed += (branch.throughput - arrived.throughput).value();
        self.send_back(&hit, &meeting, &arrived);
        self.split(ray, &hit, &meeting, &arrived);
    }

    /// The diffuse and rough lobes' return.
    #[inline]
    fn send_back(&mut self, hit: &Hit, meeting: &Meeting<S>, arrived: &Branch<S>) {
        if let Some(back) = sent_back(hit, meeting, arrived) {
            (self.visit)(self.ray, back);
        }
    }

    /// The mirror-like lobes' branches.
    #[inline]
    fn split(&mut self, ray: &Ray, hit: &Hit, meeting: &Meeting<S>, arrived: &Branch<S>) {
        let specular = meeting
            .material
            .specular(meeting.cos_incidence, meeting.side);
        let mut passed_on = 0.0;
        if specular.reflected.value() > 0.0 {
            let reflected = arrived.reflect(meeting, specular.reflected);
            passed_on = reflected.throughput.value();
            self.spawn(ray, hit, reflected);
        }
        if let Some(transmitted) = specular.transmitted {
            let transmitted = arrived.transmit(meeting, &transmitted);
            passed_on += transmitted.throughput.value();
            self.spawn(ray, hit, transmitted);
        }
        self.audit.surfaces += arrived.throughput.value() - passed_on;
    }

    /// Keeps a branch that leaves the surface that `ray` hit, if it is worth casting.
    fn spawn(&mut self, ray: &Ray, hit: &Hit, branch: Branch<S>) {
        let throughput = branch.throughput.value();
        if throughput <= 0.0 {
            return;
        }
        if branch.depth >= self.settings.max_depth {
            self.audit.cut_by_depth += throughput;
            return;
        }
        if throughput < self.settings.throughput_threshold {
            self.audit.cut_by_threshold += throughput;
            return;
        }
        let next = branch.cast(self.world.scene(), ray, hit);
        self.next.push((next, branch));
    }
}
