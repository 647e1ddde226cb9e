//! Sixteen rays against sixteen triangles in `f64`.

use super::lane_mask::LaneMask;
use super::triangle::axes;
use super::triangle_cache::{CachedTriangle, CachedTriangles};
use crate::bvh::blas::BlasId;
use crate::bvh::leaf_block::NO_TRIANGLE;
use nalgebra::Vector3;

/// Sixteen triangles in their mesh's frame, one per ray.
#[repr(C, align(64))]
pub(crate) struct TriangleTile {
    /// Vertices by vertex, axis and lane.
    vertex: [[[f64; 16]; 3]; 3],
    /// Unit normals, by axis and lane.
    pub normal: [[f64; 16]; 3],
    /// The mesh of the triangles, and their numbers; `NO_TRIANGLE` in lanes with any triangle.
    mesh: BlasId,
    numbers: [u32; 16],
}

/// The intersections of sixteen rays.
pub(crate) struct IntersectionTile {
    pub distance: [f64; 16],
    pub barycentric: [[f64; 16]; 2],
    /// Lanes whose ray misses its triangle.
    pub miss: [bool; 16],
}

/// Sixteen numbers for each axis.
type Axes<'a> = [&'a [f64; 16]; 3];

impl TriangleTile {
    /// Placeholder triangles.
    pub const EMPTY: Self = Self {
        vertex: [[[0.0; 16]; 3]; 3],
        normal: [[0.0; 16]; 3],
        mesh: BlasId::NONE,
        numbers: [NO_TRIANGLE; 16],
    };

    /// Loads the triangles of these numbers; lanes with `NO_TRIANGLE` get any triangle. Triangles that are in their lanes
    /// already are kept: the rays of a tile often hit those of the tile before. Others are read once for all their lanes:
    /// neighbouring rays often hit the same few.
    #[inline(always)]
    pub fn load(&mut self, source: &mut CachedTriangles, triangles: &[u32; 16]) {
        // Find the lanes to load.
        if self.mesh != source.blas.id {
            self.mesh = source.blas.id;
            self.numbers = [NO_TRIANGLE; 16];
        }
        let mut lanes = 0;
        let mut kept = 0;
        for lane in 0..16 {
            let is_same = triangles[lane] == self.numbers[lane];
            let exists = triangles[lane] != NO_TRIANGLE;
            lanes |= u32::from(exists & !is_same) << lane;
            kept |= u32::from(exists & is_same) << lane;
        }
        self.numbers = *triangles;
        // Load them, the first into all lanes if none is kept.
        let mut is_first = kept == 0;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            let triangle = triangles[lane];
            let same = LaneMask::equal(triangles, triangle);
            lanes &= !same.bits();
            let cached = source.get(triangle);
            if same.bits().is_power_of_two() && !is_first {
                self.put(lane, cached);
                continue;
            }
            for axis in 0..3 {
                let own = &mut self.vertex;
                for (own, vertex) in own.iter_mut().zip(&cached.vertex) {
                    broadcast(&mut own[axis], vertex[axis], &same, is_first);
                }
                broadcast(&mut self.normal[axis], cached.normal[axis], &same, is_first);
            }
            is_first = false;
        }
    }

    /// Writes a triangle to a lane.
    #[inline(always)]
    fn put(&mut self, lane: usize, triangle: &CachedTriangle) {
        for axis in 0..3 {
            for (own, vertex) in self.vertex.iter_mut().zip(&triangle.vertex) {
                own[axis][lane] = vertex[axis];
            }
            self.normal[axis][lane] = triangle.normal[axis];
        }
    }

    /// Intersects sixteen rays, each with its own triangle: [`ShearedRay::intersect`](super::triangle::ShearedRay::intersect) with the same
    /// operations and therefore the same bits. `share_major_axis` where all rays are known to have the
    /// same axes.
    #[inline(always)]
    pub fn intersect(
        &self,
        origin: &[[f64; 16]; 3],
        direction: &[[f64; 16]; 3],
        share_major_axis: bool,
    ) -> IntersectionTile {
        // Rays that share their axes need no rearrangement.
        let first = axes(&Vector3::from(direction.map(|axis| axis[0])));
        if share_major_axis || share_axes(direction) {
            let [a, b, c] = &self.vertex;
            return intersect_along(
                along(origin, first),
                along(direction, first),
                [along(a, first), along(b, first), along(c, first)],
            );
        }

        // Arrange the coordinates of each lane by its own axes.
        let mut arranged = [[[0.0; 16]; 3]; 5];
        let all = [
            origin,
            direction,
            &self.vertex[0],
            &self.vertex[1],
            &self.vertex[2],
        ];
        for lane in 0..16 {
            let axes = axes(&Vector3::from(direction.map(|axis| axis[lane])));
            for (to, from) in arranged.iter_mut().zip(all) {
                for (place, axis) in axes.into_iter().enumerate() {
                    to[place][lane] = from[axis][lane];
                }
            }
        }
        let [o, d, a, b, c] = arranged.each_ref().map(|of| along(of, [0, 1, 2]));
        intersect_along(o, d, [a, b, c])
    }
}

/// Writes a number to the lanes of a mask, or to all.
#[inline(always)]
fn broadcast(own: &mut [f64; 16], number: f64, lanes: &LaneMask, in_all: bool) {
    if in_all {
        *own = [number; 16];
    } else {
        lanes.assign(own, &[number; 16]);
    }
}

/// The numbers of three axes in an order of axes.
#[inline(always)]
fn along(of: &[[f64; 16]; 3], [x, y, z]: [usize; 3]) -> Axes<'_> {
    [&of[x], &of[y], &of[z]]
}

/// Whether [`axes`] gives the same for all directions.
#[inline(always)]
fn share_axes([x, y, z]: &[[f64; 16]; 3]) -> bool {
    let mut kinds = [0; 16];
    for i in 0..16 {
        let [ax, ay, az] = [x[i].abs(), y[i].abs(), z[i].abs()];
        let is_x = u64::from(ax >= ay) & u64::from(ax >= az);
        let is_y = u64::from(ay >= az) & (is_x ^ 1);
        let first = if is_x == 1 { x[i] } else { z[i] };
        let major = if is_y == 1 { y[i] } else { first };
        kinds[i] = is_x | is_y << 1 | u64::from(major < 0.0) << 2;
    }
    kinds
        .iter()
        .fold(0, |differ, kind| differ | (kind ^ kinds[0]))
        == 0
}

/// Intersects rays and triangles whose coordinates are in the order of the rays' axes.
#[inline(always)]
fn intersect_along(
    [ox, oy, ok]: Axes,
    [dx, dy, dk]: Axes,
    [a, b, c]: [Axes; 3],
) -> IntersectionTile {
    let mut all = IntersectionTile {
        distance: [0.0; 16],
        barycentric: [[0.0; 16]; 2],
        miss: [false; 16],
    };
    for i in 0..16 {
        // Shear the triangle so that the ray is the third axis.
        let scale = 1.0 / dk[i];
        let sx = dx[i] * scale;
        let sy = dy[i] * scale;
        let az = a[2][i] - ok[i];
        let bz = b[2][i] - ok[i];
        let cz = c[2][i] - ok[i];
        let ax = a[0][i] - ox[i] - sx * az;
        let ay = a[1][i] - oy[i] - sy * az;
        let bx = b[0][i] - ox[i] - sx * bz;
        let by = b[1][i] - oy[i] - sy * bz;
        let cx = c[0][i] - ox[i] - sx * cz;
        let cy = c[1][i] - oy[i] - sy * cz;

        // Edge functions: their signs differ where the ray passes outside.
        let u = cx * by - cy * bx;
        let v = ax * cy - ay * cx;
        let w = bx * ay - by * ax;
        let negative = u < 0.0 || v < 0.0 || w < 0.0;
        let positive = u > 0.0 || v > 0.0 || w > 0.0;
        let sum = u + v + w;

        // The distance and the barycentric coordinates of the hit.
        let one = 1.0 / sum;
        let weights = [u * one, v * one, w * one];
        let height = weights[0] * az + weights[1] * bz + weights[2] * cz;
        all.distance[i] = height * scale;
        all.barycentric[0][i] = weights[1];
        all.barycentric[1][i] = weights[2];
        all.miss[i] = (negative && positive) || sum == 0.0;
    }
    all
}
