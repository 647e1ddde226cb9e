//! Sixteen coherent rays at once through a mesh's tree.

use super::best::{Best, LocalRays, Nearest};
use super::edges::Edges;
use super::lanes::{Float, Lanes, Mask};
use super::packet::{BOX_MARGIN, Packet};
use super::single::{Errand, Single};
use super::tree::{Block, LEAF, MeshTree, NO_TRIANGLE, Node};
use crate::Mesh;

/// What a triangle's edge functions may be wrong by, in units of [`Packet::error`] times its size,
/// for a ray that meets it; and for any ray that passes within four sizes.
pub(crate) const EDGE_ERROR: f32 = 128.0;
pub(crate) const SURE: f32 = 2.0;

/// A meeting's depth may be wrong by this many edge errors over the triangle's area.
pub(crate) const DEPTH_ERROR: f32 = 16.0;

/// Packets with this many rays left in a box go on as single rays.
const FEW: u32 = 4;

/// A place still to be searched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub child: u32,
    /// Number of the parent node and the place in it: `8 * node + place`.
    pub place: u32,
    /// Least depth.
    pub depth: f32,
}

/// A search in one mesh.
pub(crate) struct Search<'a> {
    pub tree: &'a MeshTree,
    pub mesh: &'a Mesh,
    pub rays: &'a LocalRays,
    pub packet: &'a Packet,
    pub best: &'a mut Best,
    pub stack: &'a mut Vec<Entry>,
}

impl Search<'_> {
    /// The nearest surface for every lane; with `ANY`, some surface.
    #[inline(always)]
    pub fn run<L: Lanes, const ANY: bool>(&mut self) {
        if self.stack.len() < 2 * self.tree.stack_need {
            self.stack
                .resize(2 * self.tree.stack_need, Entry::default());
        }
        if self.tree.root & LEAF != 0 {
            self.block::<L, ANY>(&self.tree.blocks[(self.tree.root & !LEAF) as usize]);
            return;
        }
        let mut farthest = self.farthest::<L>();
        self.stack[0] = Entry::default();
        let mut top = 1;
        let mut current = self.tree.root;
        let mut place = u32::MAX;
        loop {
            // Down, nearest first, until a block or nothing.
            loop {
                if current & LEAF != 0 {
                    self.block::<L, ANY>(&self.tree.blocks[(current & !LEAF) as usize]);
                    farthest = self.farthest::<L>();
                    break;
                }
                if place != u32::MAX {
                    let alive = self.alive::<L>(place);
                    if alive.count_ones() <= FEW {
                        self.singly::<L, ANY>(current, alive, top);
                        farthest = self.farthest::<L>();
                        break;
                    }
                }
                let node = &self.tree.nodes[current as usize];
                let (mut hits, depths) = self.inside::<L>(node, farthest);
                if hits == 0 {
                    break;
                }
                let first = hits.trailing_zeros();
                hits &= hits - 1;
                let entry = |at: u32| Entry {
                    child: node.child[at as usize],
                    place: 8 * current + at,
                    depth: depths[at as usize],
                };
                let mut nearest = entry(first);
                let base = top;
                while hits != 0 {
                    let mut other = entry(hits.trailing_zeros());
                    hits &= hits - 1;
                    if other.depth < nearest.depth {
                        std::mem::swap(&mut other, &mut nearest);
                    }
                    let mut at = top;
                    while at > base && self.stack[at - 1].depth < other.depth {
                        self.stack[at] = self.stack[at - 1];
                        at -= 1;
                    }
                    self.stack[at] = other;
                    top += 1;
                }
                current = nearest.child;
                place = nearest.place;
            }
            loop {
                top -= 1;
                if top == 0 {
                    return;
                }
                let entry = self.stack[top];
                if entry.depth <= farthest {
                    current = entry.child;
                    place = entry.place;
                    break;
                }
            }
        }
    }

    /// The greatest depth at which any lane still looks for something.
    #[inline(always)]
    fn farthest<L: Lanes>(&self) -> f32 {
        let mut farthest = f32::NEG_INFINITY;
        for high in self.best.high {
            farthest = if high > farthest { high } else { farthest };
        }
        farthest + BOX_MARGIN * self.packet.error
    }

    /// The boxes that the wedge meets, and the depth at which each begins.
    #[inline(always)]
    fn inside<L: Lanes>(&self, node: &Node, farthest: f32) -> (u32, [f32; 8]) {
        let packet = self.packet;
        let k = packet.axes[2];
        let behind = usize::from(packet.sign < 0.0);
        let sign = L::F8::splat(packet.sign);
        let start = L::F8::splat(-packet.sign * packet.centre[k]);
        let enter = L::F8::load(&node.bounds[2 * k + behind]).mul_add(sign, start);
        let leave = L::F8::load(&node.bounds[2 * k + 1 - behind]).mul_add(sign, start);
        let mut pass = enter
            .le(L::F8::splat(farthest))
            .and(L::F8::splat(packet.near_depth).le(leave));
        for lateral in 0..2 {
            let axis = packet.axes[lateral];
            let [upper, lower] = &packet.sides[lateral];
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
        let mut depths = [0.0; 8];
        enter.store(&mut depths);
        (pass.bits(), depths)
    }

    /// The lanes whose own ray meets the box.
    #[inline(always)]
    fn alive<L: Lanes>(&self, place: u32) -> u32 {
        let packet = self.packet;
        let node = &self.tree.nodes[(place / 8) as usize];
        let at = (place % 8) as usize;
        let margin = BOX_MARGIN * packet.error;
        let k = packet.axes[2];
        let a = packet.sign * (node.bounds[2 * k][at] - packet.centre[k]);
        let b = packet.sign * (node.bounds[2 * k + 1][at] - packet.centre[k]);
        let mut enter = L::F16::splat(a.min(b) - margin).max(L::F16::load(&packet.near));
        let mut leave = L::F16::splat(a.max(b) + margin).min(L::F16::load(&self.best.high));
        for lateral in 0..2 {
            let axis = packet.axes[lateral];
            let low = node.bounds[2 * axis][at] - packet.centre[axis] - margin;
            let high = node.bounds[2 * axis + 1][at] - packet.centre[axis] + margin;
            let offset = L::F16::load(&packet.offset[lateral]);
            let inverse = L::F16::load(&packet.inverse[lateral]);
            let first = L::F16::splat(low).sub(offset).mul(inverse);
            let second = L::F16::splat(high).sub(offset).mul(inverse);
            enter = enter.max(first.min(second));
            leave = leave.min(first.max(second));
        }
        enter.le(leave).bits()
    }

    #[inline(always)]
    fn singly<L: Lanes, const ANY: bool>(&mut self, child: u32, lanes: u32, top: usize) {
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let ray = self.rays.lane(lane);
            let mut errand = Errand {
                tree: self.tree,
                mesh: self.mesh,
                ray: &ray,
                best: self.best.get(lane),
            };
            let single = Single::of_packet(self.packet, lane);
            single.search::<L, ANY>(&mut errand, child, &mut self.stack[top..]);
            self.best.set(lane, &errand.best);
            if ANY {
                self.close_met();
            }
        }
    }

    /// Eight triangles against the packet as a whole, and those it may meet against each ray.
    #[inline(always)]
    fn block<L: Lanes, const ANY: bool>(&mut self, block: &Block) {
        let (edges, mut left) = Edges::new::<L>(self.packet, block);
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            self.triangle::<L, ANY>(block, &edges, at);
        }
    }

    #[inline(always)]
    fn triangle<L: Lanes, const ANY: bool>(&mut self, block: &Block, edges: &Edges, at: usize) {
        let packet = self.packet;
        let u = edges.values::<L>(packet, 0, at);
        let v = edges.values::<L>(packet, 1, at);
        let w = edges.values::<L>(packet, 2, at);
        let least = u.min(v).min(w);
        let most = u.max(v).max(w);
        let error = EDGE_ERROR * packet.error * block.size[at];
        let inside = L::F16::splat(-error)
            .le(least)
            .or(most.le(L::F16::splat(error)));
        if inside.bits() == 0 {
            return;
        }
        self.accept::<L, ANY>(block, at, [u, v, w], inside);
    }

    /// Lanes whose ray may meet the triangle: is it nearer than what they have?
    #[inline(always)]
    fn accept<L: Lanes, const ANY: bool>(
        &mut self,
        block: &Block,
        at: usize,
        weights: [L::F16; 3],
        inside: <L::F16 as Float<16>>::Mask,
    ) {
        let packet = self.packet;
        let k = packet.axes[2];
        let size = block.size[at];
        let error = EDGE_ERROR * packet.error * size;
        let [u, v, w] = weights;
        let inverse = L::F16::splat(1.0).div(u.add(v).add(w));
        let start = block.corner[0][k][at];
        let first = packet.sign * (start - packet.centre[k]);
        let second_rise = packet.sign * (block.corner[1][k][at] - start);
        let third_rise = packet.sign * (block.corner[2][k][at] - start);
        let second = v.mul(inverse);
        let third = w.mul(inverse);
        let depth = second.mul_add(
            L::F16::splat(second_rise),
            third.mul_add(L::F16::splat(third_rise), L::F16::splat(first)),
        );
        let doubt = inverse.abs().mul_add(
            L::F16::splat(DEPTH_ERROR * error * size),
            L::F16::splat(8.0 * packet.error),
        );
        let low = depth.sub(doubt);
        let high = depth.add(doubt);
        let best_high = L::F16::load(&self.best.high);
        let best_low = L::F16::load(&self.best.low);
        let near = L::F16::load(&packet.near);
        // A depth that is not a number is not left out: `f64` decides.
        let out = best_high.lt(low).or(high.lt(near));
        let possible = inside.bits() & !out.bits();
        if possible == 0 {
            return;
        }
        let least = u.min(v).min(w);
        let most = u.max(v).max(w);
        let clear = L::F16::splat(SURE * error)
            .le(least)
            .or(most.le(L::F16::splat(-SURE * error)));
        let sure = clear
            .and(self.beside::<L>(block, at, 0))
            .and(self.beside::<L>(block, at, 1))
            .and(high.lt(best_low))
            .and(near.lt(low));
        let ids = L::F16::splat(f32::from_bits(block.triangle[at]));
        low.select(sure, best_low).store(&mut self.best.low);
        high.select(sure, best_high).store(&mut self.best.high);
        let triangles = L::F16::load(&self.best.triangle);
        ids.select(sure, triangles).store(&mut self.best.triangle);
        let kept = L::F16::load(&self.best.weights[0]);
        second.select(sure, kept).store(&mut self.best.weights[0]);
        let kept = L::F16::load(&self.best.weights[1]);
        third.select(sure, kept).store(&mut self.best.weights[1]);
        let mut left = possible & !sure.bits() & self.rays.active;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            self.decide(lane, block.triangle[at]);
        }
        if ANY {
            self.close_met();
        }
    }

    /// The lanes that pass within four sizes of the triangle: there the error bounds hold.
    #[inline(always)]
    fn beside<L: Lanes>(
        &self,
        block: &Block,
        at: usize,
        lateral: usize,
    ) -> <L::F16 as Float<16>>::Mask {
        let packet = self.packet;
        let [axis, k] = [packet.axes[lateral], packet.axes[2]];
        let place = block.corner[0][axis][at] - packet.centre[axis];
        let depth = packet.sign * (block.corner[0][k][at] - packet.centre[k]);
        let from_offset = L::F16::splat(place).sub(L::F16::load(&packet.offset[lateral]));
        L::F16::splat(depth)
            .neg_mul_add(L::F16::load(&packet.slope[lateral]), from_offset)
            .abs()
            .le(L::F16::splat(4.0 * block.size[at]))
    }

    /// Lets `f64` decide whether the lane's nearest triangle is this one.
    #[inline(always)]
    fn decide(&mut self, lane: usize, triangle: u32) {
        let ray = self.rays.lane(lane);
        let incumbent = self.best.triangle(lane);
        if let Some(meeting) = ray.decide(self.mesh, triangle, incumbent) {
            let depth = self.packet.depth(lane, meeting.distance);
            let nearest = Nearest::exact(triangle, depth, &meeting);
            self.best.set(lane, &nearest);
        }
    }

    /// Lanes that have met something need no more.
    fn close_met(&mut self) {
        for lane in 0..16 {
            if self.best.triangle(lane) != NO_TRIANGLE {
                self.best.low[lane] = f32::NEG_INFINITY;
                self.best.high[lane] = f32::NEG_INFINITY;
            }
        }
    }
}
