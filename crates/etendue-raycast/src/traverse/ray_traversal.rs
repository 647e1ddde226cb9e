//! Traversal of a BLAS with a single ray: eight boxes or eight triangles against it at a time.

use super::packet::Packet;
use super::stack::{NO_BOX, StackEntry};
use crate::bvh::blas::Blas;
use crate::bvh::leaf_block::{LeafBlock, NO_TRIANGLE};
use crate::bvh::node::{LEAF, Node};
use crate::bvh::rounding::{BOX_MARGIN, CERTAIN, DEPTH_ERROR, EDGE_ERROR, ROUND_OFF};
use crate::intersect::local_ray::{LocalRay, PreciseRays};
use crate::intersect::nearest::NearestHit;
use crate::intersect::triangle_cache::CachedTriangles;
use etendue_simd::{Float, Kernel, Lanes, Mask};

/// A ray in the frame of its major axis: origin plus depth times $(s_x, s_y, \sigma)$. Arrays by axis
/// hold the two lateral axes first, then the major one.
#[derive(Debug)]
pub(crate) struct AxisRay {
    origin: [f32; 3],
    axes: [usize; 3],
    sign: f32,
    slope: [f32; 2],
    /// Depth per metre along each axis.
    rate: [f32; 3],
    /// Index of a node's bound that the ray reaches first.
    first: [usize; 3],
    /// Depth at which the ray enters and leaves a slab bounded at zero, with a margin for rounding.
    enter: [f32; 3],
    leave: [f32; 3],
    /// Depth of the near limit.
    near: f32,
    /// Unit of the error bounds of boxes, m.
    error: f32,
    /// The largest coordinate of the origin.
    reach: f32,
    /// The origin of depth along the major axis of the mesh's frame.
    start: f64,
}

/// A query of one ray for the nearest hit in one mesh.
pub(crate) struct RayQuery<'a, 'f, R> {
    pub triangles: &'a mut CachedTriangles<'f>,
    /// The full-precision rays and the lane of this one.
    pub rays: &'a R,
    pub lane: usize,
    pub nearest: NearestHit,
}

/// A traversal of the nodes below a child for the nearest hit of one ray; with `ANY`, for some hit.
pub(crate) struct RayTraversal<'a, 'f, R, const ANY: bool> {
    pub axis_ray: &'a AxisRay,
    pub query: RayQuery<'a, 'f, R>,
    /// The child.
    pub root: u32,
    pub stack: &'a mut [StackEntry],
    /// Memory for unpacked leaves.
    pub unpacked: &'a mut LeafBlock,
}

/// The parameters of an [`AxisRay`].
struct AxisRayParts {
    origin: [f32; 3],
    axes: [usize; 3],
    slope: [f32; 2],
    rate: [f32; 3],
    near: f32,
    error: f32,
    reach: f32,
    start: f64,
}

/// The nearest triangle (with `ANY`, some triangle) that one ray hits, or [`NO_TRIANGLE`].
#[inline(always)]
pub(crate) fn trace_ray<L: Lanes, const ANY: bool>(
    triangles: &mut CachedTriangles,
    ray: &LocalRay,
    stack: &mut Vec<StackEntry>,
    unpacked: &mut LeafBlock,
) -> u32 {
    let blas = triangles.blas;
    let axis_ray = AxisRay::new(ray, blas);
    if stack.len() < blas.stack_need {
        stack.resize(blas.stack_need, StackEntry::default());
    }
    // Inlined here: as a function of its own, it takes 8 to 15 % longer per ray.
    let traversal = RayTraversal::<_, ANY> {
        axis_ray: &axis_ray,
        query: RayQuery {
            triangles,
            rays: ray,
            lane: 0,
            nearest: NearestHit::none(axis_ray.far_depth(ray)),
        },
        root: blas.root,
        stack,
        unpacked,
    };
    let nearest = traversal.run::<L>();
    nearest.triangle
}

impl AxisRay {
    /// A ray in the frame of its own major axis.
    #[inline(always)]
    pub fn new(ray: &LocalRay, blas: &Blas) -> Self {
        // Choose the major axis.
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

        // Express the ray by slopes over depth.
        let [x, y, k] = axes;
        let along = ray.direction[k];
        let inverse = 1.0 / along.abs();
        let sign = 1.0_f64.copysign(along);
        let from = ray.origin - blas.middle;
        let reach = greater(greater(from.x.abs(), from.y.abs()), from.z.abs()) as f32 * 1.000_001;
        let slope = [
            (ray.direction[x] * inverse) as f32,
            (ray.direction[y] * inverse) as f32,
        ];
        Self::from_parts(&AxisRayParts {
            origin: [from[x] as f32, from[y] as f32, from[k] as f32],
            axes,
            slope,
            rate: [
                inverse_slope(slope[0]),
                inverse_slope(slope[1]),
                sign as f32,
            ],
            near: (ray.near * along.abs()) as f32,
            error: ROUND_OFF * (blas.reach + reach),
            reach,
            start: ray.origin[k],
        })
    }

    /// One ray of a packet, in the frame of the packet's major axis.
    #[inline(always)]
    pub fn of_packet(packet: &Packet, blas: &Blas, lane: usize) -> Self {
        let frustum = &packet.frustum;
        let [x, y, k] = frustum.axes;
        Self::from_parts(&AxisRayParts {
            origin: [
                frustum.centre[x] + packet.offset[0][lane],
                frustum.centre[y] + packet.offset[1][lane],
                frustum.centre[k],
            ],
            axes: frustum.axes,
            slope: [packet.slope[0][lane], packet.slope[1][lane]],
            rate: [
                packet.inverse[0][lane],
                packet.inverse[1][lane],
                frustum.sign,
            ],
            near: packet.near[lane],
            error: frustum.error,
            reach: frustum.reach,
            start: blas.middle[k] + f64::from(frustum.centre[k]),
        })
    }

    /// Fields are computed before the value is made: copies of partly written arrays would stall on
    /// their stores.
    #[inline(always)]
    fn from_parts(parts: &AxisRayParts) -> Self {
        let AxisRayParts {
            origin,
            axes,
            slope,
            rate,
            near,
            error,
            reach,
            start,
        } = *parts;
        // Margins of rounding, and the depths of the origin along the axes.
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

    /// An upper bound on the depth of points up to a distance.
    pub fn depth_bound(&self, ray: &LocalRay, distance: f64) -> f32 {
        let depth = distance * ray.direction[self.axes[2]].abs();
        (depth as f32).next_up() + BOX_MARGIN * self.error
    }

    /// Depth of the ray's far limit.
    fn far_depth(&self, ray: &LocalRay) -> f64 {
        ray.far * ray.direction[self.axes[2]].abs()
    }

    /// The boxes (by bit) that the ray enters before a depth, and the depth at which it enters each.
    #[inline(always)]
    pub fn intersect_boxes<L: Lanes>(&self, node: &Node, farthest: f32) -> (u32, [f32; 8]) {
        let mut enter = L::F8::splat(self.near);
        let mut leave = L::F8::splat(farthest);
        for axis in 0..3 {
            let rate = L::F8::splat(self.rate[axis]);
            let first = L::F8::load(&node.bounds[self.first[axis]]);
            let last = L::F8::load(&node.bounds[self.first[axis] ^ 1]);
            enter = enter.max(first.mul_add(rate, L::F8::splat(self.enter[axis])));
            leave = leave.min(last.mul_add(rate, L::F8::splat(self.leave[axis])));
        }
        (enter.le(leave).bits(), enter.to_array())
    }

    /// The triangles (by bit) that the ray hits, or misses by no more than the rounding error.
    #[inline(always)]
    pub fn may_hit<L: Lanes>(&self, block: &LeafBlock) -> u32 {
        let a = self.sheared::<L>(block, 0);
        let b = self.sheared::<L>(block, 1);
        let c = self.sheared::<L>(block, 2);
        let u = c.1.neg_mul_add(b.0, c.0.mul(b.1));
        let v = a.1.neg_mul_add(c.0, a.0.mul(c.1));
        let w = b.1.neg_mul_add(a.0, b.0.mul(a.1));
        let unit = block.error_unit(self.reach);
        let error = L::F8::load(&block.size).mul(L::F8::splat(EDGE_ERROR * unit));
        let zero = L::F8::splat(0.0);
        let left = zero.le(u.min(v).min(w).add(error));
        left.or(u.max(v).max(w).le(error)).bits()
    }

    /// Tests the ray against the triangles of a leaf.
    #[inline(always)]
    fn intersect_leaf<L: Lanes, R: PreciseRays>(
        &self,
        query: &mut RayQuery<'_, '_, R>,
        block: &LeafBlock,
    ) {
        // Edge functions of Woop's test.
        let a = self.sheared::<L>(block, 0);
        let b = self.sheared::<L>(block, 1);
        let c = self.sheared::<L>(block, 2);
        let u = c.1.neg_mul_add(b.0, c.0.mul(b.1));
        let v = a.1.neg_mul_add(c.0, a.0.mul(c.1));
        let w = b.1.neg_mul_add(a.0, b.0.mul(a.1));
        let least = u.min(v).min(w);
        let greatest = u.max(v).max(w);

        // Keep triangles that the ray hits or misses by no more than the error.
        let size = L::F8::load(&block.size);
        let unit = block.error_unit(self.reach);
        let error = size.mul(L::F8::splat(EDGE_ERROR * unit));
        let zero = L::F8::splat(0.0);
        let inside = zero.le(least.add(error)).or(greatest.le(error));
        let hits = inside.bits();
        if hits == 0 {
            return;
        }

        // Depth and its error.
        let plane = PlaneDepths::new(&a, &b, &c, size);
        let depth = plane.depth.mul(L::F8::splat(self.sign));
        let depth_error = plane
            .error
            .mul_add(L::F8::splat(DEPTH_ERROR * unit), L::F8::splat(8.0 * unit));

        // Hits that `f32` decides: inside by more than the error, near enough for the bound to hold.
        let clear = error.mul(L::F8::splat(CERTAIN));
        let reach = size.mul(L::F8::splat(4.0));
        let certain = clear
            .le(least)
            .or(greatest.add(clear).le(zero))
            .and(a.0.abs().le(reach))
            .and(a.1.abs().le(reach));
        let candidates = LeafHits {
            depth: depth.to_array(),
            error: depth_error.to_array(),
            hits,
            certain: certain.bits(),
        };
        self.update_nearest(query, block, &candidates);
    }

    /// A vertex of eight triangles relative to the ray's origin, sheared: lateral, lateral, major.
    #[inline(always)]
    fn sheared<L: Lanes>(&self, block: &LeafBlock, vertex: usize) -> (L::F8, L::F8, L::F8) {
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

    /// Updates the nearest hit; where error bounds overlap, `f64` decides.
    #[inline(always)]
    fn update_nearest<R: PreciseRays>(
        &self,
        query: &mut RayQuery<'_, '_, R>,
        block: &LeafBlock,
        candidates: &LeafHits,
    ) {
        let mut left = candidates.hits;
        while left != 0 {
            let slot = left.trailing_zeros() as usize;
            left &= left - 1;

            // Skip candidates that are certainly too far or too near.
            let low = candidates.depth[slot] - candidates.error[slot];
            let high = candidates.depth[slot] + candidates.error[slot];
            let nearest = &mut query.nearest;
            if low > nearest.high || high < self.near {
                continue;
            }

            // Accept those that are certainly nearer.
            let triangle = block.triangle[slot];
            let is_certain = candidates.certain >> slot & 1 == 1;
            if is_certain && high < nearest.low && low > self.near {
                *nearest = NearestHit {
                    low,
                    high,
                    triangle,
                };
                continue;
            }

            // Compare the others in `f64`.
            let ray = query.rays.ray(query.lane);
            if let Some(hit) = ray.resolve(query.triangles, triangle, nearest.triangle) {
                let depth = ray.depth(hit.distance, self.axes[2], self.sign, self.start);
                *nearest = NearestHit::exact(triangle, depth);
            }
        }
    }
}

impl<R: PreciseRays, const ANY: bool> Kernel for RayTraversal<'_, '_, R, ANY> {
    type Output = NearestHit;

    #[inline(always)]
    fn run<L: Lanes>(self) -> NearestHit {
        let Self {
            axis_ray,
            mut query,
            root: mut current,
            stack,
            unpacked,
        } = self;
        let blas = query.triangles.blas;
        let margin = BOX_MARGIN * axis_ray.error;
        let mut top = 0;
        loop {
            // Descend to the nearest child until there is a leaf or no hit.
            loop {
                // Test the triangles of a leaf.
                if current & LEAF != 0 {
                    let block = blas.leaf(current, unpacked);
                    axis_ray.intersect_leaf::<L, R>(&mut query, block);
                    if ANY && query.nearest.triangle != NO_TRIANGLE {
                        return query.nearest;
                    }
                    break;
                }
                // Find the children that the ray enters.
                let node = &blas.nodes[current as usize];
                let (mut hits, depths) = axis_ray.intersect_boxes::<L>(node, query.nearest.high);
                if hits == 0 {
                    break;
                }
                let entry = |slot: u32| StackEntry {
                    child: node.child[(slot & 7) as usize],
                    location: NO_BOX,
                    depth_bits: depths[(slot & 7) as usize].to_bits(),
                };
                let mut nearest = entry(hits.trailing_zeros());
                hits &= hits - 1;

                // Push the other children in order of depth, the nearest last.
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

            // Pop the next box that is nearer than the nearest hit.
            loop {
                if top == 0 {
                    return query.nearest;
                }
                top -= 1;
                if stack[top].depth() <= query.nearest.high + margin {
                    current = stack[top].child;
                    break;
                }
            }
        }
    }
}

/// Triangles of a block that a ray may hit.
struct LeafHits {
    depth: [f32; 8],
    error: [f32; 8],
    /// Which ones, by bit.
    hits: u32,
    /// Those of them that `f32` can decide, by bit.
    certain: u32,
}

/// The depths at which a ray crosses the planes of eight triangles, in the sheared frame, whose third
/// axis is the ray.
struct PlaneDepths<F> {
    depth: F,
    /// Amplification of an error of the corners to an error of the depth.
    error: F,
}

impl<F: Float<8>> PlaneDepths<F> {
    #[inline(always)]
    fn new(a: &(F, F, F), b: &(F, F, F), c: &(F, F, F), size: F) -> Self {
        // Normals.
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
            error: area.mul(inverse.abs()),
        }
    }
}

/// The inverse of a slope; that of a parallel ray is so large that no box is between.
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
