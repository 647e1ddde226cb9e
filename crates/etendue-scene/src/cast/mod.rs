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
use best::{Best, Exact, LocalRay, Nearest};
use lanes::{Chosen, Float, Job, Lanes, Mask, run};
pub use lanes::{Isa, UnknownIsa};
use nalgebra::Isometry3;
use nalgebra::{Point3, Vector3};
use packet::{Beams, Packet};
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
    isa: Chosen,
    trees: Vec<Arc<MeshTree>>,
    instances: Vec<Instance>,
}

#[derive(Clone)]
struct Instance {
    object_from_world: Isometry3<f64>,
    mesh: usize,
    mask: u32,
}

/// What searches need to write to.
struct Scratch {
    stack: Vec<Entry>,
    packet: Packet,
    best: Best,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = const {
        RefCell::new(Scratch {
            stack: Vec::new(),
            packet: Packet::NONE,
            best: Best::CLOSED,
        })
    };
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
            isa: Chosen::new(Isa::detect()),
            trees: meshes
                .iter()
                .map(|mesh| Arc::new(MeshTree::new(mesh)))
                .collect(),
            instances,
        }
    }

    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = Chosen::new(isa);
    }

    pub fn closest(&self, meshes: &[Arc<Mesh>], ray: &Ray) -> Option<Hit> {
        SCRATCH.with_borrow_mut(|scratch| {
            run(
                self.isa,
                Closest {
                    caster: self,
                    meshes,
                    ray,
                    scratch,
                },
            )
        })
    }

    pub fn closest_packet(&self, meshes: &[Arc<Mesh>], rays: &RayPacket, hits: &mut HitPacket) {
        SCRATCH.with_borrow_mut(|scratch| {
            run(
                self.isa,
                ClosestPacket {
                    caster: self,
                    meshes,
                    rays,
                    hits,
                    scratch,
                },
            );
        });
    }
}

struct Closest<'a> {
    caster: &'a Caster,
    meshes: &'a [Arc<Mesh>],
    ray: &'a Ray,
    scratch: &'a mut Scratch,
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
            if let Some((triangle, meeting)) =
                closest_in::<L>(tree, mesh, &ray, &mut self.scratch.stack)
            {
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
        rays: ray,
        lane: 0,
        best: Nearest::none(single.far_depth(ray)),
    };
    single.search::<L, LocalRay, false>(&mut errand, tree.root, stack);
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
    scratch: &'a mut Scratch,
}

impl Job for ClosestPacket<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let instance = &self.caster.instances[0];
        let tree = &self.caster.trees[instance.mesh];
        let mesh = &self.meshes[instance.mesh];
        let centre = [
            self.rays.origin[0][0] - tree.middle.x as f32,
            self.rays.origin[1][0] - tree.middle.y as f32,
            self.rays.origin[2][0] - tree.middle.z as f32,
        ];
        let x = L::F16::load(&self.rays.origin[0]).sub(L::F16::splat(self.rays.origin[0][0]));
        let y = L::F16::load(&self.rays.origin[1]).sub(L::F16::splat(self.rays.origin[1][0]));
        let z = L::F16::load(&self.rays.origin[2]).sub(L::F16::splat(self.rays.origin[2][0]));
        let spread = x.abs().max(y.abs()).max(z.abs());
        let beams = Beams {
            origin: [x.array(), y.array(), z.array()],
            direction: self.rays.direction,
            near: self.rays.near,
            far: self.rays.far,
            together: spread.le(L::F16::splat(0.0)).bits() == 0xffff,
        };
        let Scratch {
            stack,
            packet,
            best,
        } = self.scratch;
        if packet.take::<L>(&beams, centre, tree, best) {
            let mut search = Search {
                tree,
                mesh,
                rays: self.rays,
                packet,
                best,
                stack,
            };
            search.run::<L, false>();
            for lane in 0..16 {
                let triangle = best.triangle(lane);
                self.hits.triangle[lane] = triangle;
                self.hits.object[lane] = if triangle == NO_TRIANGLE { u32::MAX } else { 0 };
            }
            let depth = L::F16::load(&best.low)
                .add(L::F16::load(&best.high))
                .mul(L::F16::splat(0.5));
            let distance = depth
                .sub(L::F16::load(&packet.shift))
                .div(L::F16::load(&packet.scale));
            distance.store(&mut self.hits.distance);
            self.hits.barycentric = best.weights;
        }
    }
}

impl Exact for RayPacket {
    fn ray(&self, lane: usize) -> LocalRay {
        LocalRay {
            origin: Point3::from(self.origin.map(|axis| f64::from(axis[lane]))),
            direction: Vector3::from(self.direction.map(|axis| f64::from(axis[lane]))),
            near: f64::from(self.near[lane]),
            far: f64::from(self.far[lane]),
            far_included: true,
        }
    }
}

impl std::fmt::Debug for Caster {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Caster")
            .field("isa", &self.isa.isa())
            .field("instances", &self.instances.len())
            .finish_non_exhaustive()
    }
}
