//! Queries of many rays: tiles of sixteen neighbours traverse the structures together.

use super::frustum::Frustum;
use super::geometry::Geometry;
use super::packet_traversal::{PacketCast, PacketTraversal};
use super::ray_traversal::trace_ray;
use super::scratch::CastScratch;
use crate::bvh::leaf_block::NO_TRIANGLE;
use crate::intersect::LaneMask;
use crate::intersect::local_ray::PreciseRays;
use crate::intersect::nearest::NearestHits;
use crate::intersect::triangle_cache::CachedTriangles;
use crate::ray::{Hit, Ray};
use crate::ray_tile::{HitTile, RayTile};
use crate::tiling::TileMembers;
use crate::tlas::{MovingNodes, RayBundle};
use etendue_simd::{Kernel, Lanes};

/// Fewer rays than this are traced one by one.
const FEWEST: u32 = 3;

/// Number of neighbouring tiles that share a traversal.
const NEIGHBOURS: usize = 4;

/// The geometry and the memory of a query.
pub(crate) struct CastContext<'a> {
    pub geometry: &'a Geometry,
    /// The boxes of moving objects while the rays are fired.
    pub moving: &'a MovingNodes,
    pub scratch: &'a mut CastScratch,
}

/// A query of the rays of some tiles for the nearest hits (with `ANY`, for some hits).
pub(crate) struct ListCast<'a, const ANY: bool> {
    pub context: CastContext<'a>,
    pub rays: &'a [Ray],
    /// How the rays are grouped.
    pub tiles: &'a [TileMembers],
    pub hits: &'a mut [Option<Hit>],
}

/// A query of tiles of rays for the nearest hits.
pub(crate) struct TilesCast<'a> {
    pub context: CastContext<'a>,
    pub rays: &'a [RayTile],
    pub hits: &'a mut [HitTile],
}

impl<const ANY: bool> Kernel for ListCast<'_, ANY> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let mut rays = [const { RayTile::EMPTY }; NEIGHBOURS];
        let mut hits = [const { HitTile::NONE }; NEIGHBOURS];
        for group in self.tiles.chunks(self.context.group()) {
            // Gather the rays of the tiles.
            for (members, rays) in group.iter().zip(&mut rays) {
                for (lane, ray) in members.rays() {
                    rays.put(lane, &self.rays[ray]);
                }
                rays.used = members.used();
            }

            // Cast them, and scatter the hits.
            let count = group.len();
            (self.context).cast_tiles::<L, ANY>(&rays[..count], &mut hits[..count]);
            for (members, hits) in group.iter().zip(&hits) {
                for (lane, ray) in members.rays() {
                    self.hits[ray] = hits.hit(lane);
                }
            }
        }
    }
}

impl Kernel for TilesCast<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let group = self.context.group();
        for (rays, hits) in self.rays.chunks(group).zip(self.hits.chunks_mut(group)) {
            self.context.cast_tiles::<L, false>(rays, hits);
        }
    }
}

impl CastContext<'_> {
    /// Number of tiles that can share a traversal: several where there is a single object.
    #[inline(always)]
    fn group(&self) -> usize {
        if self.geometry.objects.len() == 1 {
            NEIGHBOURS
        } else {
            1
        }
    }

    /// Finds the hits of up to [`CastContext::group`] tiles. With `ANY`, normals are not computed.
    #[inline(always)]
    fn cast_tiles<L: Lanes, const ANY: bool>(&mut self, rays: &[RayTile], hits: &mut [HitTile]) {
        if !ANY && rays.len() > 1 && self.cast_group::<L>(rays, hits) {
            return;
        }
        for (rays, hits) in rays.iter().zip(hits) {
            self.cast_tile::<L, ANY>(rays, hits);
        }
    }

    /// Finds the hits of one tile. With `ANY`, normals are not computed.
    #[inline(always)]
    pub fn cast_tile<L: Lanes, const ANY: bool>(&mut self, rays: &RayTile, hits: &mut HitTile) {
        hits.clear();
        let mut tile = Tile { rays, hits };

        // A single object needs no search for objects.
        if self.geometry.objects.len() == 1 {
            L::call(ObjectCast::<ANY> {
                tile: &mut tile,
                context: self,
                number: 0,
            });
            return;
        }

        // Visit objects, nearest first.
        let mut stack = std::mem::take(&mut self.scratch.tlas_stack);
        let tlas = &self.geometry.tlas;
        let mut traversal = tlas.traverse::<L>(self.moving, &RayBundle::of_tile(rays), &mut stack);
        while let Some(number) = traversal.next::<L>(tile.farthest::<ANY>()) {
            L::call(ObjectCast::<ANY> {
                tile: &mut tile,
                context: self,
                number,
            });
        }
        self.scratch.tlas_stack = stack;
    }

    /// Finds the hits of up to [`NEIGHBOURS`] tiles with the only object in one traversal. Returns `false`,
    /// with no hits found, if the tiles are not neighbours.
    #[inline(always)]
    fn cast_group<L: Lanes>(&mut self, rays: &[RayTile], hits: &mut [HitTile]) -> bool {
        let object = &self.geometry.objects[0];
        let blas = self.geometry.blas_of(object);
        let scratch = &mut *self.scratch;
        let count = rays.len();

        // Make a packet of each tile, all along the axes of the first.
        let mut axes = [0; 3];
        for number in 0..count {
            let rays = &rays[number];
            let hits = &mut hits[number];
            hits.clear();
            scratch.local[number].set(rays, object);
            let open = Tile { rays, hits }.open_lanes::<false>(object.mask);
            let from = scratch.local[0].first_origin();
            let packet_rays = &mut scratch.packet_rays;
            let local = &scratch.local[number];
            let centre = local.to_packet_rays(&from, &blas.middle, open, packet_rays);
            if number == 0 {
                axes = packet_rays.axes();
            }
            let packet = &mut scratch.packet[number];
            let nearest = &mut scratch.nearest[number];
            if !packet.set::<L>(packet_rays, axes, centre, blas, nearest) {
                return false;
            }
        }

        // Traverse with the frustum around all.
        let frusta = scratch.packet[..count].iter().map(|packet| &packet.frustum);
        let Some(frustum) = Frustum::around(frusta, blas) else {
            return false;
        };
        let traversal = PacketTraversal {
            triangles: CachedTriangles {
                cache: &mut scratch.cache,
                blas,
                mesh: self.geometry.mesh_of(object),
            },
            frustum: &frustum,
            rays: &mut scratch.local[..count],
            packets: &mut scratch.packet[..count],
            nearest: &mut scratch.nearest[..count],
            pending: None,
            stack: &mut scratch.stack,
            edges: &mut scratch.edges,
        };
        L::call(PacketCast::<false> {
            traversal,
            unpacked: &mut scratch.unpacked,
        });

        // Compute the hits.
        for (number, (rays, hits)) in rays.iter().zip(hits).enumerate() {
            let triangles = self.scratch.nearest[number].triangles();
            let share = self.scratch.packet[number].share_major_axis;
            Tile { rays, hits }.update_hits::<false, true>(self, 0, number, &triangles, share);
        }
        true
    }
}

/// Up to sixteen rays and their hits so far.
pub(crate) struct Tile<'a> {
    pub rays: &'a RayTile,
    pub hits: &'a mut HitTile,
}

/// Updates the hits of a tile by those with one object.
struct ObjectCast<'a, 'tile, 'context, const ANY: bool> {
    tile: &'a mut Tile<'tile>,
    context: &'a mut CastContext<'context>,
    number: usize,
}

impl<const ANY: bool> Kernel for ObjectCast<'_, '_, '_, ANY> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.tile
            .intersect_object::<L, ANY>(self.context, self.number);
    }
}

impl Tile<'_> {
    /// The greatest distance at which any ray can still get a hit.
    #[inline(always)]
    fn farthest<const ANY: bool>(&self) -> f64 {
        let mut farthest = f64::NEG_INFINITY;
        for lane in 0..self.rays.used {
            let far = match self.hits.is_hit(lane) {
                true if ANY => f64::NEG_INFINITY,
                true => self.hits.distance[lane],
                false => self.rays.far[lane],
            };
            farthest = if far > farthest { far } else { farthest };
        }
        farthest
    }

    /// The lanes that can get a hit with an object of a visibility mask.
    #[inline(always)]
    fn open_lanes<const ANY: bool>(&self, mask: u32) -> u32 {
        let mut open = 0;
        for lane in 0..16 {
            let is_visible = mask & self.rays.mask[lane] != 0;
            open |= u32::from(is_visible && !(ANY && self.hits.is_hit(lane))) << lane;
        }
        open & (0xffff >> (16 - self.rays.used))
    }

    /// Updates the hits by those with one object.
    #[inline(always)]
    pub fn intersect_object<L: Lanes, const ANY: bool>(
        &mut self,
        context: &mut CastContext,
        number: usize,
    ) {
        let object = &context.geometry.objects[number];
        let open = self.open_lanes::<ANY>(object.mask);
        if open == 0 {
            return;
        }

        // Transform the rays into the frame of the object.
        let blas = context.geometry.blas_of(object);
        let mesh = context.geometry.mesh_of(object);
        let scratch = &mut *context.scratch;
        let [local, ..] = &mut scratch.local;
        let [packet, ..] = &mut scratch.packet;
        let [nearest, ..] = &mut scratch.nearest;
        let packet_rays = &mut scratch.packet_rays;
        local.set_up_to(self.rays, object, number, self.hits);
        let from = local.first_origin();
        let centre = local.to_packet_rays(&from, &blas.middle, open, packet_rays);
        let mut triangles = CachedTriangles {
            cache: &mut scratch.cache,
            blas,
            mesh,
        };

        if open.count_ones() >= FEWEST
            && packet.set::<L>(packet_rays, packet_rays.axes(), centre, blas, nearest)
        {
            // Coherent rays traverse as a packet.
            let frustum = packet.frustum;
            let traversal = PacketTraversal {
                triangles,
                frustum: &frustum,
                rays: std::slice::from_mut(local),
                packets: std::slice::from_mut(packet),
                nearest: std::slice::from_mut(nearest),
                pending: None,
                stack: &mut scratch.stack,
                edges: &mut scratch.edges,
            };
            L::call(PacketCast::<ANY> {
                traversal,
                unpacked: &mut scratch.unpacked,
            });
        } else {
            // Other rays traverse one by one.
            nearest.triangle = NearestHits::CLOSED.triangle;
            for lane in (0..16).filter(|lane| open >> lane & 1 == 1) {
                let ray = local.ray(lane);
                let stack = &mut scratch.stack;
                let unpacked = &mut scratch.unpacked;
                let triangle = trace_ray::<L, ANY>(&mut triangles, &ray, stack, unpacked);
                nearest.triangle[lane] = f32::from_bits(triangle);
            }
        }
        let triangles = context.scratch.nearest[0].triangles();
        self.update_hits::<ANY, false>(context, number, 0, &triangles, false);
    }

    /// Computes the hits with the triangles found for a packet, in `f64`. With `FIRST`, the tile has
    /// no hits with other objects.
    #[inline(always)]
    pub fn update_hits<const ANY: bool, const FIRST: bool>(
        &mut self,
        context: &mut CastContext,
        number: usize,
        packet: usize,
        triangles: &[u32; 16],
        share_major_axis: bool,
    ) {
        let object = &context.geometry.objects[number];
        let scratch = &mut *context.scratch;
        let local = &scratch.local[packet];
        let corners = &mut scratch.corners;

        // Load the triangles.
        if *triangles == [NO_TRIANGLE; 16] {
            return;
        }
        let mut source = CachedTriangles {
            cache: &mut scratch.cache,
            blas: context.geometry.blas_of(object),
            mesh: context.geometry.mesh_of(object),
        };
        corners.load(&mut source, triangles);

        // Intersect, and keep hits within the limits.
        let found = local.intersect(corners, share_major_axis);
        let mut is_hit = [false; 16];
        for lane in 0..16 {
            let intersects = (triangles[lane] != NO_TRIANGLE) & !found.miss[lane];
            is_hit[lane] = intersects & local.is_within_limits(lane, found.distance[lane]);
        }

        // Store them.
        let is_hit = LaneMask::of(&is_hit);
        is_hit.assign(&mut self.hits.distance, &found.distance);
        is_hit.assign_u32(&mut self.hits.object, &[number as u32; 16]);
        is_hit.assign_u32(&mut self.hits.triangle, triangles);
        if FIRST {
            self.hits.barycentric = found.barycentric;
            self.hits.normal = corners.normal;
            object.rotate_lanes(&mut self.hits.normal, &self.rays.time);
            return;
        }
        for (own, new) in self.hits.barycentric.iter_mut().zip(&found.barycentric) {
            is_hit.assign(own, new);
        }
        if !ANY {
            let mut normal = corners.normal;
            object.rotate_lanes(&mut normal, &self.rays.time);
            for (own, new) in self.hits.normal.iter_mut().zip(&normal) {
                is_hit.assign(own, new);
            }
        }
    }
}
