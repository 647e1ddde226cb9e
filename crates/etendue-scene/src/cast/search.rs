//! Coherent rays at once through a mesh's tree, in packets of sixteen.

use super::best::{Best, Exact};
use super::block::Block;
use super::edges::Edges;
use super::known::Faces;
use super::lanes::{Float, Lanes, Mask};
use super::packet::{BOX_MARGIN, Packet};
use super::single::{Errand, Single};
use super::sixteen::Sixteen;
use super::tree::{LEAF, Node};
use super::wedge::{Side, Wedge};

/// Packets that are searched for together.
pub(crate) const GROUP: usize = 4;

/// With this many rays of all packets left in a box of boxes they go on as single rays.
const FEW: u32 = 6;

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

/// A search in one mesh, for up to [`GROUP`] packets.
pub(crate) struct Search<'a, E> {
    pub faces: Faces<'a>,
    /// What is around all packets.
    pub wedge: &'a Wedge,
    /// The rays of each packet in full precision.
    pub rays: &'a [E],
    pub packets: &'a [Packet],
    pub best: &'a mut [Best],
    pub stack: &'a mut Vec<Entry>,
    /// Of the block that is tested.
    pub edges: &'a mut Edges,
}

impl<E: Exact> Search<'_, E> {
    /// The nearest surface for every lane; with `ANY`, some surface. Leaves open into `room`.
    #[inline(always)]
    pub fn run<L: Lanes, const ANY: bool>(&mut self, room: &mut Block) {
        if self.stack.len() < 2 * self.faces.tree.stack_need {
            self.stack
                .resize(2 * self.faces.tree.stack_need, Entry::default());
        }
        let mut ends = self.ends::<L>();
        if self.faces.tree.root & LEAF != 0 {
            let block = self.faces.tree.leaf(self.faces.tree.root, room);
            self.block::<L, ANY>(block, f32::NEG_INFINITY, u64::MAX, &mut ends);
            return;
        }
        let sides = self.wedge.sides();
        self.stack[0] = Entry::default();
        let mut top = 1;
        let mut current = Entry {
            child: self.faces.tree.root,
            place: WIDE,
            depth: f32::NEG_INFINITY.to_bits(),
        };
        loop {
            // Down, nearest first, until a block or nothing.
            loop {
                let is_leaf = current.child & LEAF != 0;
                let mut alive = u64::MAX;
                if current.place != WIDE {
                    alive = self.alive::<L>(current.place);
                    if alive == 0 {
                        break;
                    }
                    if !is_leaf && alive.count_ones() <= FEW {
                        self.singly::<L, ANY>(current.child, alive, top, room);
                        ends = self.ends::<L>();
                        break;
                    }
                }
                if is_leaf {
                    let block = self.faces.tree.leaf(current.child, room);
                    self.block::<L, ANY>(block, current.depth(), alive, &mut ends);
                    break;
                }
                let node = &self.faces.tree.nodes[current.child as usize];
                let (mut hits, small, depths) = self.inside::<L>(node, &sides, last(&ends));
                if hits == 0 {
                    break;
                }
                let first = hits.trailing_zeros();
                hits &= hits - 1;
                let entry = |at: u32| Entry {
                    child: node.child[at as usize],
                    place: if small >> at & 1 == 1 {
                        8 * current.child + at
                    } else {
                        WIDE
                    },
                    depth: depths[at as usize].to_bits(),
                };
                let mut nearest = entry(first);
                self.faces.tree.fetch(nearest.child);
                let base = top;
                while hits != 0 {
                    let mut other = entry(hits.trailing_zeros());
                    self.faces.tree.fetch(other.child);
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
            loop {
                top -= 1;
                if top == 0 {
                    return;
                }
                current = self.stack[top];
                if current.depth() <= last(&ends) {
                    break;
                }
            }
        }
    }

    /// The greatest depth at which any lane of a packet still looks for something.
    #[inline(always)]
    fn end<L: Lanes>(&self, packet: usize) -> f32 {
        let high = L::F16::load(&self.best[packet].high);
        high.greatest() + BOX_MARGIN * self.wedge.error
    }

    /// [`Search::end`] of all packets.
    #[inline(always)]
    fn ends<L: Lanes>(&self) -> [f32; GROUP] {
        let mut ends = [f32::NEG_INFINITY; GROUP];
        for packet in 0..self.packets.len() {
            ends[packet] = self.end::<L>(packet);
        }
        ends
    }

    /// The boxes that the wedge meets, and the depth at which each begins.
    #[inline(always)]
    fn inside<L: Lanes>(
        &self,
        node: &Node,
        sides: &[[Side; 2]; 2],
        farthest: f32,
    ) -> (u32, u32, [f32; 8]) {
        let wedge = self.wedge;
        let k = wedge.axes[2];
        let behind = usize::from(wedge.sign < 0.0);
        let sign = L::F8::splat(wedge.sign);
        let start = L::F8::splat(-wedge.sign * wedge.centre[k]);
        let enter = L::F8::load(&node.bounds[2 * k + behind]).mul_add(sign, start);
        let leave = L::F8::load(&node.bounds[2 * k + 1 - behind]).mul_add(sign, start);
        let mut pass = enter
            .le(L::F8::splat(farthest))
            .and(L::F8::splat(wedge.near_depth).le(leave));
        let mut small = L::F8::splat(0.0).lt(L::F8::splat(0.0));
        for lateral in 0..2 {
            let axis = wedge.axes[lateral];
            let width =
                L::F8::load(&node.bounds[2 * axis + 1]).sub(L::F8::load(&node.bounds[2 * axis]));
            let spread = enter.mul(L::F8::splat(NARROW * wedge.slope_half[lateral]));
            small = small.or(width.lt(spread));
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
        (pass.bits(), small.bits(), enter.array())
    }

    /// The lanes whose own ray meets the box, packet after packet.
    #[inline(always)]
    fn alive<L: Lanes>(&self, place: u32) -> u64 {
        let node = &self.faces.tree.nodes[(place / 8) as usize];
        let seen = self.wedge.see(node, (place % 8) as usize);
        let mut alive = 0;
        for (number, (packet, best)) in self.packets.iter().zip(&*self.best).enumerate() {
            alive |= u64::from(packet.alive::<L>(&seen, best)) << (16 * number);
        }
        alive
    }

    #[inline(always)]
    fn singly<L: Lanes, const ANY: bool>(
        &mut self,
        child: u32,
        lanes: u64,
        top: usize,
        room: &mut Block,
    ) {
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let (number, lane) = (lane / 16, lane % 16);
            let best = &mut self.best[number];
            let single = Single::of_packet(&self.packets[number], self.faces.tree, lane);
            let mut errand = Errand {
                faces: &mut self.faces,
                rays: &self.rays[number],
                lane,
                best: best.get(lane),
            };
            single.search::<L, E, ANY>(&mut errand, child, &mut self.stack[top..], room);
            best.set(lane, &errand.best);
            if ANY {
                best.close_met();
            }
        }
    }

    /// Eight triangles, at least so deep, against each packet with rays that may meet them as a
    /// whole, and those it may meet against each ray.
    #[inline(always)]
    fn block<L: Lanes, const ANY: bool>(
        &mut self,
        block: &Block,
        depth: f32,
        alive: u64,
        ends: &mut [f32; GROUP],
    ) {
        let error = block.error(self.wedge.reach);
        self.edges.take::<L>(self.wedge, block);
        let has_none = |number: usize| (alive >> (16 * number)).trailing_zeros() >= 16;
        for (number, packet) in self.packets.iter().enumerate() {
            if ends[number] < depth || has_none(number) {
                continue;
            }
            let mut sixteen = Sixteen {
                faces: &mut self.faces,
                rays: &self.rays[number],
                packet,
                best: &mut self.best[number],
            };
            if sixteen.block::<L, ANY>(block, self.edges, error) {
                ends[number] = self.end::<L>(number);
            }
        }
    }
}

/// The greatest of some depths.
#[inline(always)]
fn last(ends: &[f32; GROUP]) -> f32 {
    let mut last = ends[0];
    for end in &ends[1..] {
        last = if *end > last { *end } else { last };
    }
    last
}
