//! The ray caster.

use crate::bounding_box::BoundingBox;
use crate::bvh::blas::Blas;
use crate::ids::{MeshId, ObjectId};
use crate::instance::{Instance, PlacedMesh, Placement};
use crate::mesh::{Mesh, MeshError, check_vertices};
use crate::ray::{Hit, Ray};
use crate::ray_tile::{HitTile, RayTile};
use crate::spawn::spawn_near;
use crate::tiling::Tiling;
use crate::tlas::{MovingNodes, Tlas};
use crate::traverse::beam_cast::BeamsCast;
use crate::traverse::first_hits::FirstHits;
use crate::traverse::geometry::Geometry;
use crate::traverse::ray_cast::{RayCast, exhaustive_hits};
use crate::traverse::scratch::CastScratch;
use crate::traverse::tile_cast::{CastContext, ListCast, TilesCast};
use crate::traverse::triangle_hit::TriangleHit;
use etendue_simd::Isa;
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;
use std::sync::Arc;
use thiserror::Error;

/// Number of tiles in one batch.
const BATCH: usize = 128;

/// Objects prepared for rays.
///
/// The result of every query is defined by the watertight ray-triangle test in `f64` over all
/// triangles of all objects; of equally near hits, the one with the lowest object and then the lowest
/// triangle counts. Acceleration structures, packets, instruction sets, threads and the order of
/// traversal only skip triangles that cannot be the result, with bounds on the rounding errors of
/// `f32`, and so show in no result.
#[derive(Clone)]
pub struct RayCaster {
    isa: Isa,
    geometry: Geometry,
}

/// Why a [`RayCaster`] cannot be built or changed.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RayCasterError {
    /// A mesh cannot be used.
    #[error("mesh {mesh}: {source}")]
    Mesh {
        /// The mesh's index.
        mesh: u32,
        /// The reason.
        source: MeshError,
    },
    /// An instance refers to a mesh that does not exist.
    #[error("instance {instance} uses mesh {mesh}, there are {meshes}")]
    MeshOutOfRange {
        /// The instance's index.
        instance: usize,
        /// The mesh it refers to.
        mesh: u32,
        /// Number of meshes.
        meshes: usize,
    },
    /// A mesh was given another number of vertices than it has.
    #[error("mesh {mesh} has {vertices} vertices, and was given {given}")]
    VertexCount {
        /// The mesh's index.
        mesh: u32,
        /// Number of its vertices.
        vertices: usize,
        /// Number of vertices given.
        given: usize,
    },
}

impl RayCaster {
    /// Builds the acceleration structures, on all threads of the pool. The index of an instance is
    /// its [`ObjectId`].
    ///
    /// # Errors
    /// Where a mesh fails [`Mesh::check`], or an instance refers to none.
    pub fn new(meshes: Vec<Arc<Mesh>>, instances: &[Instance]) -> Result<Self, RayCasterError> {
        Self::build(meshes, instances, None)
    }

    /// [`RayCaster::new`] that takes the structures of meshes that `previous` shares ([`Arc::ptr_eq`]) from it.
    /// Results of queries are those of a new caster.
    ///
    /// # Errors
    /// As [`RayCaster::new`].
    pub fn reusing(
        meshes: Vec<Arc<Mesh>>,
        instances: &[Instance],
        previous: &Self,
    ) -> Result<Self, RayCasterError> {
        Self::build(meshes, instances, Some(&previous.geometry))
    }

    /// Builds the structures that `previous` does not have.
    fn build(
        meshes: Vec<Arc<Mesh>>,
        instances: &[Instance],
        previous: Option<&Geometry>,
    ) -> Result<Self, RayCasterError> {
        // Check the meshes that are new, and the instances.
        let known = |mesh| previous.and_then(|previous| previous.structure_of(mesh));
        for (number, mesh) in (0..).zip(&meshes) {
            if known(mesh).is_some() {
                continue;
            }
            mesh.check().map_err(|source| RayCasterError::Mesh {
                mesh: number,
                source,
            })?;
        }
        let is_missing = |instance: &Instance| instance.mesh.0 as usize >= meshes.len();
        if let Some(instance) = instances.iter().position(is_missing) {
            return Err(RayCasterError::MeshOutOfRange {
                instance,
                mesh: instances[instance].mesh.0,
                meshes: meshes.len(),
            });
        }

        // Build a tree per mesh, and one over the instances.
        let blas: Vec<Arc<Blas>> = meshes
            .par_iter()
            .map(|mesh| known(mesh).unwrap_or_else(|| Arc::new(Blas::new(mesh))))
            .collect();
        let objects: Vec<PlacedMesh> = instances
            .iter()
            .map(|instance| PlacedMesh::new(instance, blas[instance.mesh.0 as usize].bounds))
            .collect();
        let geometry = Geometry {
            tlas: Tlas::new(&objects),
            meshes,
            blas,
            objects,
        };
        Ok(Self {
            isa: Isa::detect(),
            geometry,
        })
    }

    /// The same caster with another instruction set. Results are the same with each.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// The instruction set that traversal uses.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// A mesh.
    pub fn mesh(&self, mesh: MeshId) -> &Arc<Mesh> {
        &self.geometry.meshes[mesh.0 as usize]
    }

    /// The pose of an object at a time, s.
    pub fn world_from_object(&self, object: ObjectId, time: f64) -> Isometry3<f64> {
        self.geometry.objects[object.0 as usize].world_from_object(time)
    }

    /// Number of objects.
    pub fn object_count(&self) -> usize {
        self.geometry.objects.len()
    }

    /// Number of meshes.
    pub fn mesh_count(&self) -> usize {
        self.geometry.meshes.len()
    }

    /// The mesh of an object.
    pub fn mesh_of(&self, object: ObjectId) -> MeshId {
        MeshId(self.geometry.objects[object.0 as usize].mesh as u32)
    }

    /// The visibility mask of an object.
    pub fn mask_of(&self, object: ObjectId) -> u32 {
        self.geometry.objects[object.0 as usize].mask
    }

    /// Whether the pose of an object depends on time.
    pub fn is_moving(&self, object: ObjectId) -> bool {
        self.geometry.objects[object.0 as usize].is_moving()
    }

    /// A box in the world that contains an object during a span of time, s.
    pub fn bounds_of(&self, object: ObjectId, span: [f64; 2]) -> BoundingBox {
        self.geometry.objects[object.0 as usize].bounds(span)
    }

    /// Memory of the acceleration structures, bytes: about 80 per triangle, 50 where leaves are
    /// packed, and never more than 416.
    pub fn bytes(&self) -> usize {
        self.geometry.blas.iter().map(|blas| blas.bytes()).sum()
    }

    /// The nearest hit of a ray; of equally near ones, that with the lowest object and triangle.
    pub fn closest_hit(&self, ray: &Ray, scratch: &mut CastScratch) -> Option<Hit> {
        let geometry = &self.geometry;
        let moving = geometry.tlas.moving(&geometry.objects, || [ray.time; 2]);
        let hit = self.isa.run_kernel(RayCast::<false> {
            geometry,
            moving: &moving,
            ray,
            scratch,
        })?;
        let object = &geometry.objects[hit.object.0 as usize];
        let normal = object.normal(geometry.mesh_of(object), hit.triangle, ray.time);
        Some(hit.with_normal(normal))
    }

    /// The hit of a ray with a triangle of an object, if there is one within the ray's limits. For the triangle of the
    /// nearest hit it is the result of [`RayCaster::closest_hit`].
    pub fn hit_of(&self, ray: &Ray, object: ObjectId, triangle: u32) -> Option<Hit> {
        let geometry = &self.geometry;
        let number = object.0 as usize;
        let placed = &geometry.objects[number];
        let mesh = geometry.mesh_of(placed);
        let hit = TriangleHit::new(&placed.local_ray(ray), mesh, number, triangle)?;
        Some(hit.with_normal(placed.normal(mesh, triangle, ray.time)))
    }

    /// Whether a ray hits anything between its near and its far limit.
    pub fn occluded(&self, ray: &Ray, scratch: &mut CastScratch) -> bool {
        let geometry = &self.geometry;
        let moving = geometry.tlas.moving(&geometry.objects, || [ray.time; 2]);
        let hit = self.isa.run_kernel(RayCast::<true> {
            geometry,
            moving: &moving,
            ray,
            scratch,
        });
        hit.is_some()
    }

    /// The nearest hit of each ray: the results of [`RayCaster::closest_hit`] on all threads of the
    /// pool (on this one with [`CastScratch::for_worker`]), faster for coherent rays.
    ///
    /// Rays are coherent where neighbours in the list are neighbours in space, ideally in rows of at
    /// least four rays next to each other, such as the columns of a spinning lidar. Rays of one origin in
    /// any order are sorted ([`Tiling`]).
    pub fn closest_hits(
        &self,
        rays: &[Ray],
        hits: &mut Vec<Option<Hit>>,
        scratch: &mut CastScratch,
    ) {
        self.cast_list::<false>(rays, hits, scratch);
    }

    /// Whether each ray hits anything: the results of [`RayCaster::occluded`], faster for coherent
    /// rays.
    pub fn occlusions(&self, rays: &[Ray], occluded: &mut Vec<bool>, scratch: &mut CastScratch) {
        let mut hits = vec![];
        self.cast_list::<true>(rays, &mut hits, scratch);
        occluded.clear();
        occluded.extend(hits.iter().map(Option::is_some));
    }

    /// The nearest hit of each ray of each tile: the results of [`RayCaster::closest_hit`] on all
    /// threads of the pool.
    pub fn closest_hits_of_tiles(
        &self,
        rays: &[RayTile],
        hits: &mut [HitTile],
        scratch: &mut CastScratch,
    ) {
        if rays.len() <= BATCH || scratch.is_of_worker {
            self.cast_tiles(rays, hits, scratch);
            return;
        }
        rays.par_chunks(BATCH)
            .zip(hits.par_chunks_mut(BATCH))
            .for_each_init(CastScratch::for_worker, |scratch, (rays, hits)| {
                self.cast_tiles(rays, hits, scratch);
            });
    }

    /// [`RayCaster::closest_hits_of_tiles`] for beams of several rays: each `per_beam` tiles have the rays of sixteen beams, a
    /// tile per ray of the beam. It takes less time the closer the rays of a beam are.
    ///
    /// Where a triangle lies under all sixteen beams, and nothing before it, the distance of each ray follows from its plane.
    /// Only other rays are traced.
    ///
    /// # Panics
    /// Where `per_beam` is zero.
    pub fn closest_hits_of_beams(
        &self,
        rays: &[RayTile],
        per_beam: usize,
        hits: &mut [HitTile],
        scratch: &mut CastScratch,
    ) {
        let batch = (BATCH / per_beam).max(1) * per_beam;
        if rays.len() <= batch || scratch.is_of_worker {
            self.cast_beams(rays, per_beam, hits, scratch);
            return;
        }
        rays.par_chunks(batch)
            .zip(hits.par_chunks_mut(batch))
            .for_each_init(CastScratch::for_worker, |scratch, (rays, hits)| {
                self.cast_beams(rays, per_beam, hits, scratch);
            });
    }

    /// The nearest `count` hits of a ray, nearest first; of equally near ones, that with the lowest
    /// object and triangle first.
    pub fn first_hits(
        &self,
        ray: &Ray,
        count: usize,
        hits: &mut Vec<Hit>,
        scratch: &mut CastScratch,
    ) {
        hits.clear();
        if count == 0 {
            return;
        }
        let geometry = &self.geometry;
        let moving = geometry.tlas.moving(&geometry.objects, || [ray.time; 2]);
        self.isa.run_kernel(FirstHits {
            geometry,
            moving: &moving,
            ray,
            count,
            hits,
            scratch,
        });
    }

    /// All hits of a ray, nearest first, by testing every triangle of every object: slow, the
    /// reference for the other queries.
    pub fn exhaustive_hits(&self, ray: &Ray) -> Vec<Hit> {
        exhaustive_hits(&self.geometry, ray)
    }

    /// The near limit (m) for a ray in `direction` from the point `ray.origin + ray.direction *
    /// hit.distance` with which rounding cannot make it hit the triangle on which it starts.
    ///
    /// It bounds the rounding errors in `f64` of that point and of the next intersection. It grows
    /// with the distance from the origins of the world and of the object and with grazing directions:
    /// a few nanometres at 500 km, a picometre in a room.
    pub fn spawn_near(&self, ray: &Ray, hit: &Hit, direction: &Vector3<f64>) -> f64 {
        let object = &self.geometry.objects[hit.object.0 as usize];
        let world_from_object = object.world_from_object(ray.time);
        let start = ray.origin + ray.direction * hit.distance;
        let corners = self.geometry.mesh_of(object).corners(hit.triangle);
        let farthest = corners.iter().map(|c| c.coords.amax()).fold(0.0, f64::max);
        let reach = ray.origin.coords.amax()
            + hit.distance
            + world_from_object.translation.vector.amax()
            + farthest;
        let offset = start - world_from_object * corners[0];
        let edges = [corners[1] - corners[0], corners[2] - corners[0]];
        spawn_near(&offset, direction, &hit.normal, &edges, reach)
    }

    /// Places objects at constant poses. The cost grows with the number of objects, not with their
    /// meshes: 0.1 ms for a hundred.
    pub fn set_poses(&mut self, poses: &[(ObjectId, Isometry3<f64>)]) {
        let geometry = &mut self.geometry;
        for (object, pose) in poses {
            geometry.objects[object.0 as usize].placement = Placement::at_rest(*pose);
        }
        geometry.tlas = Tlas::new(&geometry.objects);
    }

    /// Moves a mesh's vertices (m, in the mesh's frame) and refits its acceleration structure: about
    /// 0.1 µs per triangle. Results are exact in any case; queries take longer the farther the
    /// vertices moved, until [`RayCaster::rebuild`].
    ///
    /// # Errors
    /// Where the number of vertices differs, or one is not finite; the caster is then unchanged.
    pub fn set_vertices(
        &mut self,
        mesh: MeshId,
        vertices: Vec<Point3<f64>>,
    ) -> Result<(), RayCasterError> {
        // Check the vertices.
        let number = mesh.0 as usize;
        let old = &self.geometry.meshes[number];
        if vertices.len() != old.vertices.len() {
            return Err(RayCasterError::VertexCount {
                mesh: mesh.0,
                vertices: old.vertices.len(),
                given: vertices.len(),
            });
        }
        check_vertices(&vertices).map_err(|source| RayCasterError::Mesh {
            mesh: mesh.0,
            source,
        })?;

        // Replace them, and refit.
        let moved = Mesh {
            vertices,
            triangles: old.triangles.clone(),
            materials: old.materials.clone(),
        };
        Arc::make_mut(&mut self.geometry.blas[number]).refit(&moved);
        self.geometry.meshes[number] = Arc::new(moved);
        self.update_bounds(number);
        Ok(())
    }

    /// Rebuilds the acceleration structure of a mesh, for instance after much deformation.
    pub fn rebuild(&mut self, mesh: MeshId) {
        let number = mesh.0 as usize;
        self.geometry.blas[number] = Arc::new(Blas::new(&self.geometry.meshes[number]));
        self.update_bounds(number);
    }

    /// Packs the leaves of all acceleration structures, as is the default for meshes of more than 16.8
    /// million triangles: two thirds of the memory, a fifth fewer rays per second, the same results.
    ///
    /// [`RayCaster::rebuild`] unpacks those of a smaller mesh again.
    pub fn pack(&mut self) {
        let packed = |mesh: &Arc<Mesh>| Arc::new(Blas::packed(mesh));
        self.geometry.blas = self.geometry.meshes.par_iter().map(packed).collect();
    }

    /// Updates the boxes of the objects with a mesh, and the structure over them.
    fn update_bounds(&mut self, mesh: usize) {
        let geometry = &mut self.geometry;
        let bounds: BoundingBox = geometry.blas[mesh].bounds;
        for object in &mut geometry.objects {
            if object.mesh == mesh {
                object.set_local_bounds(bounds);
            }
        }
        geometry.tlas = Tlas::new(&geometry.objects);
    }

    /// Casts a list of rays; more than one batch on all threads of the pool.
    fn cast_list<const ANY: bool>(
        &self,
        rays: &[Ray],
        hits: &mut Vec<Option<Hit>>,
        scratch: &mut CastScratch,
    ) {
        hits.clear();
        hits.resize(rays.len(), None);
        if rays.is_empty() {
            return;
        }
        let tiling = Tiling::of(
            rays.len(),
            |ray| rays[ray].origin,
            |ray| rays[ray].direction,
        );
        let cast = |rays: &[Ray], hits: &mut [Option<Hit>], scratch: &mut CastScratch| {
            let tiles = tiling.tiles(rays.len(), |ray| rays[ray].direction);
            let geometry = &self.geometry;
            let moving = geometry
                .tlas
                .moving(&geometry.objects, || span(rays.iter().map(|ray| ray.time)));
            let context = CastContext {
                geometry,
                moving: &moving,
                scratch,
            };
            self.isa.run_kernel(ListCast::<ANY> {
                context,
                rays,
                tiles: &tiles,
                hits,
            });
        };

        // Cast one batch on this thread, several on all.
        let batch = tiling.batch();
        if rays.len() <= batch || scratch.is_of_worker {
            let batches = rays.chunks(batch).zip(hits.chunks_mut(batch));
            return batches.for_each(|(rays, hits)| cast(rays, hits, scratch));
        }
        rays.par_chunks(batch)
            .zip(hits.par_chunks_mut(batch))
            .for_each_init(CastScratch::for_worker, |scratch, (rays, hits)| {
                cast(rays, hits, scratch);
            });
    }

    /// The boxes of the moving objects while the rays of some tiles are fired.
    fn moving_nodes(&self, rays: &[RayTile]) -> MovingNodes {
        let geometry = &self.geometry;
        geometry.tlas.moving(&geometry.objects, || {
            let times = rays.iter().flat_map(|tile| &tile.time[..tile.used]);
            span(times.copied())
        })
    }

    /// Casts beams of several rays on this thread.
    fn cast_beams(
        &self,
        rays: &[RayTile],
        per_beam: usize,
        hits: &mut [HitTile],
        scratch: &mut CastScratch,
    ) {
        let context = CastContext {
            geometry: &self.geometry,
            moving: &self.moving_nodes(rays),
            scratch,
        };
        self.isa.run_kernel(BeamsCast {
            context,
            per_beam,
            rays,
            hits,
        });
    }

    /// Casts tiles of rays on this thread.
    fn cast_tiles(&self, rays: &[RayTile], hits: &mut [HitTile], scratch: &mut CastScratch) {
        let geometry = &self.geometry;
        let moving = self.moving_nodes(rays);
        let context = CastContext {
            geometry,
            moving: &moving,
            scratch,
        };
        self.isa.run_kernel(TilesCast {
            context,
            rays,
            hits,
        });
    }
}

/// The first and the last of some times.
fn span(times: impl Iterator<Item = f64>) -> [f64; 2] {
    times.fold([f64::INFINITY, f64::NEG_INFINITY], |[first, last], time| {
        [first.min(time), last.max(time)]
    })
}

impl std::fmt::Debug for RayCaster {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RayCaster")
            .field("isa", &self.isa)
            .field("objects", &self.geometry.objects.len())
            .finish_non_exhaustive()
    }
}
