//! What does a ray meet first.
//!
//! The answer is defined by the watertight test in `f64` over all triangles, ties going to the
//! lowest object and then the lowest triangle. Everything else only leaves out triangles that
//! cannot be the answer, with bounds on the rounding of `f32`: the answer depends neither on the
//! tree nor on packets, instruction sets, threads or the order of the search.
#![expect(
    clippy::cast_possible_truncation,
    reason = "f32 bounds are rounded outwards on purpose, and counts are checked to fit u32"
)]
#![expect(
    clippy::inline_always,
    reason = "kernels must land in a function compiled for the instruction set"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes of several arrays become vector instructions"
)]

mod best;
mod build;
mod edges;
mod lanes;
mod packet;
mod raw;
mod single;
mod sixteen;
mod spawn;
mod tree;
mod triangle;

use crate::{Hit, Mesh, Object, ObjectId, Ray};
use best::{LocalRay, LocalRays, Nearest};
pub use lanes::{Isa, UnknownIsa};
use lanes::{Job, Lanes, run};
use nalgebra::Isometry3;
use packet::Packet;
pub use raw::{HitPacket, RayPacket};
use single::{Errand, Single};
use sixteen::{Entry, Search};
pub(crate) use spawn::spawn_near;
use std::cell::RefCell;
use std::sync::Arc;
use tree::{MeshTree, NO_TRIANGLE};
use triangle::Meeting;

/// A scene's objects, prepared for rays.
#[derive(Clone)]
pub(crate) struct Caster {
    isa: Isa,
    trees: Vec<Arc<MeshTree>>,
    instances: Vec<Instance>,
}

#[derive(Clone)]
struct Instance {
    object_from_world: Isometry3<f64>,
    mesh: usize,
    mask: u32,
}

thread_local! {
    /// The search's stack, kept between rays.
    static STACK: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

impl Caster {
    /// Meshes must have been checked and every object's mesh must exist.
    pub fn new(meshes: &[Arc<Mesh>], objects: &[Object]) -> Self {
        let instances = objects
            .iter()
            .map(|object| Instance {
                object_from_world: object.world_from_object.inverse(),
                mesh: object.mesh.0 as usize,
                mask: object.mask,
            })
            .collect();
        Self {
            isa: Isa::detect(),
            trees: meshes
                .iter()
                .map(|mesh| Arc::new(MeshTree::new(mesh)))
                .collect(),
            instances,
        }
    }

    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = isa;
    }

    pub fn closest(&self, meshes: &[Arc<Mesh>], ray: &Ray) -> Option<Hit> {
        STACK.with_borrow_mut(|stack| {
            run(
                self.isa,
                Closest {
                    caster: self,
                    meshes,
                    ray,
                    stack,
                },
            )
        })
    }

    pub fn closest_packet(&self, meshes: &[Arc<Mesh>], rays: &RayPacket, hits: &mut HitPacket) {
        STACK.with_borrow_mut(|stack| {
            run(
                self.isa,
                ClosestPacket {
                    caster: self,
                    meshes,
                    rays,
                    hits,
                    stack,
                },
            );
        });
    }
}

struct Closest<'a> {
    caster: &'a Caster,
    meshes: &'a [Arc<Mesh>],
    ray: &'a Ray,
    stack: &'a mut Vec<Entry>,
}

impl Job for Closest<'_> {
    type Output = Option<Hit>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        for (number, instance) in self.caster.instances.iter().enumerate() {
            if instance.mask & self.ray.mask == 0 {
                continue;
            }
            let ray = LocalRay {
                origin: instance.object_from_world * self.ray.origin,
                direction: instance.object_from_world * self.ray.direction,
                near: self.ray.near,
                far: best.map_or(self.ray.far, |hit| hit.distance),
                far_included: best.is_none(),
            };
            let tree = &self.caster.trees[instance.mesh];
            let mesh = &self.meshes[instance.mesh];
            if let Some((triangle, meeting)) = closest_in::<L>(tree, mesh, &ray, self.stack) {
                best = Some(Hit {
                    distance: meeting.distance,
                    object: ObjectId(number as u32),
                    triangle,
                    barycentric: meeting.barycentric,
                });
            }
        }
        best
    }
}

#[inline(always)]
fn closest_in<L: Lanes>(
    tree: &MeshTree,
    mesh: &Mesh,
    ray: &LocalRay,
    stack: &mut Vec<Entry>,
) -> Option<(u32, Meeting)> {
    let single = Single::new(ray, tree);
    if stack.len() < tree.stack_need {
        stack.resize(tree.stack_need, Entry::default());
    }
    let mut errand = Errand {
        tree,
        mesh,
        ray,
        best: Nearest::none(single.depth(ray.far)),
    };
    single.search::<L, false>(&mut errand, tree.root, stack);
    let triangle = errand.best.triangle;
    if triangle == NO_TRIANGLE {
        return None;
    }
    Some((triangle, ray.meet(mesh, triangle)?))
}

struct ClosestPacket<'a> {
    caster: &'a Caster,
    meshes: &'a [Arc<Mesh>],
    rays: &'a RayPacket,
    hits: &'a mut HitPacket,
    stack: &'a mut Vec<Entry>,
}

impl Job for ClosestPacket<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        *self.hits = HitPacket::default();
        let instance = &self.caster.instances[0];
        let tree = &self.caster.trees[instance.mesh];
        let mesh = &self.meshes[instance.mesh];
        let rays = LocalRays {
            origin: self.rays.origin.map(|axis| axis.map(f64::from)),
            direction: self.rays.direction.map(|axis| axis.map(f64::from)),
            near: self.rays.near.map(f64::from),
            far: self.rays.far.map(f64::from),
            far_included: u32::MAX,
            active: 0xffff,
        };
        if let Some((packet, mut best)) = Packet::new(&rays, tree) {
            let mut search = Search {
                tree,
                mesh,
                rays: &rays,
                packet: &packet,
                best: &mut best,
                stack: self.stack,
            };
            search.run::<L, false>();
            for lane in 0..16 {
                if best.triangle(lane) != NO_TRIANGLE {
                    let depth = 0.5 * (best.low[lane] + best.high[lane]);
                    self.hits.distance[lane] =
                        ((f64::from(depth) - packet.shift[lane]) / packet.scale[lane]) as f32;
                    self.hits.object[lane] = 0;
                    self.hits.triangle[lane] = best.triangle(lane);
                    self.hits.barycentric[0][lane] = best.weights[0][lane];
                    self.hits.barycentric[1][lane] = best.weights[1][lane];
                }
            }
        }
    }
}

impl std::fmt::Debug for Caster {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Caster")
            .field("isa", &self.isa)
            .field("instances", &self.instances.len())
            .finish_non_exhaustive()
    }
}
