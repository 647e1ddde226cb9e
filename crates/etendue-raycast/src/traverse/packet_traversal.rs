//! Traversal of a BLAS with packets of sixteen coherent rays.

use super::edge_functions::EdgeFunctions;
use super::frustum::{Frustum, FrustumSide};
use super::local_ray_tile::LocalRayTile;
use super::packet::Packet;
use super::packet_leaf_test::PacketLeafTest;
use super::pending_packets::{LeafEffect, PendingPackets, SetPackets};
use super::ray_traversal::{AxisRay, RayQuery, RayTraversal};
use super::stack::{NO_BOX, StackEntry};
use crate::bvh::leaf_block::LeafBlock;
use crate::bvh::node::{LEAF, Node};
use crate::bvh::rounding::BOX_MARGIN;
use crate::intersect::nearest::NearestHits;
use crate::intersect::triangle_cache::CachedTriangles;
use etendue_simd::{Float, Kernel, Lanes, Mask};

/// Largest number of packets that are traversed together: the seven rays of most beams, and a power of two.
pub(crate) const GROUP: usize = 8;

/// At an inner node that at most this number of rays enter, these continue as single rays.
const FEW: u32 = 6;

/// The same per packet of a group. The rays of two beams are two of each packet.
const FEW_OF_EACH: u32 = 2;

/// Boxes narrower than this number of half widths of the frustum are tested against each ray.
const NARROW: f32 = 2.0;

/// A traversal of one mesh with up to [`GROUP`] packets.
pub(crate) struct PacketTraversal<'a> {
    pub triangles: CachedTriangles<'a>,
    /// The frustum around all packets.
    pub frustum: &'a Frustum,
    /// The rays of each packet in full precision.
    pub rays: &'a mut [LocalRayTile],
    pub packets: &'a mut [Packet],
    pub nearest: &'a mut [NearestHits],
    /// What the packets are set from, as long as they are not set.
    pub pending: Option<PendingPackets<'a>>,
    pub stack: &'a mut Vec<StackEntry>,
    /// Memory for the edge functions of the current leaf.
    pub edges: &'a mut EdgeFunctions,
}

/// A query of packets for the nearest hit of every lane; with `ANY`, for some hit.
pub(crate) struct PacketCast<'a, const ANY: bool> {
    pub traversal: PacketTraversal<'a>,
    /// Memory for unpacked leaves.
    pub unpacked: &'a mut LeafBlock,
}

/// The hits that a traversal found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketHits {
    /// Those in `nearest`.
    Each,
    /// All rays hit this triangle. The packets, and the rays in full precision of all but the first, are not set.
    One(u32),
    /// No ray hits the mesh.
    None,
}

impl<const ANY: bool> Kernel for PacketCast<'_, ANY> {
    type Output = PacketHits;

    #[inline(always)]
    fn run<L: Lanes>(mut self) -> PacketHits {
        self.traversal.run::<L, ANY>(self.unpacked);
        match &self.traversal.pending {
            None => PacketHits::Each,
            Some(pending) => pending.covering.map_or(PacketHits::None, PacketHits::One),
        }
    }
}

impl PacketTraversal<'_> {
    /// Finds the hits. Packed leaves are unpacked into `unpacked`.
    #[inline(always)]
    fn run<L: Lanes, const ANY: bool>(&mut self, unpacked: &mut LeafBlock) {
        // Make room on the stack for the packets and, above them, for single rays.
        if self.stack.len() < 2 * self.triangles.blas.stack_need {
            self.stack
                .resize(2 * self.triangles.blas.stack_need, StackEntry::default());
        }

        // A small mesh is a single leaf.
        let mut ends = self.ends::<L>();
        if self.triangles.blas.root & LEAF != 0 {
            let block = self.triangles.blas.leaf(self.triangles.blas.root, unpacked);
            self.intersect_leaf::<L, ANY>(block, f32::NEG_INFINITY, u128::MAX, &mut ends);
            return;
        }

        // Start at the root.
        let few = FEW.max(FEW_OF_EACH * self.packets.len() as u32);
        let sides = self.frustum.sides();
        self.stack[0] = StackEntry::default();
        let mut top = 1;
        let mut current = StackEntry {
            child: self.triangles.blas.root,
            location: NO_BOX,
            depth_bits: f32::NEG_INFINITY.to_bits(),
        };
        loop {
            // Descend to the nearest child until there is a leaf or no hit.
            loop {
                let is_leaf = current.child & LEAF != 0;

                // Test a narrow box against each ray, if the rays are set; a few rays continue one by one.
                let mut active = u128::MAX;
                if current.location != NO_BOX && self.pending.is_none() {
                    active = self.intersect_box::<L>(current.location);
                    if active == 0 {
                        break;
                    }
                    if !is_leaf && active.count_ones() <= few {
                        self.trace_single_rays::<L, ANY>(current.child, active, top, unpacked);
                        ends = self.ends::<L>();
                        break;
                    }
                }

                // Test the triangles of a leaf.
                if is_leaf {
                    let block = self.triangles.blas.leaf(current.child, unpacked);
                    self.intersect_leaf::<L, ANY>(block, current.depth(), active, &mut ends);
                    break;
                }
                // Find the children that the frustum intersects.
                let node = &self.triangles.blas.nodes[current.child as usize];
                let (mut hits, narrow, depths) =
                    self.intersect_boxes::<L>(node, &sides, greatest(&ends));
                if hits == 0 {
                    break;
                }

                let entry = |slot: u32| StackEntry {
                    child: node.child[slot as usize],
                    location: if narrow >> slot & 1 == 1 {
                        8 * current.child + slot
                    } else {
                        NO_BOX
                    },
                    depth_bits: depths[slot as usize].to_bits(),
                };
                let mut nearest = entry(hits.trailing_zeros());
                hits &= hits - 1;
                self.triangles.blas.prefetch(nearest.child);

                // Push the other children in order of depth, the nearest last.
                let base = top;
                while hits != 0 {
                    let mut other = entry(hits.trailing_zeros());
                    self.triangles.blas.prefetch(other.child);
                    hits &= hits - 1;
                    if other.depth() < nearest.depth() {
                        std::mem::swap(&mut other, &mut nearest);
                    }
                    let mut at = top;
                    while at > base && self.stack[at - 1].depth() < other.depth() {
                        self.stack[at] = self.stack[at - 1];
                        at -= 1;
                    }
                    self.stack[at] = other;
                    top += 1;
                }
                current = nearest;
            }

            // Pop the next box that begins before the last hit.
            loop {
                top -= 1;
                if top == 0 {
                    return;
                }
                current = self.stack[top];
                if current.depth() <= greatest(&ends) {
                    break;
                }
            }
        }
    }

    /// The greatest depth at which a hit of any lane of a packet can still be found.
    #[inline(always)]
    fn end<L: Lanes>(&self, packet: usize) -> f32 {
        let high = L::F16::load(&self.nearest[packet].high);
        high.reduce_max() + BOX_MARGIN * self.frustum.error
    }

    /// [`PacketTraversal::end`] of all packets.
    #[inline(always)]
    fn ends<L: Lanes>(&self) -> [f32; GROUP] {
        if let Some(pending) = &self.pending {
            return [pending.far[1] + BOX_MARGIN * self.frustum.error; GROUP];
        }
        let mut ends = [f32::NEG_INFINITY; GROUP];
        for packet in 0..self.packets.len() {
            ends[packet] = self.end::<L>(packet);
        }
        ends
    }

    /// The boxes (by bit) that intersect the frustum, those among all that are narrow, and the depth
    /// at which each begins.
    #[inline(always)]
    fn intersect_boxes<L: Lanes>(
        &self,
        node: &Node,
        sides: &[[FrustumSide; 2]; 2],
        farthest: f32,
    ) -> (u32, u32, [f32; 8]) {
        // Depths at which the frustum enters and leaves each box.
        let frustum = self.frustum;
        let k = frustum.axes[2];
        let behind = usize::from(frustum.sign < 0.0);
        let sign = L::F8::splat(frustum.sign);
        let start = L::F8::splat(-frustum.sign * frustum.centre[k]);
        let enter = L::F8::load(&node.bounds[2 * k + behind]).mul_add(sign, start);
        let leave = L::F8::load(&node.bounds[2 * k + 1 - behind]).mul_add(sign, start);
        let mut pass = enter
            .le(L::F8::splat(farthest))
            .and(L::F8::splat(frustum.near_depth).le(leave));
        // Clip by the sides of the frustum; compare the boxes with its width at their depth.
        let mut narrow = L::F8::splat(0.0).lt(L::F8::splat(0.0));
        for lateral in 0..2 {
            let axis = frustum.axes[lateral];
            let width =
                L::F8::load(&node.bounds[2 * axis + 1]).sub(L::F8::load(&node.bounds[2 * axis]));
            let spread = enter.mul(L::F8::splat(NARROW * frustum.slope_half[lateral]));
            narrow = narrow.or(width.lt(spread));
            let [upper, lower] = &sides[lateral];
            let low = L::F8::load(&node.bounds[upper.depth]).neg_mul_add(
                L::F8::splat(upper.slope),
                L::F8::load(&node.bounds[2 * axis]),
            );
            let high = L::F8::load(&node.bounds[lower.depth]).neg_mul_add(
                L::F8::splat(lower.slope),
                L::F8::load(&node.bounds[2 * axis + 1]),
            );
            pass = pass
                .and(low.le(L::F8::splat(upper.bound)))
                .and(L::F8::splat(lower.bound).le(high));
        }
        (pass.bits(), narrow.bits(), enter.to_array())
    }

    /// The lanes of all packets whose ray enters a box: sixteen bits per packet.
    #[inline(always)]
    fn intersect_box<L: Lanes>(&self, location: u32) -> u128 {
        let node = &self.triangles.blas.nodes[(location / 8) as usize];
        let projected = self.frustum.project(node, (location % 8) as usize);
        let mut active = 0;
        for (number, (packet, nearest)) in self.packets.iter().zip(&*self.nearest).enumerate() {
            active |= u128::from(packet.intersect_box::<L>(&projected, nearest)) << (16 * number);
        }
        active
    }

    /// Sets the packets that are pending.
    #[inline(always)]
    fn set_packets<L: Lanes>(&mut self) {
        if let Some(pending) = self.pending.take() {
            L::call(SetPackets {
                pending,
                triangles: &mut self.triangles,
                rays: self.rays,
                packets: self.packets,
                nearest: self.nearest,
            });
        }
    }

    /// Traverses a child with single rays of the packets.
    #[inline(always)]
    fn trace_single_rays<L: Lanes, const ANY: bool>(
        &mut self,
        child: u32,
        lanes: u128,
        top: usize,
        unpacked: &mut LeafBlock,
    ) {
        // Take the next ray.
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let number = lane / 16;
            let lane = lane % 16;
            let nearest = &mut self.nearest[number];
            let ray = AxisRay::of_packet(&self.packets[number], self.triangles.blas, lane);
            // Traverse the child with it.
            let hit = L::call(RayTraversal::<LocalRayTile, ANY> {
                axis_ray: &ray,
                query: RayQuery {
                    triangles: &mut self.triangles,
                    rays: &self.rays[number],
                    lane,
                    nearest: nearest.get(lane),
                },
                root: child,
                stack: &mut self.stack[top..],
                unpacked,
            });
            // Record its hit.
            nearest.set(lane, &hit);
            if ANY {
                nearest.close_hits();
            }
        }
    }

    /// Tests the triangles of a leaf, whose box begins at a depth, against the packets that have
    /// active lanes.
    #[inline(always)]
    fn intersect_leaf<L: Lanes, const ANY: bool>(
        &mut self,
        block: &LeafBlock,
        depth: f32,
        active: u128,
        ends: &mut [f32; GROUP],
    ) {
        let error = block.error_unit(self.frustum.reach);
        self.edges.set::<L>(self.frustum, block);
        // Set the packets where one triangle does not decide the hits of all.
        if let Some(pending) = &mut self.pending {
            match pending.intersect_leaf::<L>(self.edges, self.frustum, block, error) {
                LeafEffect::Nothing => return,
                LeafEffect::AllHit => {
                    *ends = self.ends::<L>();
                    return;
                }
                LeafEffect::SomeMayHit => {
                    self.set_packets::<L>();
                    *ends = self.ends::<L>();
                }
            }
        }
        let is_inactive = |number: usize| (active >> (16 * number)).trailing_zeros() >= 16;
        for (number, packet) in self.packets.iter().enumerate() {
            if ends[number] < depth || is_inactive(number) {
                continue;
            }
            let mut test = PacketLeafTest {
                triangles: &mut self.triangles,
                rays: &self.rays[number],
                packet,
                nearest: &mut self.nearest[number],
            };
            if test.intersect_leaf::<L, ANY>(block, self.edges, error) {
                ends[number] = self.end::<L>(number);
            }
        }
    }
}

/// The greatest of some depths.
#[inline(always)]
fn greatest(depths: &[f32; GROUP]) -> f32 {
    let mut greatest = depths[0];
    for depth in &depths[1..] {
        greatest = if *depth > greatest { *depth } else { greatest };
    }
    greatest
}
