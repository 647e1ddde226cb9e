//! Queries of beams of several rays: the rays of sixteen beams traverse the structures together.

use super::geometry::Geometry;
use super::packet_traversal::{GROUP, PacketCast, PacketHits, PacketTraversal};
use super::pending_packets::PendingPackets;
use super::ray_spread::{RaySpread, extreme_distances};
use super::tile_cast::{CastContext, Tile};
use crate::intersect::triangle_cache::CachedTriangles;
use crate::ray_tile::{HitTile, RayTile};
use crate::tlas::RayBundle;
use etendue_simd::{Kernel, Lanes};

/// Depths beyond this are treated as infinite.
const NO_LIMIT: f64 = 1e30;

/// A query of beams of several rays for the nearest hits.
pub(crate) struct BeamsCast<'a> {
    pub context: CastContext<'a>,
    /// Number of rays of a beam.
    pub per_beam: usize,
    /// For each sixteen beams, a tile per ray of the beam.
    pub rays: &'a [RayTile],
    pub hits: &'a mut [HitTile],
}

impl Kernel for BeamsCast<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let beams = self.rays.chunks(self.per_beam);
        for (rays, hits) in beams.zip(self.hits.chunks_mut(self.per_beam)) {
            for (rays, hits) in rays.chunks(GROUP).zip(hits.chunks_mut(GROUP)) {
                self.context.cast_beams::<L>(rays, hits);
            }
        }
    }
}

/// Up to [`GROUP`] tiles of the rays of sixteen beams, and their hits so far.
struct BeamGroup<'a> {
    rays: &'a [RayTile],
    hits: &'a mut [HitTile],
    spread: RaySpread,
    /// Least and greatest distance at which a ray can still get a hit, m.
    far: [f64; 2],
}

/// Updates the hits of a group by those with one object. Returns whether there may be any.
struct ObjectBeams<'a, 'group, 'context> {
    group: &'a mut BeamGroup<'group>,
    context: &'a mut CastContext<'context>,
    number: usize,
}

impl Kernel for ObjectBeams<'_, '_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self) -> bool {
        self.group.intersect_object::<L>(self.context, self.number)
    }
}

impl CastContext<'_> {
    /// Finds the hits of up to [`GROUP`] tiles of the rays of sixteen beams.
    #[inline(always)]
    fn cast_beams<L: Lanes>(&mut self, rays: &[RayTile], hits: &mut [HitTile]) {
        let Some(spread) = RaySpread::of(rays) else {
            for (rays, hits) in rays.iter().zip(hits) {
                self.cast_tile::<L, false>(rays, hits);
            }
            return;
        };
        hits.iter_mut().for_each(HitTile::clear);
        let far = spread.far;
        let mut group = BeamGroup {
            rays,
            hits,
            spread,
            far: [far; 2],
        };

        // A single object needs no search for objects.
        if self.geometry.objects.len() == 1 {
            L::call(ObjectBeams {
                group: &mut group,
                context: self,
                number: 0,
            });
            return;
        }

        // Visit objects, nearest first.
        let mut stack = std::mem::take(&mut self.scratch.tlas_stack);
        let tlas = &self.geometry.tlas;
        let bundle = RayBundle::of_tile(&rays[0]).widened(spread.origin, spread.direction);
        let mut traversal = tlas.traverse::<L>(self.moving, &bundle, &mut stack);
        while let Some(number) = traversal.next::<L>(group.far[1]) {
            let may_hit = L::call(ObjectBeams {
                group: &mut group,
                context: self,
                number,
            });
            if may_hit {
                let [low, high] = extreme_distances(group.hits);
                group.far = [low.min(far), high.min(far)];
            }
        }
        self.scratch.tlas_stack = stack;
    }
}

impl BeamGroup<'_> {
    /// Updates the hits by those with one object. Returns whether there may be any.
    #[inline(always)]
    fn intersect_object<L: Lanes>(&mut self, context: &mut CastContext, number: usize) -> bool {
        let geometry = context.geometry;
        let object = &geometry.objects[number];
        if object.mask & self.spread.mask == 0 {
            return false;
        }
        match self.traverse::<L>(context, number) {
            Some(PacketHits::None) => return false,
            Some(PacketHits::Each) => {
                for packet in 0..self.rays.len() {
                    let triangles = context.scratch.nearest[packet].triangles();
                    let share_major_axis = context.scratch.packet[packet].share_major_axis;
                    self.update_hits(context, number, packet, &triangles, share_major_axis);
                }
            }
            Some(PacketHits::One(triangle)) => {
                for packet in 0..self.rays.len() {
                    // The axes are set already.
                    if packet > 0 {
                        let local = &mut context.scratch.local[packet];
                        local.set_up_to(&self.rays[packet], object, number, &self.hits[packet]);
                    }
                    self.update_hits(context, number, packet, &[triangle; 16], false);
                }
            }
            // Cast rays that are not coherent tile by tile.
            None => {
                for (rays, hits) in self.rays.iter().zip(&mut *self.hits) {
                    Tile { rays, hits }.intersect_object::<L, false>(context, number);
                }
            }
        }
        true
    }

    /// Computes the hits with the triangles found for a tile.
    #[inline(always)]
    fn update_hits(
        &mut self,
        context: &mut CastContext,
        number: usize,
        packet: usize,
        triangles: &[u32; 16],
        share_major_axis: bool,
    ) {
        let rays = &self.rays[packet];
        let hits = &mut self.hits[packet];
        let mut tile = Tile { rays, hits };
        if context.geometry.objects.len() == 1 {
            tile.update_hits::<false, true>(context, number, packet, triangles, share_major_axis);
        } else {
            tile.update_hits::<false, false>(context, number, packet, triangles, false);
        }
    }

    /// Finds the triangles of one object that the rays hit; `None` if the rays are not coherent. The axes of the beams are set in
    /// full precision, the other rays only with [`PacketHits::Each`].
    #[inline(always)]
    fn traverse<L: Lanes>(&self, context: &mut CastContext, number: usize) -> Option<PacketHits> {
        // Transform the axes of the beams into the frame of the object.
        let geometry: &Geometry = context.geometry;
        let object = &geometry.objects[number];
        let blas = geometry.blas_of(object);
        let scratch = &mut *context.scratch;
        let count = self.rays.len();
        let packet_rays = &mut scratch.packet_rays;
        let local = &mut scratch.local[0];
        local.set_up_to(&self.rays[0], object, number, &self.hits[0]);
        let from = local.first_origin();
        let centre = local.to_packet_rays(&from, &blas.middle, 0xffff, packet_rays);
        let axes = packet_rays.axes();
        let packet = &mut scratch.packet[0];
        if !packet.set::<L>(packet_rays, axes, centre, blas, &mut scratch.nearest[0]) {
            return None;
        }

        // Find the frustum around all rays, and the depths of their limits.
        let along = packet_rays.along::<L>(axes[2]);
        let frustum = packet.frustum.widened(along, &self.spread, blas)?;
        let shift = f64::from(along.greatest_shift) + self.spread.origin;
        let least = f64::from(along.least_scale) - self.spread.direction;
        let [low, high] = [least * self.far[0], self.far[1]].map(|depth| depth.min(NO_LIMIT));
        let far = [
            (0.999_99 * low - shift) as f32 - 8.0 * frustum.error,
            (1.000_01 * high + shift) as f32 + 8.0 * frustum.error,
        ];
        let near = (1.000_01 * self.spread.near[1] + shift) as f32 + 8.0 * frustum.error;

        // Traverse with it.
        let traversal = PacketTraversal {
            triangles: CachedTriangles {
                cache: &mut scratch.cache,
                blas,
                mesh: geometry.mesh_of(object),
            },
            frustum: &frustum,
            rays: &mut scratch.local[..count],
            packets: &mut scratch.packet[..count],
            nearest: &mut scratch.nearest[..count],
            pending: Some(PendingPackets {
                tiles: self.rays,
                hits: self.hits,
                object,
                number,
                packet_rays,
                corners: &mut scratch.corners,
                near,
                far,
                covering: None,
            }),
            stack: &mut scratch.stack,
            edges: &mut scratch.edges,
        };
        let unpacked = &mut scratch.unpacked;
        Some(L::call(PacketCast::<false> {
            traversal,
            unpacked,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bvh::blas::Blas;
    use crate::instance::{Instance, PlacedMesh};
    use crate::tlas::Tlas;
    use crate::traverse::scratch::CastScratch;
    use crate::{Mesh, MeshId, Ray};
    use etendue_simd::Isa;
    use nalgebra::{Isometry3, Point3, Vector3};
    use std::sync::Arc;

    /// A triangle across the x axis at a distance (m): corners at `size` (m) below, and left and right above.
    fn across(distance: f64, size: f64) -> [Point3<f64>; 3] {
        [[0.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
            .map(|[y, z]| Point3::new(distance, y * size, z * size))
    }

    fn mesh_of(triangles: &[[Point3<f64>; 3]]) -> Mesh {
        Mesh {
            vertices: triangles.concat(),
            triangles: (0..triangles.len() as u32)
                .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
                .collect(),
            materials: vec![],
        }
    }

    /// What the traversal finds for sixteen beams about the x axis, four by four 1 mrad apart, of seven rays up to 1.5 mrad off.
    fn hits_with(triangles: &[[Point3<f64>; 3]]) -> PacketHits {
        struct Traverse<'a>(&'a Geometry);
        impl Kernel for Traverse<'_> {
            type Output = PacketHits;
            #[inline(always)]
            fn run<L: Lanes>(self) -> PacketHits {
                let tile = |number: usize| {
                    let angle = number as f64;
                    let off = if number == 0 { 0.0 } else { 1.5e-3 };
                    let ray = |lane: usize| {
                        let y = (lane % 4) as f64 * 1e-3 + off * angle.cos();
                        let z = (lane / 4) as f64 * 1e-3 + off * angle.sin();
                        Ray::new(
                            Point3::new(0.0, 0.02, 0.01),
                            Vector3::new(1.0, y, z).normalize(),
                        )
                    };
                    RayTile::of(&(0..16).map(ray).collect::<Vec<_>>())
                };
                let rays: Vec<RayTile> = (0..7).map(tile).collect();
                let mut hits = vec![HitTile::NONE; 7];
                let spread = RaySpread::of(&rays).expect("full tiles");
                let group = BeamGroup {
                    rays: &rays,
                    hits: &mut hits,
                    spread,
                    far: [spread.far; 2],
                };
                let mut context = CastContext {
                    geometry: self.0,
                    moving: &self.0.tlas.moving(&self.0.objects, || [0.0; 2]),
                    scratch: &mut CastScratch::new(),
                };
                group.traverse::<L>(&mut context, 0).expect("coherent rays")
            }
        }
        let mesh = Arc::new(mesh_of(triangles));
        let blas = Arc::new(Blas::new(&mesh));
        let instance = Instance::new(MeshId(0), Isometry3::identity());
        let objects = vec![PlacedMesh::new(&instance, blas.bounds)];
        Isa::detect().run_kernel(Traverse(&Geometry {
            tlas: Tlas::new(&objects),
            meshes: vec![mesh],
            blas: vec![blas],
            objects,
        }))
    }

    #[test]
    fn rays_are_traced_only_where_no_triangle_lies_under_all_of_them() {
        let wall = across(10.0, 5.0);
        assert_eq!(hits_with(&[wall]), PacketHits::One(0));
        // Behind the wall, beside the beams, and behind the sensor.
        let beside = across(8.0, 1.0).map(|corner| corner + Vector3::y() * 3.0);
        let others = [across(12.0, 5.0), beside, across(-3.0, 1.0)];
        assert_eq!(
            hits_with(&[&[wall][..], &others].concat()),
            PacketHits::One(0)
        );
        assert_eq!(hits_with(&others[1..]), PacketHits::None);
        // Smaller than the beams, in front of the wall, and an edge of the wall.
        assert_eq!(hits_with(&[wall, across(9.0, 5e-3)]), PacketHits::Each);
        let to_the_edge = Vector3::z() * 5.0;
        assert_eq!(
            hits_with(&[wall.map(|corner| corner + to_the_edge)]),
            PacketHits::Each
        );
        // Two that cross within the beams, and two that cross outside.
        let tilted_about = |y: f64| wall.map(|at| at + Vector3::x() * (at.y - y) * 0.2);
        assert_eq!(hits_with(&[wall, tilted_about(0.035)]), PacketHits::Each);
        assert_eq!(hits_with(&[wall, tilted_about(1.0)]), PacketHits::One(1));
    }
}
