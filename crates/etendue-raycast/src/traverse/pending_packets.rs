//! Packets of the rays across beams, which are set where they are needed.
//!
//! Where one triangle lies under all beams of a group, with nothing before it, all rays hit it, and the distance of each follows
//! from the plane of the triangle. Packets are needed elsewhere: at edges, and where triangles are smaller than the frustum around
//! the beams.

use super::edge_functions::EdgeFunctions;
use super::frustum::Frustum;
use super::local_ray_tile::LocalRayTile;
use super::packet::{Packet, PacketRays};
use crate::bvh::leaf_block::LeafBlock;
use crate::instance::PlacedMesh;
use crate::intersect::nearest::{NearestHit, NearestHits};
use crate::intersect::triangle_cache::CachedTriangles;
use crate::intersect::triangle_tile::TriangleTile;
use crate::ray_tile::{HitTile, RayTile};
use etendue_simd::{Float, Kernel, Lanes, Mask};

/// What the packets of a group of beams are set from, and what is known of their hits without packets.
pub(crate) struct PendingPackets<'a> {
    /// The rays in the world; those of the first tile are set in full precision.
    pub tiles: &'a [RayTile],
    /// Hits with other objects.
    pub hits: &'a [HitTile],
    pub object: &'a PlacedMesh,
    /// The number of the object.
    pub number: usize,
    pub packet_rays: &'a mut PacketRays,
    pub corners: &'a mut TriangleTile,
    /// Greatest depth of a near limit.
    pub near: f32,
    /// Bounds on the depths of the hits with `covering`; without, the least and the greatest depth at which a hit of any ray can be
    /// found.
    pub far: [f32; 2],
    /// The triangle that all rays hit, nearest so far.
    pub covering: Option<u32>,
}

/// The effect of a leaf on the hits of a group of beams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeafEffect {
    /// No ray hits a triangle of the leaf before its nearest hit.
    Nothing,
    /// All rays hit one triangle, and no other of the leaf.
    AllHit,
    /// Some rays may hit some triangles.
    SomeMayHit,
}

impl PendingPackets<'_> {
    /// Tests the triangles of a leaf against the frustum around all rays.
    #[inline(always)]
    pub fn intersect_leaf<L: Lanes>(
        &mut self,
        edges: &EdgeFunctions,
        frustum: &Frustum,
        block: &LeafBlock,
        error: f32,
    ) -> LeafEffect {
        // Exclude triangles beside the frustum, behind the nearest hits, and before the near limits.
        let mut possible = edges.intersect_frustum::<L>(frustum, block, error);
        if possible == 0 {
            return LeafEffect::Nothing;
        }
        let depths = edges.plane.depths_in_frustum::<L>(frustum, error);
        let low = L::F8::load(&depths.low);
        let high = L::F8::load(&depths.high);
        let behind = L::F8::splat(self.far[1]).lt(low);
        let before = high.lt(L::F8::splat(frustum.near_depth));
        possible &= !behind.or(before).bits();
        if possible == 0 {
            return LeafEffect::Nothing;
        }

        // Find the nearest that all rays hit.
        let certain = L::F8::splat(self.near)
            .lt(low)
            .and(high.lt(L::F8::splat(self.far[0])));
        let mut covering = possible & certain.bits();
        if covering == 0 {
            return LeafEffect::SomeMayHit;
        }
        covering &= edges.cover_frustum::<L>(frustum, block, error);
        let by_depth = |a: &usize, b: &usize| depths.high[*a].total_cmp(&depths.high[*b]);
        let slots = (0..8).filter(|slot| covering >> slot & 1 == 1);
        let Some(slot) = slots.min_by(by_depth) else {
            return LeafEffect::SomeMayHit;
        };

        // All others must be behind it.
        let behind = L::F8::splat(depths.high[slot]).lt(low).bits();
        if possible & !behind != 1 << slot {
            return LeafEffect::SomeMayHit;
        }
        self.covering = Some(block.triangle[slot]);
        self.far = [depths.low[slot], depths.high[slot]];
        LeafEffect::AllHit
    }
}

/// Sets pending packets and their nearest hits. The frustum around them is one that [`Frustum::widened`] returned.
pub(crate) struct SetPackets<'a, 'p, 't> {
    pub pending: PendingPackets<'p>,
    pub triangles: &'a mut CachedTriangles<'t>,
    pub rays: &'a mut [LocalRayTile],
    pub packets: &'a mut [Packet],
    pub nearest: &'a mut [NearestHits],
}

impl Kernel for SetPackets<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let pending = self.pending;
        let blas = self.triangles.blas;
        let Frustum {
            axes, sign, centre, ..
        } = self.packets[0].frustum;
        let from = self.rays[0].first_origin();
        let start = blas.middle[axes[2]] + f64::from(centre[axes[2]]);
        for (number, (tile, hits)) in pending.tiles.iter().zip(pending.hits).enumerate() {
            // The first is set already.
            let local = &mut self.rays[number];
            let nearest = &mut self.nearest[number];
            if number > 0 {
                local.set_up_to(tile, pending.object, pending.number, hits);
                local.to_packet_rays(&from, &blas.middle, 0xffff, pending.packet_rays);
                let packet = &mut self.packets[number];
                let is_set = packet.set::<L>(pending.packet_rays, axes, centre, blas, nearest);
                assert!(is_set, "the widened frustum has checked the coherence");
            }
            // Set the hits with the triangle that all rays hit.
            if let Some(triangle) = pending.covering {
                pending.corners.load(self.triangles, &[triangle; 16]);
                let found = local.intersect(pending.corners, false);
                for lane in (0..16).filter(|lane| !found.miss[*lane]) {
                    let distance = found.distance[lane];
                    let depth = local.depth(lane, distance, axes[2], sign, start);
                    nearest.set(lane, &NearestHit::exact(triangle, depth));
                }
            }
        }
    }
}
