//! Memory that queries reuse.

use super::edge_functions::EdgeFunctions;
use super::local_ray_tile::LocalRayTile;
use super::packet::{Packet, PacketRays};
use super::packet_traversal::GROUP;
use super::stack::StackEntry;
use crate::bvh::leaf_block::LeafBlock;
use crate::intersect::nearest::NearestHits;
use crate::intersect::triangle_cache::TriangleCache;
use crate::intersect::triangle_tile::TriangleTile;
use crate::tlas::TlasEntry;

/// Memory that queries of a [`RayCaster`](crate::RayCaster) reuse: stacks, packets and a cache of
/// triangles. Results do not depend on its contents.
///
/// It takes about 30 kB, so make one per thread or batch and use it for many queries, of any caster.
pub struct CastScratch {
    pub(crate) stack: Vec<StackEntry>,
    pub(crate) tlas_stack: Vec<TlasEntry>,
    pub(crate) local: [LocalRayTile; GROUP],
    pub(crate) packet_rays: PacketRays,
    pub(crate) packet: [Packet; GROUP],
    pub(crate) nearest: [NearestHits; GROUP],
    pub(crate) corners: TriangleTile,
    pub(crate) cache: TriangleCache,
    pub(crate) unpacked: LeafBlock,
    pub(crate) edges: EdgeFunctions,
}

impl CastScratch {
    /// Memory for queries.
    pub const fn new() -> Self {
        Self {
            stack: Vec::new(),
            tlas_stack: Vec::new(),
            local: [LocalRayTile::EMPTY; GROUP],
            packet_rays: PacketRays::EMPTY,
            packet: [Packet::EMPTY; GROUP],
            nearest: [NearestHits::CLOSED; GROUP],
            corners: TriangleTile::EMPTY,
            cache: TriangleCache::EMPTY,
            unpacked: LeafBlock::EMPTY,
            edges: EdgeFunctions::EMPTY,
        }
    }
}

impl Default for CastScratch {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for CastScratch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CastScratch")
            .finish_non_exhaustive()
    }
}
