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
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch, which keeps lanes out of vector instructions"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes of several arrays become vector instructions"
)]

mod batch;
mod best;
mod block;
mod build;
mod edges;
mod face;
mod flags;
mod instance;
mod known;
mod lanes;
mod local;
mod outwards;
mod packed;
mod packet;
mod raw;
mod refit;
mod search;
mod several;
mod single;
mod sixteen;
mod spawn;
mod tile;
mod tiles;
mod top;
mod tree;
mod triangle;
mod wedge;

use crate::motion::Trajectory;
use crate::{Hit, Mesh, Object, ObjectId, Ray};
use batch::{Casting, Piece, Supplied, Tiles, Work};
use best::{Best, Exact, LocalRay, Nearest};
use block::Block;
use edges::Edges;
use face::Met;
pub(crate) use face::{flat_normal, turned};
use instance::{Instance, Pose};
use known::{Faces, Known};
use lanes::{Chosen, Float, Job, Lanes, Mask, Plainly, run};
pub use lanes::{Isa, Loops, UnknownIsa, fetch};
use local::LocalRays;
use nalgebra::{Isometry3, Point3, Vector3};
use packet::{Beams, Packet};
pub use raw::{HitPacket, RayPacket};
use rayon::prelude::*;
use search::{Entry, GROUP, Search};
use several::Several;
use single::{Errand, Single};
pub(crate) use spawn::spawn_near;
use std::cell::RefCell;
use std::sync::Arc;
pub use tile::{HitTile, RayTile};
pub(crate) use tiles::Tiling;
pub use tiles::tile_order;
use top::{Bundle, Candidate, Movers, Top};
use tree::{MeshTree, NO_TRIANGLE};
use triangle::Corners;

/// A scene's objects, prepared for rays.
#[derive(Clone)]
pub(crate) struct Caster {
    isa: Chosen,
    trees: Vec<Arc<MeshTree>>,
    instances: Vec<Instance>,
    top: Top,
}

/// Tiles in one piece of work.
const PIECE: usize = 128;

/// What searches need to write to.
struct Scratch {
    stack: Vec<Entry>,
    candidates: Vec<Candidate>,
    local: [LocalRays; GROUP],
    beams: Beams,
    packet: [Packet; GROUP],
    best: [Best; GROUP],
    corners: Corners,
    known: Known,
    room: Block,
    edges: Edges,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = const {
        RefCell::new(Scratch {
            stack: Vec::new(),
            candidates: Vec::new(),
            local: [LocalRays::NONE; GROUP],
            beams: Beams::NONE,
            packet: [Packet::NONE; GROUP],
            best: [Best::CLOSED; GROUP],
            corners: Corners::NONE,
            known: Known::NONE,
            room: Block::EMPTY,
            edges: Edges::NONE,
        })
    };
}

impl Caster {
    /// Meshes must have been checked and every object's mesh must exist.
    pub fn new(
        meshes: &[Arc<Mesh>],
        objects: &[Object],
        motions: Vec<(ObjectId, Trajectory)>,
    ) -> Self {
        let trees: Vec<Arc<MeshTree>> = meshes
            .par_iter()
            .map(|mesh| Arc::new(MeshTree::new(mesh)))
            .collect();
        let mut instances: Vec<Instance> = objects
            .iter()
            .map(|object| Instance::new(object, &trees[object.mesh.0 as usize]))
            .collect();
        for (object, motion) in motions {
            instances[object.0 as usize].pose = Pose::Moving(motion);
        }
        Self {
            isa: Chosen::new(Isa::detect()),
            top: Top::new(&instances),
            trees,
            instances,
        }
    }

    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = Chosen::new(isa);
    }

    pub fn isa(&self) -> Isa {
        self.isa.isa()
    }

    pub fn vectorised<W: Loops>(&self, work: W) -> W::Output {
        run(self.isa, Plainly(work))
    }

    pub fn world_from_object(&self, object: ObjectId, time: f64) -> Isometry3<f64> {
        self.instances[object.0 as usize].world_from_object(time)
    }

    pub fn motion(&self, object: ObjectId) -> Option<&Trajectory> {
        self.instances[object.0 as usize].motion()
    }

    /// Places objects anew, for good.
    pub fn set_poses(&mut self, poses: &[(ObjectId, Isometry3<f64>)]) {
        for (object, pose) in poses {
            self.instances[object.0 as usize].pose = Pose::still(*pose);
        }
        self.top = Top::new(&self.instances);
    }

    /// Follows a mesh whose vertices moved, with the tree's shape kept, or built anew.
    pub fn follow(&mut self, number: usize, mesh: &Mesh, objects: &[Object], anew: bool) {
        if anew {
            self.trees[number] = Arc::new(MeshTree::new(mesh));
        } else {
            Arc::make_mut(&mut self.trees[number]).refit(mesh);
        }
        for (instance, object) in self.instances.iter_mut().zip(objects) {
            if instance.mesh == number {
                instance.set_local(&self.trees[number]);
                debug_assert_eq!(object.mesh.0 as usize, number);
            }
        }
        self.top = Top::new(&self.instances);
    }

    /// Packs all leaves.
    pub fn pack(&mut self, meshes: &[Arc<Mesh>]) {
        let packed = |mesh: &Arc<Mesh>| Arc::new(MeshTree::build(mesh, |_| true));
        self.trees = meshes.par_iter().map(packed).collect();
    }

    /// Bytes of the trees.
    pub fn bytes(&self) -> usize {
        self.trees.iter().map(|tree| tree.bytes()).sum()
    }

    pub fn closest(&self, meshes: &[Arc<Mesh>], ray: &Ray) -> Option<Hit> {
        let met = self.one::<false>(meshes, ray)?;
        let instance = &self.instances[met.object.0 as usize];
        let normal = instance.normal(&meshes[instance.mesh], met.triangle, ray.time);
        Some(met.hit(normal))
    }

    pub fn occluded(&self, meshes: &[Arc<Mesh>], ray: &Ray) -> bool {
        self.one::<true>(meshes, ray).is_some()
    }

    fn one<const ANY: bool>(&self, meshes: &[Arc<Mesh>], ray: &Ray) -> Option<Met> {
        let movers = self.top.movers(&self.instances, || [ray.time; 2]);
        SCRATCH.with_borrow_mut(|scratch| {
            let job = One::<ANY> {
                caster: self,
                movers: &movers,
                meshes,
                ray,
                scratch,
            };
            run(self.isa, job)
        })
    }

    /// The nearest hits (with `ANY`, some hit) of all rays, on all threads of the pool.
    pub fn many<const ANY: bool>(
        &self,
        meshes: &[Arc<Mesh>],
        (tiling, rays): (Tiling, &[Ray]),
        hits: &mut Vec<Option<Hit>>,
    ) {
        hits.clear();
        hits.resize(rays.len(), None);
        if rays.is_empty() {
            return;
        }
        let piece = tiling.piece();
        let trace = |(rays, hits): (&[Ray], &mut [Option<Hit>])| {
            let work = Piece::<ANY> { rays, tiling, hits };
            self.cast(meshes, || span(rays), work);
        };
        if rays.len() <= piece {
            trace((rays, hits));
        } else {
            rays.par_chunks(piece)
                .zip(hits.par_chunks_mut(piece))
                .for_each(trace);
        }
    }

    /// Casts rays that are fired in a span of time.
    fn cast<W: Work>(&self, meshes: &[Arc<Mesh>], span: impl FnOnce() -> [f64; 2], work: W) {
        let movers = self.top.movers(&self.instances, span);
        SCRATCH.with_borrow_mut(|scratch| {
            let casting = Casting {
                caster: self,
                movers: &movers,
                meshes,
                scratch,
            };
            run(self.isa, Supplied { casting, work });
        });
    }

    /// The nearest hits of all tiles of rays, on all threads of the pool.
    pub fn tiles(&self, meshes: &[Arc<Mesh>], rays: &[RayTile], hits: &mut [HitTile]) {
        let trace = |(rays, hits): (&[RayTile], &mut [HitTile])| {
            self.cast(meshes, || RayTile::span(rays), Tiles { rays, hits });
        };
        if rays.len() <= PIECE {
            trace((rays, hits));
        } else {
            rays.par_chunks(PIECE)
                .zip(hits.par_chunks_mut(PIECE))
                .for_each(trace);
        }
    }

    /// The nearest `most` hits, nearest first.
    pub fn several(&self, meshes: &[Arc<Mesh>], ray: &Ray, most: usize, hits: &mut Vec<Hit>) {
        hits.clear();
        if most == 0 {
            return;
        }
        let movers = self.top.movers(&self.instances, || [ray.time; 2]);
        SCRATCH.with_borrow_mut(|scratch| {
            let job = Several {
                caster: self,
                movers: &movers,
                meshes,
                ray,
                most,
                hits,
                scratch,
            };
            run(self.isa, job);
        });
    }

    /// All hits, nearest first, by testing every triangle of every object in `f64`.
    pub fn exhaustive(&self, meshes: &[Arc<Mesh>], ray: &Ray) -> Vec<Hit> {
        let mut hits = vec![];
        for (number, instance) in self.instances.iter().enumerate() {
            if instance.mask & ray.mask == 0 {
                continue;
            }
            let mesh = &meshes[instance.mesh];
            let local = instance.localise(ray);
            let all = 0..mesh.triangles.len() as u32;
            hits.extend(all.filter_map(|triangle| {
                let met = local.hit(mesh, number, triangle)?;
                Some(met.hit(instance.normal(mesh, triangle, ray.time)))
            }));
        }
        let key = |hit: &Hit| (hit.object, hit.triangle);
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(key(a).cmp(&key(b))));
        hits
    }

    pub fn closest_packet(&self, meshes: &[Arc<Mesh>], rays: &RayPacket, hits: &mut HitPacket) {
        if let [only] = &self.instances[..]
            && only.pose.is_identity()
        {
            SCRATCH.with_borrow_mut(|scratch| {
                let job = ClosestPacket {
                    tree: &self.trees[only.mesh],
                    mesh: &meshes[only.mesh],
                    rays,
                    hits,
                    scratch,
                };
                run(self.isa, job);
            });
            return;
        }
        self.packet_of_many(meshes, rays, hits);
    }

    fn packet_of_many(&self, meshes: &[Arc<Mesh>], rays: &RayPacket, hits: &mut HitPacket) {
        let full: [Ray; 16] = std::array::from_fn(|lane| rays.widened(lane));
        let mut met = vec![];
        self.many::<false>(meshes, (Tiling::IN_ORDER, &full), &mut met);
        *hits = HitPacket::default();
        for (lane, hit) in met.iter().enumerate() {
            let met = hit.as_ref().map(Met::of);
            hits.put(lane, met.as_ref(), rays.far[lane]);
        }
    }
}

/// The times that rays are fired between.
fn span(rays: &[Ray]) -> [f64; 2] {
    let start = rays
        .iter()
        .map(|ray| ray.time)
        .fold(f64::INFINITY, f64::min);
    let end = rays
        .iter()
        .map(|ray| ray.time)
        .fold(f64::NEG_INFINITY, f64::max);
    [start, end]
}

struct One<'a, const ANY: bool> {
    caster: &'a Caster,
    movers: &'a Movers,
    meshes: &'a [Arc<Mesh>],
    ray: &'a Ray,
    scratch: &'a mut Scratch,
}

impl<const ANY: bool> Job for One<'_, ANY> {
    type Output = Option<Met>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Option<Met> {
        let Scratch {
            stack,
            candidates,
            room,
            known,
            ..
        } = self.scratch;
        if self.caster.instances.len() == 1 {
            return self.caster.visit::<L, ANY>(
                0,
                self.meshes,
                self.ray,
                None,
                (known, stack, room),
            );
        }
        let top = &self.caster.top;
        let mut walk = top.walk::<L>(self.movers, &Bundle::one(self.ray), candidates);
        let mut best: Option<Met> = None;
        let mut farthest = self.ray.far;
        while let Some(number) = walk.next::<L>(farthest) {
            let hit = self.caster.visit::<L, ANY>(
                number,
                self.meshes,
                self.ray,
                best.as_ref(),
                (known, stack, room),
            );
            if let Some(hit) = hit {
                if ANY {
                    return Some(hit);
                }
                farthest = hit.distance;
                best = Some(hit);
            }
        }
        best
    }
}

impl Caster {
    /// What the ray meets in one instance before what it has met.
    #[inline(always)]
    fn visit<L: Lanes, const ANY: bool>(
        &self,
        number: usize,
        meshes: &[Arc<Mesh>],
        ray: &Ray,
        met: Option<&Met>,
        (known, stack, room): (&mut Known, &mut Vec<Entry>, &mut Block),
    ) -> Option<Met> {
        let instance = &self.instances[number];
        if instance.mask & ray.mask == 0 {
            return None;
        }
        let mut ray = instance.localise(ray);
        if let Some(met) = met {
            ray.end_at(met, number);
        }
        let mesh = &meshes[instance.mesh];
        let tree = &self.trees[instance.mesh];
        let mut faces = Faces { known, tree, mesh };
        let triangle = some_in::<L, ANY>(&mut faces, &ray, (stack, room));
        if triangle == NO_TRIANGLE {
            return None;
        }
        ray.hit(mesh, number, triangle)
    }
}

/// The nearest triangle (with `ANY`, some triangle) that one ray meets.
#[inline(always)]
fn some_in<L: Lanes, const ANY: bool>(
    faces: &mut Faces,
    ray: &LocalRay,
    (stack, room): (&mut Vec<Entry>, &mut Block),
) -> u32 {
    let tree = faces.tree;
    let single = Single::new(ray, tree);
    if stack.len() < tree.stack_need {
        stack.resize(tree.stack_need, Entry::default());
    }
    let mut errand = Errand {
        faces,
        rays: ray,
        lane: 0,
        best: Nearest::none(single.far_depth(ray)),
    };
    single.search::<L, LocalRay, ANY>(&mut errand, tree.root, stack, room);
    errand.best.triangle
}

struct ClosestPacket<'a> {
    tree: &'a MeshTree,
    mesh: &'a Mesh,
    rays: &'a RayPacket,
    hits: &'a mut HitPacket,
    scratch: &'a mut Scratch,
}

impl Job for ClosestPacket<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { tree, mesh, .. } = self;
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
            corners,
            known,
            room,
            edges,
            ..
        } = self.scratch;
        let ([packet, ..], [best, ..]) = (packet, best);
        if packet.take::<L>(&beams, beams.axes(), centre, tree, best) {
            let mut search = Search {
                faces: Faces { known, tree, mesh },
                wedge: &packet.wedge,
                rays: std::slice::from_ref(self.rays),
                packets: std::slice::from_ref(packet),
                best: std::slice::from_mut(best),
                stack,
                edges,
            };
            search.run::<L, false>(room);
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
            if !tree.packed.is_empty() {
                refine(
                    &mut Faces { known, tree, mesh },
                    self.rays,
                    self.hits,
                    corners,
                );
            }
            return;
        }
        let mut faces = Faces { known, tree, mesh };
        for lane in 0..16 {
            let ray = self.rays.ray(lane);
            let triangle = some_in::<L, false>(&mut faces, &ray, (stack, room));
            self.hits.put(
                lane,
                ray.hit(mesh, 0, triangle).as_ref(),
                self.rays.far[lane],
            );
        }
    }
}

/// Distances and weights by the mesh's own vertices: those of packed leaves are moved.
#[inline(always)]
fn refine(faces: &mut Faces, rays: &RayPacket, hits: &mut HitPacket, corners: &mut Corners) {
    let mut lanes = 0;
    for lane in 0..16 {
        lanes |= u32::from(hits.triangle[lane] != NO_TRIANGLE) << lane;
    }
    corners.take(faces, &hits.triangle, lanes);
    let wide = |of: &[[f32; 16]; 3]| of.map(|axis| axis.map(f64::from));
    let met = corners.meet(&wide(&rays.origin), &wide(&rays.direction), false);
    for lane in 0..16 {
        if hits.triangle[lane] != NO_TRIANGLE && !met.none[lane] {
            hits.distance[lane] = met.distance[lane] as f32;
            for vertex in 0..2 {
                hits.barycentric[vertex][lane] = met.barycentric[vertex][lane] as f32;
            }
        }
    }
}

impl Exact for RayPacket {
    const WEIGHTS: bool = true;

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
