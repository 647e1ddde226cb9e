//! Eight triangles against sixteen coherent rays.

use super::best::{Best, Exact, Nearest};
use super::block::Block;
use super::edges::Edges;
use super::known::Faces;
use super::lanes::{Float, Lanes, Mask};
use super::packet::Packet;

/// What a triangle's edge functions may be wrong by, in units of [`Wedge::error`](super::wedge::Wedge::error) times its size,
/// for a ray that meets it; and for any ray that passes within four sizes.
pub(crate) const EDGE_ERROR: f32 = 192.0;
pub(crate) const SURE: f32 = 2.0;

/// What a meeting's depth may be wrong by, in units of the error times the triangle's normal and
/// size over the cosine.
pub(crate) const DEPTH_ERROR: f32 = 64.0;

/// One packet of a search.
pub(crate) struct Sixteen<'a, 'f, E> {
    pub faces: &'a mut Faces<'f>,
    pub rays: &'a E,
    pub packet: &'a Packet,
    pub best: &'a mut Best,
}

impl<E: Exact> Sixteen<'_, '_, E> {
    /// Eight triangles against the packet as a whole, and those it may meet against each ray.
    /// Says whether any may have been met.
    #[inline(always)]
    pub fn block<L: Lanes, const ANY: bool>(
        &mut self,
        block: &Block,
        edges: &Edges,
        error: f32,
    ) -> bool {
        let mut left = edges.near::<L>(&self.packet.wedge, block, error);
        if left == 0 {
            return false;
        }
        let mut held = Held::<L>::of::<E>(self.best);
        let mut met = 0;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let possible = self.triangle::<L>(&mut held, block, edges, error, at);
            self.faces.fetch(block.triangle[at]);
            met |= possible;
        }
        if met == 0 {
            return false;
        }
        held.store::<E>(self.best);
        if ANY {
            self.best.close_met();
        }
        true
    }

    /// One triangle against each ray. Gives the lanes that may have met it. About half of the
    /// triangles that come here are met by none, in no order that a processor could foresee: going on
    /// all the same takes less time than a branch that it mispredicts.
    #[inline(always)]
    fn triangle<L: Lanes>(
        &mut self,
        held: &mut Held<L>,
        block: &Block,
        edges: &Edges,
        error: f32,
        at: usize,
    ) -> u32 {
        let u = edges.values::<L>(self.packet, 0, at);
        let v = edges.values::<L>(self.packet, 1, at);
        let w = edges.values::<L>(self.packet, 2, at);
        let least = u.min(v).min(w);
        let most = u.max(v).max(w);
        let doubt = EDGE_ERROR * error * block.size[at];
        let inside = L::F16::splat(-doubt)
            .le(least)
            .or(most.le(L::F16::splat(doubt)));
        // With weights there is more to go through.
        let skips = E::WEIGHTS || !L::TO_THE_END;
        if skips && inside.bits() == 0 {
            return 0;
        }
        let clear = L::F16::splat(SURE * doubt)
            .le(least)
            .or(most.le(L::F16::splat(-SURE * doubt)));
        let depths = self.depths::<L>(edges, error, at);
        let near = L::F16::load(&self.packet.near);
        // A depth that is not a number may count: `f64` decides.
        let behind = held.high.lt(depths.low);
        let before = depths.high.lt(near);
        let possible = inside.bits() & !behind.or(before).bits();
        if skips && possible == 0 {
            return 0;
        }
        let sure = clear
            .and(self.beside::<L>(edges, block.size[at], [at, 0]))
            .and(self.beside::<L>(edges, block.size[at], [at, 1]))
            .and(depths.high.lt(held.low))
            .and(near.lt(depths.low));
        held.keep::<E>(block.triangle[at], &depths, sure, [v, w]);
        let doubtful = possible & !sure.bits();
        if doubtful != 0 {
            held.store::<E>(self.best);
            self.decide(doubtful, block.triangle[at]);
            *held = Held::of::<E>(self.best);
        }
        possible
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

    /// Lets `f64` decide whether the nearest triangle of these lanes is this one.
    #[cold]
    #[inline(never)]
    fn decide(&mut self, mut lanes: u32, triangle: u32) {
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let ray = self.rays.ray(lane);
            let incumbent = self.best.triangle(lane);
            if let Some(meeting) = ray.decide(self.faces, triangle, incumbent) {
                let k = self.packet.wedge.axes[2];
                let start = self.faces.tree.middle[k] + f64::from(self.packet.wedge.centre[k]);
                let depth = ray.depth(meeting.distance, k, self.packet.wedge.sign, start);
                let nearest = Nearest::exact(triangle, depth, &meeting);
                self.best.set(lane, &nearest);
            }
        }
    }
}

/// [`Best`] in registers.
#[derive(Clone, Copy)]
struct Held<L: Lanes> {
    low: L::F16,
    high: L::F16,
    triangle: L::F16,
    weights: [L::F16; 2],
}

impl<L: Lanes> Held<L> {
    #[inline(always)]
    fn of<E: Exact>(best: &Best) -> Self {
        let weights = |vertex: usize| {
            if E::WEIGHTS {
                L::F16::load(&best.weights[vertex])
            } else {
                L::F16::splat(0.0)
            }
        };
        Self {
            low: L::F16::load(&best.low),
            high: L::F16::load(&best.high),
            triangle: L::F16::load(&best.triangle),
            weights: [weights(0), weights(1)],
        }
    }

    #[inline(always)]
    fn store<E: Exact>(&self, best: &mut Best) {
        self.low.store(&mut best.low);
        self.high.store(&mut best.high);
        self.triangle.store(&mut best.triangle);
        if E::WEIGHTS {
            self.weights[0].store(&mut best.weights[0]);
            self.weights[1].store(&mut best.weights[1]);
        }
    }

    /// Makes a triangle the nearest of those lanes.
    #[inline(always)]
    fn keep<E: Exact>(
        &mut self,
        triangle: u32,
        depths: &Depths<L>,
        lanes: <L::F16 as Float<16>>::Mask,
        weights: [L::F16; 2],
    ) {
        self.low = depths.low.select(lanes, self.low);
        self.high = depths.high.select(lanes, self.high);
        self.triangle = L::F16::splat(f32::from_bits(triangle)).select(lanes, self.triangle);
        if E::WEIGHTS {
            for (own, new) in self.weights.iter_mut().zip(weights) {
                *own = new.mul(depths.inverse).select(lanes, *own);
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
