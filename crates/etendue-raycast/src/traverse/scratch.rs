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
/// It takes about 50 kB, so make one per thread or batch and use it for many queries, of any caster.
///
/// ```
/// use etendue_raycast::CastScratch;
/// let mut own = CastScratch::new();
/// // In a loop that runs on all threads:
/// let mut of_worker = CastScratch::for_worker();
/// ```
pub struct CastScratch {
    /// Whether lists of rays are cast on the calling thread.
    pub(crate) is_of_worker: bool,
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
    /// Memory for queries. Long lists of rays are cast on all threads of the pool.
    pub const fn new() -> Self {
        Self {
            is_of_worker: false,
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

    /// Memory for the queries of one of several tasks that run on all threads of the pool: lists of rays are cast on
    /// the calling thread.
    ///
    /// It is in a box: a thread that waits for others begins further tasks on top of its stack, which is small.
    #[inline(never)]
    pub fn for_worker() -> Box<Self> {
        let mut scratch = Box::new(Self::new());
        scratch.is_of_worker = true;
        scratch
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
