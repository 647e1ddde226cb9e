//! One ray at a time through a mesh's tree: eight boxes or eight triangles against it.

use super::best::{Exact, LocalRay, Nearest, ROUND_OFF};
use super::block::Block;
use super::known::Faces;
use super::lanes::{Float, Lanes, Mask};
use super::packet::{BOX_MARGIN, Packet};
use super::search::Entry;
use super::sixteen::{DEPTH_ERROR, EDGE_ERROR, SURE};
use super::tree::{LEAF, MeshTree, Node};

/// A ray as its major axis sees it: origin plus depth times $(s_x, s_y, \\sigma)$. What goes by
/// axis has the two lateral ones first, then the major one.
#[derive(Debug)]
pub(crate) struct Single {
    origin: [f32; 3],
    axes: [usize; 3],
    sign: f32,
    slope: [f32; 2],
    /// Depth per metre.
    rate: [f32; 3],
    /// Which of a node's bounds is met first.
    first: [usize; 3],
    /// Depth at which a bound at zero is met, rounding allowed for: entering and leaving.
    enter: [f32; 3],
    leave: [f32; 3],
    /// Depth of the near limit.
    near: f32,
    error: f32,
    /// The largest coordinate of the origin.
    reach: f32,
    /// Where depth counts from, along the major axis of the mesh's frame.
    start: f64,
}

/// A search of one ray in one mesh.
pub(crate) struct Errand<'a, 'f, E> {
    pub faces: &'a mut Faces<'f>,
    pub rays: &'a E,
    pub lane: usize,
    pub best: Nearest,
}

impl Single {
    #[inline(always)]
    pub fn new(ray: &LocalRay, tree: &MeshTree) -> Self {
        let [dx, dy, dz] = [
            ray.direction.x.abs(),
            ray.direction.y.abs(),
            ray.direction.z.abs(),
        ];
        let axes = if dx >= dy && dx >= dz {
            [1, 2, 0]
        } else if dy >= dz {
            [2, 0, 1]
        } else {
            [0, 1, 2]
        };
        let [x, y, k] = axes;
        let along = ray.direction[k];
        let inverse = 1.0 / along.abs();
        let sign = 1.0_f64.copysign(along);
        let from = ray.origin - tree.middle;
        let reach = greater(greater(from.x.abs(), from.y.abs()), from.z.abs()) as f32 * 1.000_001;
        let slope = [
            (ray.direction[x] * inverse) as f32,
            (ray.direction[y] * inverse) as f32,
        ];
        Self::with(
            [from[x] as f32, from[y] as f32, from[k] as f32],
            axes,
            slope,
            [
                inverse_slope(slope[0]),
                inverse_slope(slope[1]),
                sign as f32,
            ],
            [
                (ray.near * along.abs()) as f32,
                ROUND_OFF * (tree.reach + reach),
                reach,
            ],
            ray.origin[k],
        )
    }

    /// One ray of a packet.
    #[inline(always)]
    pub fn of_packet(packet: &Packet, tree: &MeshTree, lane: usize) -> Self {
        let [x, y, k] = packet.wedge.axes;
        Self::with(
            [
                packet.wedge.centre[x] + packet.offset[0][lane],
                packet.wedge.centre[y] + packet.offset[1][lane],
                packet.wedge.centre[k],
            ],
            packet.wedge.axes,
            [packet.slope[0][lane], packet.slope[1][lane]],
            [
                packet.inverse[0][lane],
                packet.inverse[1][lane],
                packet.wedge.sign,
            ],
            [packet.near[lane], packet.wedge.error, packet.wedge.reach],
            tree.middle[k] + f64::from(packet.wedge.centre[k]),
        )
    }

    /// All is computed before it is put in its place: copies of parts would stall on the stores.
    #[inline(always)]
    fn with(
        origin: [f32; 3],
        axes: [usize; 3],
        slope: [f32; 2],
        rate: [f32; 3],
        [near, error, reach]: [f32; 3],
        start: f64,
    ) -> Self {
        let margin = BOX_MARGIN * error;
        let pad = [margin * rate[0].abs(), margin * rate[1].abs(), margin];
        let at = [
            origin[0] * rate[0],
            origin[1] * rate[1],
            origin[2] * rate[2],
        ];
        Self {
            origin,
            axes,
            sign: rate[2],
            slope,
            rate,
            first: [
                2 * axes[0] + usize::from(rate[0] < 0.0),
                2 * axes[1] + usize::from(rate[1] < 0.0),
                2 * axes[2] + usize::from(rate[2] < 0.0),
            ],
            enter: [-at[0] - pad[0], -at[1] - pad[1], -at[2] - pad[2]],
            leave: [pad[0] - at[0], pad[1] - at[1], pad[2] - at[2]],
            near,
            error,
            reach,
            start,
        }
    }

    /// A depth that nothing at this distance exceeds.
    pub fn farthest(&self, ray: &LocalRay, distance: f64) -> f32 {
        let depth = distance * ray.direction[self.axes[2]].abs();
        (depth as f32).next_up() + BOX_MARGIN * self.error
    }

    /// Depth of the ray's far limit.
    pub fn far_depth(&self, ray: &LocalRay) -> f64 {
        ray.far * ray.direction[self.axes[2]].abs()
    }

    /// The nearest surface below `start`; with `ANY`, some surface. Leaves open into `room`.
    #[inline(always)]
    pub fn search<L: Lanes, E: Exact, const ANY: bool>(
        &self,
        errand: &mut Errand<'_, '_, E>,
        start: u32,
        stack: &mut [Entry],
        room: &mut Block,
    ) {
        let tree = errand.faces.tree;
        let margin = BOX_MARGIN * self.error;
        let mut top = 0;
        let mut current = start;
        loop {
            loop {
                if current & LEAF != 0 {
                    let block = tree.leaf(current, room);
                    self.block::<L, E>(errand, block);
                    if ANY && errand.best.triangle != super::tree::NO_TRIANGLE {
                        return;
                    }
                    break;
                }
                let node = &tree.nodes[current as usize];
                let (mut hits, depths) = self.inside::<L>(node, errand.best.high);
                if hits == 0 {
                    break;
                }
                let entry = |at: u32| Entry {
                    child: node.child[(at & 7) as usize],
                    place: 0,
                    depth: depths[(at & 7) as usize].to_bits(),
                };
                let mut nearest = entry(hits.trailing_zeros());
                hits &= hits - 1;
                let base = top;
                while hits != 0 {
                    let mut other = entry(hits.trailing_zeros());
                    hits &= hits - 1;
                    if other.depth() < nearest.depth() {
                        std::mem::swap(&mut other, &mut nearest);
                    }
                    let mut at = top;
                    while at > base && stack[at - 1].depth() < other.depth() {
                        stack[at] = stack[at - 1];
                        at -= 1;
                    }
                    stack[at] = other;
                    top += 1;
                }
                current = nearest.child;
            }
            loop {
                if top == 0 {
                    return;
                }
                top -= 1;
                if stack[top].depth() <= errand.best.high + margin {
                    current = stack[top].child;
                    break;
                }
            }
        }
    }

    /// The boxes that the ray meets, and the depth at which it enters each.
    #[inline(always)]
    pub fn inside<L: Lanes>(&self, node: &Node, farthest: f32) -> (u32, [f32; 8]) {
        let mut enter = L::F8::splat(self.near);
        let mut leave = L::F8::splat(farthest);
        for axis in 0..3 {
            let rate = L::F8::splat(self.rate[axis]);
            let first = L::F8::load(&node.bounds[self.first[axis]]);
            let last = L::F8::load(&node.bounds[self.first[axis] ^ 1]);
            enter = enter.max(first.mul_add(rate, L::F8::splat(self.enter[axis])));
            leave = leave.min(last.mul_add(rate, L::F8::splat(self.leave[axis])));
        }
        (enter.le(leave).bits(), enter.array())
    }

    /// The triangles (by bit) that the ray meets or misses by no more than rounding.
    #[inline(always)]
    pub fn may_meet<L: Lanes>(&self, block: &Block) -> u32 {
        let a = self.sheared::<L>(block, 0);
        let b = self.sheared::<L>(block, 1);
        let c = self.sheared::<L>(block, 2);
        let u = c.1.neg_mul_add(b.0, c.0.mul(b.1));
        let v = a.1.neg_mul_add(c.0, a.0.mul(c.1));
        let w = b.1.neg_mul_add(a.0, b.0.mul(a.1));
        let unit = block.error(self.reach);
        let error = L::F8::load(&block.size).mul(L::F8::splat(EDGE_ERROR * unit));
        let zero = L::F8::splat(0.0);
        let left = zero.le(u.min(v).min(w).add(error));
        left.or(u.max(v).max(w).le(error)).bits()
    }

    #[inline(always)]
    fn block<L: Lanes, E: Exact>(&self, errand: &mut Errand<'_, '_, E>, block: &Block) {
        let a = self.sheared::<L>(block, 0);
        let b = self.sheared::<L>(block, 1);
        let c = self.sheared::<L>(block, 2);
        let u = c.1.neg_mul_add(b.0, c.0.mul(b.1));
        let v = a.1.neg_mul_add(c.0, a.0.mul(c.1));
        let w = b.1.neg_mul_add(a.0, b.0.mul(a.1));
        let least = u.min(v).min(w);
        let most = u.max(v).max(w);
        let size = L::F8::load(&block.size);
        let unit = block.error(self.reach);
        let error = size.mul(L::F8::splat(EDGE_ERROR * unit));
        let zero = L::F8::splat(0.0);
        let inside = zero.le(least.add(error)).or(most.le(error));
        let hits = inside.bits();
        if hits == 0 {
            return;
        }
        let rise = Rise::new(&a, &b, &c, size);
        let depth = rise.depth.mul(L::F8::splat(self.sign));
        let doubt = rise
            .doubt
            .mul_add(L::F8::splat(DEPTH_ERROR * unit), L::F8::splat(8.0 * unit));
        let second = v.mul(rise.inverse);
        let third = w.mul(rise.inverse);
        let clear = error.mul(L::F8::splat(SURE));
        let reach = size.mul(L::F8::splat(4.0));
        let sure = clear
            .le(least)
            .or(most.add(clear).le(zero))
            .and(a.0.abs().le(reach))
            .and(a.1.abs().le(reach));
        let mut candidates = Candidates::default();
        depth.store(&mut candidates.depth);
        doubt.store(&mut candidates.doubt);
        second.store(&mut candidates.weights[0]);
        third.store(&mut candidates.weights[1]);
        self.take(errand, block, &candidates, hits, sure.bits());
    }

    /// A vertex of eight triangles from the ray's origin: lateral, lateral, along.
    #[inline(always)]
    fn sheared<L: Lanes>(&self, block: &Block, vertex: usize) -> (L::F8, L::F8, L::F8) {
        let [x, y, k] = self.axes;
        let corner = &block.corner[vertex];
        let along = L::F8::load(&corner[k]).sub(L::F8::splat(self.origin[2]));
        let x_off = L::F8::load(&corner[x]).sub(L::F8::splat(self.origin[0]));
        let y_off = L::F8::load(&corner[y]).sub(L::F8::splat(self.origin[1]));
        (
            along.neg_mul_add(L::F8::splat(self.slope[0] * self.sign), x_off),
            along.neg_mul_add(L::F8::splat(self.slope[1] * self.sign), y_off),
            along,
        )
    }

    #[inline(always)]
    fn take<E: Exact>(
        &self,
        errand: &mut Errand<'_, '_, E>,
        block: &Block,
        candidates: &Candidates,
        hits: u32,
        sure: u32,
    ) {
        let mut left = hits;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let low = candidates.depth[at] - candidates.doubt[at];
            let high = candidates.depth[at] + candidates.doubt[at];
            let best = &mut errand.best;
            if low > best.high || high < self.near {
                continue;
            }
            let triangle = block.triangle[at];
            if sure >> at & 1 == 1 && high < best.low && low > self.near {
                *best = Nearest {
                    low,
                    high,
                    triangle,
                    weights: candidates.weights.map(|w| w[at]),
                };
            } else {
                let ray = errand.rays.ray(errand.lane);
                if let Some(meeting) = ray.decide(errand.faces, triangle, best.triangle) {
                    let depth = ray.depth(meeting.distance, self.axes[2], self.sign, self.start);
                    *best = Nearest::exact(triangle, depth, &meeting);
                }
            }
        }
    }
}

/// Triangles of a block that a ray may meet.
#[derive(Default)]
struct Candidates {
    depth: [f32; 8],
    doubt: [f32; 8],
    weights: [[f32; 8]; 2],
}

/// Where a ray passes the planes of eight triangles, in the sheared frame, where it is the axis.
struct Rise<F> {
    depth: F,
    /// How an error of the corners grows into one of the depth.
    doubt: F,
    inverse: F,
}

impl<F: Float<8>> Rise<F> {
    #[inline(always)]
    fn new(a: &(F, F, F), b: &(F, F, F), c: &(F, F, F), size: F) -> Self {
        let one = (c.0.sub(a.0), c.1.sub(a.1), c.2.sub(a.2));
        let two = (b.0.sub(a.0), b.1.sub(a.1), b.2.sub(a.2));
        let x = one.2.neg_mul_add(two.1, one.1.mul(two.2));
        let y = one.0.neg_mul_add(two.2, one.2.mul(two.0));
        let k = one.1.neg_mul_add(two.0, one.0.mul(two.1));
        let inverse = F::splat(1.0).div(k);
        let height = x.mul_add(a.0, y.mul_add(a.1, k.mul(a.2)));
        let area = x.abs().add(y.abs()).add(k.abs()).add(size.mul(size));
        Self {
            depth: height.mul(inverse),
            doubt: area.mul(inverse.abs()),
            inverse,
        }
    }
}

/// One over a slope; a parallel ray gets a number so large that no box is between.
#[inline(always)]
fn inverse_slope(slope: f32) -> f32 {
    let size = slope.abs();
    (1.0 / if size > 1e-18 { size } else { 1e-18 }).copysign(slope)
}

/// The greater of two numbers, neither of which is a NaN.
#[inline(always)]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
