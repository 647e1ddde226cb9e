//! The triangles of a leaf against sixteen coherent rays.

use super::edge_functions::EdgeFunctions;
use super::packet::Packet;
use crate::bvh::leaf_block::LeafBlock;
use crate::bvh::rounding::{CERTAIN, DEPTH_ERROR, EDGE_ERROR};
use crate::intersect::local_ray::PreciseRays;
use crate::intersect::nearest::{NearestHit, NearestHits};
use crate::intersect::triangle_cache::CachedTriangles;
use etendue_simd::{Float, Lanes, Mask};

/// The tests of one packet.
pub(crate) struct PacketLeafTest<'a, 'f, R> {
    pub triangles: &'a mut CachedTriangles<'f>,
    pub rays: &'a R,
    pub packet: &'a Packet,
    pub nearest: &'a mut NearestHits,
}

impl<R: PreciseRays> PacketLeafTest<'_, '_, R> {
    /// Tests eight triangles against the packet's frustum, and those that it intersects against each
    /// ray. Returns whether any may have been hit. `error` is the unit of the block's error bounds.
    #[inline(always)]
    pub fn intersect_leaf<L: Lanes, const ANY: bool>(
        &mut self,
        block: &LeafBlock,
        edges: &EdgeFunctions,
        error: f32,
    ) -> bool {
        // Reject triangles by the frustum.
        let mut left = edges.intersect_frustum::<L>(&self.packet.frustum, block, error);
        if left == 0 {
            return false;
        }

        // Test the others against each ray.
        let mut nearest = NearestRegisters::<L>::load(self.nearest);
        let mut hit = 0;
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            left &= left - 1;
            let possible = self.intersect_triangle::<L>(&mut nearest, block, edges, error, slot);
            self.triangles.prefetch(block.triangle[slot]);
            hit |= possible;
        }
        if hit == 0 {
            return false;
        }
        nearest.store(self.nearest);
        if ANY {
            self.nearest.close_hits();
        }
        true
    }

    /// Tests one triangle against each ray, and returns the lanes that may have hit it.
    ///
    /// About half of the triangles that are tested are hit by no ray, in no order that a branch
    /// predictor learns: finishing the computation takes less time than a mispredicted branch.
    #[inline(always)]
    fn intersect_triangle<L: Lanes>(
        &mut self,
        nearest: &mut NearestRegisters<L>,
        block: &LeafBlock,
        edges: &EdgeFunctions,
        error: f32,
        slot: usize,
    ) -> u32 {
        // Edge functions: inside, or outside by no more than the error.
        let u = edges.evaluate::<L>(self.packet, 0, slot);
        let v = edges.evaluate::<L>(self.packet, 1, slot);
        let w = edges.evaluate::<L>(self.packet, 2, slot);
        let least = u.min(v).min(w);
        let greatest = u.max(v).max(w);
        let edge_error = EDGE_ERROR * error * block.size[slot];
        let inside = L::F16::splat(-edge_error)
            .le(least)
            .or(greatest.le(L::F16::splat(edge_error)));
        if !L::BRANCHLESS && inside.bits() == 0 {
            return 0;
        }

        // Depth within the limits; the negated comparisons keep depths that are not numbers, which
        // `f64` then decides.
        let clear = L::F16::splat(CERTAIN * edge_error)
            .le(least)
            .or(greatest.le(L::F16::splat(-CERTAIN * edge_error)));
        let depths = self.depths::<L>(edges, error, slot);
        let near = L::F16::load(&self.packet.near);
        let behind = nearest.high.lt(depths.low);
        let before = depths.high.lt(near);
        let possible = inside.bits() & !behind.or(before).bits();
        if !L::BRANCHLESS && possible == 0 {
            return 0;
        }

        // Hits that `f32` decides.
        let certain = clear
            .and(self.is_near_triangle::<L>(edges, block.size[slot], slot, 0))
            .and(self.is_near_triangle::<L>(edges, block.size[slot], slot, 1))
            .and(depths.high.lt(nearest.low))
            .and(near.lt(depths.low));
        nearest.assign(block.triangle[slot], &depths, certain);

        // The others are decided in `f64`.
        let uncertain = possible & !certain.bits();
        if uncertain != 0 {
            nearest.store(self.nearest);
            self.resolve(uncertain, block.triangle[slot]);
            *nearest = NearestRegisters::load(self.nearest);
        }
        possible
    }

    /// Depths at which the rays cross the triangle's plane: $z = n \cdot (A - \Delta) / (n \cdot d)$.
    #[inline(always)]
    fn depths<L: Lanes>(&self, edges: &EdgeFunctions, error: f32, slot: usize) -> DepthBounds<L> {
        // The cosines to the plane's normal, and the distances from the plane.
        let packet = self.packet;
        let plane = &edges.plane;
        let normal = [0, 1, 2].map(|axis| plane.normal[axis][slot]);
        let facing = L::F16::splat(normal[0]).mul_add(
            L::F16::load(&packet.slope[0]),
            L::F16::splat(normal[1]).mul_add(
                L::F16::load(&packet.slope[1]),
                L::F16::splat(normal[2] * packet.frustum.sign),
            ),
        );
        let mut from_plane = L::F16::splat(plane.height[slot]);
        if packet.frustum.moment_size != 0.0 {
            let offset = L::F16::load(&packet.offset[0]);
            from_plane = L::F16::splat(normal[0]).neg_mul_add(offset, from_plane);
            let offset = L::F16::load(&packet.offset[1]);
            from_plane = L::F16::splat(normal[1]).neg_mul_add(offset, from_plane);
        }

        // The depths with their error bounds.
        let inverse = L::F16::splat(1.0).div(facing);
        let depth = from_plane.mul(inverse);
        let depth_error = inverse.abs().mul_add(
            L::F16::splat(DEPTH_ERROR * error * plane.area[slot]),
            L::F16::splat(8.0 * error),
        );
        DepthBounds {
            low: depth.sub(depth_error),
            high: depth.add(depth_error),
        }
    }

    /// The lanes that pass within four sizes of the triangle along a lateral axis: there the error
    /// bounds hold.
    #[inline(always)]
    fn is_near_triangle<L: Lanes>(
        &self,
        edges: &EdgeFunctions,
        size: f32,
        slot: usize,
        lateral: usize,
    ) -> <L::F16 as Float<16>>::Mask {
        let packet = self.packet;
        let vertex = edges.vertex[lateral][slot];
        let depth = packet.frustum.sign * edges.vertex[2][slot];
        let from_offset = L::F16::splat(vertex).sub(L::F16::load(&packet.offset[lateral]));
        L::F16::splat(depth)
            .neg_mul_add(L::F16::load(&packet.slope[lateral]), from_offset)
            .abs()
            .le(L::F16::splat(4.0 * size))
    }

    /// Decides in `f64` whether a triangle is the nearest hit of some lanes.
    #[cold]
    #[inline(never)]
    fn resolve(&mut self, mut lanes: u32, triangle: u32) {
        let frustum = &self.packet.frustum;
        let k = frustum.axes[2];
        let start = self.triangles.blas.middle[k] + f64::from(frustum.centre[k]);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let ray = self.rays.ray(lane);
            let incumbent = self.nearest.triangle(lane);
            if let Some(hit) = ray.resolve(self.triangles, triangle, incumbent) {
                let depth = ray.depth(hit.distance, k, frustum.sign, start);
                self.nearest.set(lane, &NearestHit::exact(triangle, depth));
            }
        }
    }
}

/// [`NearestHits`] in registers.
#[derive(Clone, Copy)]
struct NearestRegisters<L: Lanes> {
    low: L::F16,
    high: L::F16,
    triangle: L::F16,
}

impl<L: Lanes> NearestRegisters<L> {
    #[inline(always)]
    fn load(nearest: &NearestHits) -> Self {
        Self {
            low: L::F16::load(&nearest.low),
            high: L::F16::load(&nearest.high),
            triangle: L::F16::load(&nearest.triangle),
        }
    }

    #[inline(always)]
    fn store(&self, nearest: &mut NearestHits) {
        self.low.store(&mut nearest.low);
        self.high.store(&mut nearest.high);
        self.triangle.store(&mut nearest.triangle);
    }

    /// Makes a triangle the nearest hit of the lanes of a mask.
    #[inline(always)]
    fn assign(
        &mut self,
        triangle: u32,
        depths: &DepthBounds<L>,
        lanes: <L::F16 as Float<16>>::Mask,
    ) {
        self.low = depths.low.select(lanes, self.low);
        self.high = depths.high.select(lanes, self.high);
        self.triangle = L::F16::splat(f32::from_bits(triangle)).select(lanes, self.triangle);
    }
}

/// Bounds on the depths at which sixteen rays cross a plane.
struct DepthBounds<L: Lanes> {
    low: L::F16,
    high: L::F16,
}
