//! Sixteen coherent rays at once through a mesh's tree.

use super::best::{Best, Exact, Nearest};
use super::block::Block;
use super::edges::Edges;
use super::lanes::{Float, Lanes, Mask};
use super::packet::{BOX_MARGIN, Packet};
use super::single::{Errand, Single};
use super::tree::{LEAF, MeshTree, NO_TRIANGLE, Node};
use crate::Mesh;

/// What a triangle's edge functions may be wrong by, in units of [`Packet::error`] times its size,
/// for a ray that meets it; and for any ray that passes within four sizes.
pub(crate) const EDGE_ERROR: f32 = 192.0;
pub(crate) const SURE: f32 = 2.0;

/// What a meeting's depth may be wrong by, in units of the error times the triangle's normal and
/// size over the cosine.
pub(crate) const DEPTH_ERROR: f32 = 64.0;

/// Packets with this many rays left in a box go on as single rays.
const FEW: u32 = 4;

/// Boxes narrower than this many half widths of the wedge are tested against each ray.
const NARROW: f32 = 2.0;

/// A place whose box is too wide to be worth testing against each ray.
const WIDE: u32 = u32::MAX;

/// A place still to be searched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub child: u32,
    /// Number of the parent node and the place in it, `8 * node + place`, or [`WIDE`].
    pub place: u32,
    /// Bits of the least depth: entries then move through integer registers.
    pub depth: u32,
}

impl Entry {
    #[inline(always)]
    pub fn depth(&self) -> f32 {
        f32::from_bits(self.depth)
    }
}

/// A search in one mesh.
pub(crate) struct Search<'a, E> {
    pub tree: &'a MeshTree,
    pub mesh: &'a Mesh,
    pub rays: &'a E,
    pub packet: &'a Packet,
    pub best: &'a mut Best,
    pub stack: &'a mut Vec<Entry>,
}

impl<E: Exact> Search<'_, E> {
    /// The nearest surface for every lane; with `ANY`, some surface. Leaves open into `room`.
    #[inline(always)]
    pub fn run<L: Lanes, const ANY: bool>(&mut self, room: &mut Block) {
        if self.stack.len() < 2 * self.tree.stack_need {
            self.stack
                .resize(2 * self.tree.stack_need, Entry::default());
        }
        if self.tree.root & LEAF != 0 {
            self.block::<L, ANY>(self.tree.leaf(self.tree.root, room));
            return;
        }
        let mut farthest = self.farthest::<L>();
        self.stack[0] = Entry::default();
        let mut top = 1;
        let mut current = self.tree.root;
        let mut place = WIDE;
        loop {
            // Down, nearest first, until a block or nothing.
            loop {
                if current & LEAF != 0 {
                    let block = self.tree.leaf(current, room);
                    if self.block::<L, ANY>(block) {
                        farthest = self.farthest::<L>();
                    }
                    break;
                }
                if place != WIDE {
                    let alive = self.alive::<L>(place);
                    if alive.count_ones() <= FEW {
                        self.singly::<L, ANY>(current, alive, top, room);
                        farthest = self.farthest::<L>();
                        break;
                    }
                }
                let node = &self.tree.nodes[current as usize];
                let (mut hits, small, depths) = self.inside::<L>(node, farthest);
                if hits == 0 {
                    break;
                }
                let first = hits.trailing_zeros();
                hits &= hits - 1;
                let entry = |at: u32| Entry {
                    child: node.child[at as usize],
                    place: if small >> at & 1 == 1 {
                        8 * current + at
                    } else {
                        WIDE
                    },
                    depth: depths[at as usize].to_bits(),
                };
                let mut nearest = entry(first);
                let base = top;
                while hits != 0 {
                    let mut other = entry(hits.trailing_zeros());
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
                current = nearest.child;
                place = nearest.place;
            }
            loop {
                top -= 1;
                if top == 0 {
                    return;
                }
                let entry = self.stack[top];
                if entry.depth() <= farthest {
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
        L::F16::load(&self.best.high).greatest() + BOX_MARGIN * self.packet.error
    }

    /// The boxes that the wedge meets, and the depth at which each begins.
    #[inline(always)]
    fn inside<L: Lanes>(&self, node: &Node, farthest: f32) -> (u32, u32, [f32; 8]) {
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
        let mut small = L::F8::splat(0.0).lt(L::F8::splat(0.0));
        for lateral in 0..2 {
            let axis = packet.axes[lateral];
            let width =
                L::F8::load(&node.bounds[2 * axis + 1]).sub(L::F8::load(&node.bounds[2 * axis]));
            let wedge = enter.mul(L::F8::splat(NARROW * packet.slope_half[lateral]));
            small = small.or(width.lt(wedge));
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
        (pass.bits(), small.bits(), enter.array())
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
        let mut enter =
            L::F16::splat(if a < b { a } else { b } - margin).max(L::F16::load(&packet.near));
        let mut leave =
            L::F16::splat(if a < b { b } else { a } + margin).min(L::F16::load(&self.best.high));
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
    fn singly<L: Lanes, const ANY: bool>(
        &mut self,
        child: u32,
        lanes: u32,
        top: usize,
        room: &mut Block,
    ) {
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let mut errand = Errand {
                tree: self.tree,
                mesh: self.mesh,
                rays: self.rays,
                lane,
                best: self.best.get(lane),
            };
            let single = Single::of_packet(self.packet, self.tree, lane);
            single.search::<L, E, ANY>(&mut errand, child, &mut self.stack[top..], room);
            self.best.set(lane, &errand.best);
            if ANY {
                self.close_met();
            }
        }
    }

    /// Eight triangles against the packet as a whole, and those it may meet against each ray.
    #[inline(always)]
    fn block<L: Lanes, const ANY: bool>(&mut self, block: &Block) -> bool {
        let error = block.error(self.packet.reach);
        let (edges, mut left) = Edges::new::<L>(self.packet, block, error);
        let mut nearer = false;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            nearer |= self.triangle::<L, ANY>(block, &edges, error, at);
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
        let depths = self.depths::<L>(block, edges, error, at);
        let possible = self.possible::<L>(&depths, inside);
        if possible == 0 {
            return false;
        }
        let sure = clear
            .and(self.beside::<L>(block, at, 0))
            .and(self.beside::<L>(block, at, 1))
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
            self.close_met();
        }
        true
    }

    /// Where the rays pass the triangle's plane: $z = n \cdot (A - \Delta) / (n \cdot d)$.
    #[inline(always)]
    fn depths<L: Lanes>(&self, block: &Block, edges: &Edges, error: f32, at: usize) -> Depths<L> {
        let packet = self.packet;
        let [x, y, k] = packet.axes;
        let [a, b] = [&edges.edge[1], &edges.edge[2]];
        let [ax, ay, ak] = [-a[0][at], -a[1][at], -a[2][at]];
        let [bx, by, bk] = [b[0][at], b[1][at], b[2][at]];
        let normal = [ay * bk - ak * by, ak * bx - ax * bk, ax * by - ay * bx];
        let start = &block.corner[0];
        let height = normal[0] * (start[x][at] - packet.centre[x])
            + normal[1] * (start[y][at] - packet.centre[y])
            + normal[2] * (start[k][at] - packet.centre[k]);
        let facing = L::F16::splat(normal[0]).mul_add(
            L::F16::load(&packet.slope[0]),
            L::F16::splat(normal[1]).mul_add(
                L::F16::load(&packet.slope[1]),
                L::F16::splat(normal[2] * packet.sign),
            ),
        );
        let mut from_plane = L::F16::splat(height);
        if packet.moment_size != 0.0 {
            let offset = L::F16::load(&packet.offset[0]);
            from_plane = L::F16::splat(normal[0]).neg_mul_add(offset, from_plane);
            let offset = L::F16::load(&packet.offset[1]);
            from_plane = L::F16::splat(normal[1]).neg_mul_add(offset, from_plane);
        }
        let inverse = L::F16::splat(1.0).div(facing);
        let size = block.size[at];
        let area = normal[0].abs() + normal[1].abs() + normal[2].abs() + size * size;
        let depth = from_plane.mul(inverse);
        let doubt = inverse.abs().mul_add(
            L::F16::splat(DEPTH_ERROR * error * area),
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
        let ray = self.rays.ray(lane);
        let incumbent = self.best.triangle(lane);
        if let Some(meeting) = ray.decide(self.mesh, triangle, incumbent) {
            let k = self.packet.axes[2];
            let start = self.tree.middle[k] + f64::from(self.packet.centre[k]);
            let depth = ray.depth(meeting.distance, k, self.packet.sign, start);
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
