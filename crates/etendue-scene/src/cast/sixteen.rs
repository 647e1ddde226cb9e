//! Eight triangles against sixteen coherent rays.

use super::best::{Best, Exact, Nearest};
use super::block::Block;
use super::edges::Edges;
use super::lanes::{Float, Lanes, Mask};
use super::packet::Packet;
use super::tree::MeshTree;
use crate::Mesh;

/// What a triangle's edge functions may be wrong by, in units of [`Wedge::error`](super::wedge::Wedge::error) times its size,
/// for a ray that meets it; and for any ray that passes within four sizes.
pub(crate) const EDGE_ERROR: f32 = 192.0;
pub(crate) const SURE: f32 = 2.0;

/// What a meeting's depth may be wrong by, in units of the error times the triangle's normal and
/// size over the cosine.
pub(crate) const DEPTH_ERROR: f32 = 64.0;

/// One packet of a search.
pub(crate) struct Sixteen<'a, E> {
    pub tree: &'a MeshTree,
    pub mesh: &'a Mesh,
    pub rays: &'a E,
    pub packet: &'a Packet,
    pub best: &'a mut Best,
}

impl<E: Exact> Sixteen<'_, E> {
    /// Eight triangles against the packet as a whole, and those it may meet against each ray.
    #[inline(always)]
    pub fn block<L: Lanes, const ANY: bool>(
        &mut self,
        block: &Block,
        edges: &Edges,
        error: f32,
    ) -> bool {
        let mut left = edges.near::<L>(&self.packet.wedge, block, error);
        let mut nearer = false;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            nearer |= self.triangle::<L, ANY>(block, edges, error, at);
        }
        nearer
    }

    #[inline(always)]
    fn triangle<L: Lanes, const ANY: bool>(
        &mut self,
        block: &Block,
        edges: &Edges,
        error: f32,
        at: usize,
    ) -> bool {
        let u = edges.values::<L>(self.packet, 0, at);
        let v = edges.values::<L>(self.packet, 1, at);
        let w = edges.values::<L>(self.packet, 2, at);
        let least = u.min(v).min(w);
        let most = u.max(v).max(w);
        let doubt = EDGE_ERROR * error * block.size[at];
        let inside = L::F16::splat(-doubt)
            .le(least)
            .or(most.le(L::F16::splat(doubt)));
        if inside.bits() == 0 {
            return false;
        }
        let clear = L::F16::splat(SURE * doubt)
            .le(least)
            .or(most.le(L::F16::splat(-SURE * doubt)));
        let depths = self.depths::<L>(edges, error, at);
        let possible = self.possible::<L>(&depths, inside);
        if possible == 0 {
            return false;
        }
        let sure = clear
            .and(self.beside::<L>(edges, block.size[at], [at, 0]))
            .and(self.beside::<L>(edges, block.size[at], [at, 1]))
            .and(depths.high.lt(L::F16::load(&self.best.low)))
            .and(L::F16::load(&self.packet.near).lt(depths.low));
        self.keep::<L>(block.triangle[at], &depths, sure, [v, w]);
        let mut left = possible & !sure.bits();
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            self.decide(lane, block.triangle[at]);
        }
        if ANY {
            self.best.close_met();
        }
        true
    }

    /// Where the rays pass the triangle's plane: $z = n \cdot (A - \Delta) / (n \cdot d)$.
    #[inline(always)]
    fn depths<L: Lanes>(&self, edges: &Edges, error: f32, at: usize) -> Depths<L> {
        let packet = self.packet;
        let plane = &edges.plane;
        let normal = [0, 1, 2].map(|axis| plane.normal[axis][at]);
        let facing = L::F16::splat(normal[0]).mul_add(
            L::F16::load(&packet.slope[0]),
            L::F16::splat(normal[1]).mul_add(
                L::F16::load(&packet.slope[1]),
                L::F16::splat(normal[2] * packet.wedge.sign),
            ),
        );
        let mut from_plane = L::F16::splat(plane.height[at]);
        if packet.wedge.moment_size != 0.0 {
            let offset = L::F16::load(&packet.offset[0]);
            from_plane = L::F16::splat(normal[0]).neg_mul_add(offset, from_plane);
            let offset = L::F16::load(&packet.offset[1]);
            from_plane = L::F16::splat(normal[1]).neg_mul_add(offset, from_plane);
        }
        let inverse = L::F16::splat(1.0).div(facing);
        let depth = from_plane.mul(inverse);
        let doubt = inverse.abs().mul_add(
            L::F16::splat(DEPTH_ERROR * error * plane.area[at]),
            L::F16::splat(8.0 * error),
        );
        Depths {
            low: depth.sub(doubt),
            high: depth.add(doubt),
            inverse,
        }
    }

    /// The lanes where the depth may count. One that is not a number may: `f64` decides.
    #[inline(always)]
    fn possible<L: Lanes>(&self, depths: &Depths<L>, inside: <L::F16 as Float<16>>::Mask) -> u32 {
        let behind = L::F16::load(&self.best.high).lt(depths.low);
        let before = depths.high.lt(L::F16::load(&self.packet.near));
        inside.bits() & !behind.or(before).bits()
    }

    /// Makes the triangle the nearest of those lanes.
    #[inline(always)]
    fn keep<L: Lanes>(
        &mut self,
        triangle: u32,
        depths: &Depths<L>,
        lanes: <L::F16 as Float<16>>::Mask,
        weights: [L::F16; 2],
    ) {
        let best = &mut *self.best;
        let id = L::F16::splat(f32::from_bits(triangle));
        put::<L>(&mut best.low, lanes, depths.low);
        put::<L>(&mut best.high, lanes, depths.high);
        put::<L>(&mut best.triangle, lanes, id);
        put::<L>(&mut best.weights[0], lanes, weights[0].mul(depths.inverse));
        put::<L>(&mut best.weights[1], lanes, weights[1].mul(depths.inverse));
    }

    /// The lanes that pass within four sizes of the triangle: there the error bounds hold.
    #[inline(always)]
    fn beside<L: Lanes>(
        &self,
        edges: &Edges,
        size: f32,
        [at, lateral]: [usize; 2],
    ) -> <L::F16 as Float<16>>::Mask {
        let packet = self.packet;
        let place = edges.start[lateral][at];
        let depth = packet.wedge.sign * edges.start[2][at];
        let from_offset = L::F16::splat(place).sub(L::F16::load(&packet.offset[lateral]));
        L::F16::splat(depth)
            .neg_mul_add(L::F16::load(&packet.slope[lateral]), from_offset)
            .abs()
            .le(L::F16::splat(4.0 * size))
    }

    /// Lets `f64` decide whether the lane's nearest triangle is this one.
    #[inline(always)]
    fn decide(&mut self, lane: usize, triangle: u32) {
        let ray = self.rays.ray(lane);
        let incumbent = self.best.triangle(lane);
        if let Some(meeting) = ray.decide(self.mesh, triangle, incumbent) {
            let k = self.packet.wedge.axes[2];
            let start = self.tree.middle[k] + f64::from(self.packet.wedge.centre[k]);
            let depth = ray.depth(meeting.distance, k, self.packet.wedge.sign, start);
            let nearest = Nearest::exact(triangle, depth, &meeting);
            self.best.set(lane, &nearest);
        }
    }
}

/// Bounds on where sixteen rays pass a plane.
struct Depths<L: Lanes> {
    low: L::F16,
    high: L::F16,
    /// One over the rays' component against the normal.
    inverse: L::F16,
}

#[inline(always)]
fn put<L: Lanes>(to: &mut [f32; 16], lanes: <L::F16 as Float<16>>::Mask, new: L::F16) {
    new.select(lanes, L::F16::load(to)).store(to);
}
