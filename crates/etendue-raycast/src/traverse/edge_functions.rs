//! The edge functions and planes of eight triangles, relative to a packet's centre.

use super::frustum::Frustum;
use super::packet::Packet;
use crate::bvh::leaf_block::LeafBlock;
use crate::bvh::rounding::{CERTAIN, DEPTH_ERROR, EDGE_ERROR};
use etendue_simd::{Float, Lanes, Mask};

/// The edge functions of Woop's test, along the packet's axes: two lateral ones, then the major one
/// (its sign is part of the normal).
///
/// With $A, B, C$ the vertices relative to the centre, that of the edge $C - B$ for a ray
/// $\Delta + z d$ is $U = d \cdot ((C - B) \times B) - (\Delta \times d) \cdot (C - B)$; $V$ and $W$
/// follow by cyclic permutation.
#[repr(C, align(32))]
pub(crate) struct EdgeFunctions {
    /// $(C - B) \times B$ of each edge.
    normal: [[[f32; 8]; 3]; 3],
    /// $C - B$ of each edge; not set where all rays start at the centre.
    edge: [[[f32; 8]; 3]; 3],
    /// The first vertex.
    pub vertex: [[f32; 8]; 3],
    pub plane: TrianglePlanes,
}

/// Rays cross a plane where the least cosine to its normal is more than this share of the greatest.
const LEAST_FACING: f32 = 1e-3;

/// The planes of eight triangles.
#[repr(C, align(32))]
pub(crate) struct TrianglePlanes {
    /// $n = (C - A) \times (B - A)$.
    pub normal: [[f32; 8]; 3],
    /// Distance of the plane from the centre, times the normal's length.
    pub height: [f32; 8],
    /// The sum of the normal's absolute components and the size squared.
    pub area: [f32; 8],
}

/// Bounds on the depths at which the rays of a frustum cross the planes of eight triangles.
pub(crate) struct PlaneDepths {
    /// Minus infinity where a ray may be parallel to the plane.
    pub low: [f32; 8],
    /// Infinite where a ray may be parallel to the plane.
    pub high: [f32; 8],
}

impl TrianglePlanes {
    const EMPTY: Self = Self {
        normal: [[0.0; 8]; 3],
        height: [0.0; 8],
        area: [0.0; 8],
    };

    /// Sets the planes of triangles by their corners and sizes.
    #[inline(always)]
    fn set<L: Lanes>(&mut self, [a, b, c]: [[L::F8; 3]; 3], size: &[f32; 8]) {
        let u = subtract(c, a);
        let v = subtract(b, a);
        let normal = [
            minor(u[1], v[2], u[2], v[1]),
            minor(u[2], v[0], u[0], v[2]),
            minor(u[0], v[1], u[1], v[0]),
        ];
        let [x, y, k] = normal;
        let height = x.mul_add(a[0], y.mul_add(a[1], k.mul(a[2])));
        let size = L::F8::load(size);
        let area = size.mul_add(size, x.abs().add(y.abs()).add(k.abs()));
        x.store(&mut self.normal[0]);
        y.store(&mut self.normal[1]);
        k.store(&mut self.normal[2]);
        height.store(&mut self.height);
        area.store(&mut self.area);
    }

    /// Depths $z = n \cdot (A - \Delta) / (n \cdot d)$ of all rays of a frustum, with `error` the unit of the block's error
    /// bounds.
    #[inline(always)]
    pub fn depths_in_frustum<L: Lanes>(&self, frustum: &Frustum, error: f32) -> PlaneDepths {
        // Bounds on the cosines to the normals, up to a sign.
        let [x, y, k] = self.normal.each_ref().map(L::F8::load);
        let [middle, half] = [frustum.slope_middle, frustum.slope_half];
        let facing = y.mul_add(L::F8::splat(middle[1]), k.mul(L::F8::splat(frustum.sign)));
        let facing = x.mul_add(L::F8::splat(middle[0]), facing);
        let spread = y.abs().mul(L::F8::splat(half[1]));
        let spread = x.abs().mul_add(L::F8::splat(half[0]), spread);
        let most = facing.abs().add(spread);
        let least = facing.abs().sub(spread);
        let crosses = most.mul(L::F8::splat(LEAST_FACING)).lt(least);

        // Bounds on the distances from the planes, with the same sign.
        let zero = L::F8::splat(0.0);
        let height = L::F8::load(&self.height);
        let height = zero.sub(height).select(facing.lt(zero), height);
        let offset = [0, 1].map(|lateral| L::F8::splat(frustum.greatest_offset(lateral)));
        let beside = x.abs().mul_add(offset[0], y.abs().mul(offset[1]));
        let low = height.sub(beside);
        let high = height.add(beside);

        // The depths with their error bounds.
        let least = L::F8::splat(1.0).div(least);
        let most = L::F8::splat(1.0).div(most);
        let area = L::F8::load(&self.area);
        let error = least.mul_add(
            area.mul(L::F8::splat(DEPTH_ERROR * error)),
            L::F8::splat(8.0 * error),
        );
        let low = low.mul(least).min(low.mul(most)).sub(error);
        let high = high.mul(least).max(high.mul(most)).add(error);
        let infinity = L::F8::splat(f32::INFINITY);
        PlaneDepths {
            low: low.select(crosses, zero.sub(infinity)).to_array(),
            high: high.select(crosses, infinity).to_array(),
        }
    }
}

/// The vector from one corner to another.
#[inline(always)]
fn subtract<F: Float<8>>(to: [F; 3], from: [F; 3]) -> [F; 3] {
    [to[0].sub(from[0]), to[1].sub(from[1]), to[2].sub(from[2])]
}

impl EdgeFunctions {
    /// A placeholder.
    pub const EMPTY: Self = Self {
        normal: [[[0.0; 8]; 3]; 3],
        edge: [[[0.0; 8]; 3]; 3],
        vertex: [[0.0; 8]; 3],
        plane: TrianglePlanes::EMPTY,
    };

    /// Sets those of the triangles of a block.
    #[inline(always)]
    pub fn set<L: Lanes>(&mut self, frustum: &Frustum, block: &LeafBlock) {
        let [a, b, c] = [
            from_centre::<L>(frustum, block, 0),
            from_centre::<L>(frustum, block, 1),
            from_centre::<L>(frustum, block, 2),
        ];
        for (own, along) in self.vertex.iter_mut().zip(a) {
            along.store(own);
        }
        self.plane.set::<L>([a, b, c], &block.size);
        self.set_edge::<L>(0, frustum, c, b);
        self.set_edge::<L>(1, frustum, a, c);
        self.set_edge::<L>(2, frustum, b, a);
    }

    /// Sets the edge from `b` to `head`.
    #[inline(always)]
    fn set_edge<L: Lanes>(
        &mut self,
        number: usize,
        frustum: &Frustum,
        head: [L::F8; 3],
        b: [L::F8; 3],
    ) {
        let e = subtract(head, b);
        let [x, y, k] = &mut self.normal[number];
        minor(e[1], b[2], e[2], b[1]).store(x);
        minor(e[2], b[0], e[0], b[2]).store(y);
        let along = minor(e[0], b[1], e[1], b[0]);
        along.mul(L::F8::splat(frustum.sign)).store(k);
        if frustum.moment_size == 0.0 {
            return;
        }
        for (to, e) in self.edge[number].iter_mut().zip(e) {
            e.store(to);
        }
    }

    /// The triangles (by bit) that a ray of a frustum may hit, with `error` the unit of the block's
    /// error bounds.
    #[inline(always)]
    pub fn intersect_frustum<L: Lanes>(
        &self,
        frustum: &Frustum,
        block: &LeafBlock,
        error: f32,
    ) -> u32 {
        let error =
            L::F8::load(&block.size).mul(L::F8::splat(EDGE_ERROR * error + frustum.moment_size));
        let [first, second, third] = self.all_bounds::<L>(frustum, error);
        let zero = L::F8::splat(0.0);
        let all_left = zero.le(first[1].min(second[1]).min(third[1]));
        let all_right = first[0].max(second[0]).max(third[0]).le(zero);
        all_left.or(all_right).bits()
    }

    /// The triangles (by bit) that all rays of a frustum hit, unless their limits exclude it: those that the frustum
    /// crosses within the edges, by more than the rounding errors, and near their first vertex, where the bounds on the errors
    /// hold ([`PacketLeafTest`](super::packet_leaf_test::PacketLeafTest)).
    #[inline(always)]
    pub fn cover_frustum<L: Lanes>(&self, frustum: &Frustum, block: &LeafBlock, error: f32) -> u32 {
        // Inside all edges.
        let size = L::F8::load(&block.size);
        let error = size.mul(L::F8::splat(
            2.0 * CERTAIN * EDGE_ERROR * error + frustum.moment_size,
        ));
        let [first, second, third] = self.all_bounds::<L>(frustum, error);
        let zero = L::F8::splat(0.0);
        let all_left = zero.lt(first[0].min(second[0]).min(third[0]));
        let all_right = first[1].max(second[1]).max(third[1]).lt(zero);
        // Near the first vertex along both lateral axes.
        let depth = L::F8::load(&self.vertex[2]).mul(L::F8::splat(frustum.sign));
        let limit = size.mul(L::F8::splat(4.0));
        let is_near = |lateral: usize| {
            let vertex = L::F8::load(&self.vertex[lateral]);
            let from_middle =
                depth.neg_mul_add(L::F8::splat(frustum.slope_middle[lateral]), vertex);
            let half = depth.abs().mul(L::F8::splat(frustum.slope_half[lateral]));
            let offset = L::F8::splat(frustum.greatest_offset(lateral));
            from_middle.abs().add(half).add(offset).le(limit)
        };
        let near = is_near(0).and(is_near(1));
        all_left.or(all_right).and(near).bits()
    }

    /// Bounds on the three edge functions for all rays of a frustum.
    #[inline(always)]
    fn all_bounds<L: Lanes>(&self, frustum: &Frustum, error: L::F8) -> [[L::F8; 2]; 3] {
        [
            self.bounds::<L>(0, frustum, error),
            self.bounds::<L>(1, frustum, error),
            self.bounds::<L>(2, frustum, error),
        ]
    }

    /// Bounds on an edge function for all rays of a frustum.
    #[inline(always)]
    fn bounds<L: Lanes>(&self, number: usize, frustum: &Frustum, error: L::F8) -> [L::F8; 2] {
        let [x, y, k] = &self.normal[number];
        let [x, y, k] = [L::F8::load(x), L::F8::load(y), L::F8::load(k)];
        let middle = &frustum.slope_middle;
        let half = &frustum.slope_half;
        let along = y.mul_add(L::F8::splat(middle[1]), k);
        let along = x.mul_add(L::F8::splat(middle[0]), along);
        let spread = y.abs().mul_add(L::F8::splat(half[1]), error);
        let spread = x.abs().mul_add(L::F8::splat(half[0]), spread);
        [along.sub(spread), along.add(spread)]
    }

    /// One edge function of the triangle of a slot, for sixteen rays.
    #[inline(always)]
    pub fn evaluate<L: Lanes>(&self, packet: &Packet, number: usize, slot: usize) -> L::F16 {
        let [x, y, k] = &self.normal[number];
        let along =
            L::F16::splat(y[slot]).mul_add(L::F16::load(&packet.slope[1]), L::F16::splat(k[slot]));
        let along = L::F16::splat(x[slot]).mul_add(L::F16::load(&packet.slope[0]), along);
        if packet.frustum.moment_size == 0.0 {
            return along;
        }
        let [x, y, k] = &self.edge[number];
        let beside = L::F16::splat(x[slot]).neg_mul_add(L::F16::load(&packet.moment[0]), along);
        let beside = L::F16::splat(y[slot]).neg_mul_add(L::F16::load(&packet.moment[1]), beside);
        L::F16::splat(k[slot]).neg_mul_add(L::F16::load(&packet.moment[2]), beside)
    }
}

/// `a * d - c * b`, as in `minor(a, d, c, b)`.
#[inline(always)]
fn minor<F: Float<8>>(a: F, d: F, c: F, b: F) -> F {
    c.neg_mul_add(b, a.mul(d))
}

/// A vertex of eight triangles relative to the packet's centre, along the packet's axes.
#[inline(always)]
fn from_centre<L: Lanes>(frustum: &Frustum, block: &LeafBlock, vertex: usize) -> [L::F8; 3] {
    let [x, y, k] = frustum.axes;
    let corner = &block.corner[vertex];
    [
        L::F8::load(&corner[x]).sub(L::F8::splat(frustum.centre[x])),
        L::F8::load(&corner[y]).sub(L::F8::splat(frustum.centre[y])),
        L::F8::load(&corner[k]).sub(L::F8::splat(frustum.centre[k])),
    ]
}
