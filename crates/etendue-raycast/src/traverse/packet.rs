//! Sixteen coherent rays in the frame of a mesh, along their major axis.
//!
//! With $k$ the major axis, $\sigma$ the sign of the rays along it, and $c$ the centre of their
//! origins, the point of a ray at depth $z$ is $c + \Delta + z\\,(s_x, s_y, \sigma)$, where the ray's
//! origin is moved along the ray so that $\Delta_k = 0$.

use super::frustum::{Frustum, LateralBounds, ProjectedBox, WIDEST};
use crate::bvh::blas::Blas;
use crate::bvh::leaf_block::NO_TRIANGLE;
use crate::bvh::rounding::{BOX_MARGIN, ROUND_OFF};
use crate::intersect::nearest::NearestHits;
use etendue_simd::{Float, Lanes, Mask};

/// Least component of the rays' directions along the major axis. At the middle of an octant it is
/// 0.577, so that every narrow packet has an axis that qualifies.
pub(crate) const SHALLOWEST: f32 = 0.55;

/// A component of a unit vector above this is larger than the two others.
const STEEP: f32 = 0.7072;

/// Limits beyond this are treated as infinite.
const NO_LIMIT: f32 = 1e30;

/// Sixteen rays in a mesh's frame, relative to the middle of the mesh, in `f32`.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct PacketRays {
    /// Origins relative to the centre, by axis.
    pub origin: [[f32; 16]; 3],
    /// Unit directions, by axis.
    pub direction: [[f32; 16]; 3],
    pub near: [f32; 16],
    pub far: [f32; 16],
    /// Whether all start at the centre.
    pub share_origin: bool,
}

impl PacketRays {
    /// Placeholder rays.
    pub const EMPTY: Self = Self {
        origin: [[0.0; 16]; 3],
        direction: [[0.0; 16]; 3],
        near: [0.0; 16],
        far: [0.0; 16],
        share_origin: false,
    };

    /// The two lateral axes and the major one, by the sum of the first and the last ray.
    #[inline(always)]
    pub fn axes(&self) -> [usize; 3] {
        let [x, y, z] = self
            .direction
            .each_ref()
            .map(|axis| (axis[0] + axis[15]).abs());
        if x >= y && x >= z {
            [1, 2, 0]
        } else if y >= z {
            [2, 0, 1]
        } else {
            [0, 1, 2]
        }
    }

    /// The rays along one axis.
    #[inline(always)]
    pub fn along<L: Lanes>(&self, axis: usize) -> AlongMajorAxis {
        AlongMajorAxis {
            least_scale: L::F16::load(&self.direction[axis]).abs().reduce_min(),
            greatest_shift: L::F16::load(&self.origin[axis]).abs().reduce_max(),
        }
    }
}

/// Sixteen rays along a major axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlongMajorAxis {
    /// Least component of the directions.
    pub least_scale: f32,
    /// Greatest distance of an origin from the centre along the axis, m.
    pub greatest_shift: f32,
}

/// Sixteen rays that share a major axis.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Packet {
    pub slope: [[f32; 16]; 2],
    /// Inverse slope, finite also for parallel rays.
    pub inverse: [[f32; 16]; 2],
    pub offset: [[f32; 16]; 2],
    pub moment: [[f32; 16]; 3],
    /// Depth of the near limit.
    pub near: [f32; 16],
    /// The frustum around the rays.
    pub frustum: Frustum,
    /// Whether the major axis is that of each ray also in `f64`.
    pub share_major_axis: bool,
}

impl Packet {
    /// A placeholder.
    pub const EMPTY: Self = Self {
        slope: [[0.0; 16]; 2],
        inverse: [[0.0; 16]; 2],
        offset: [[0.0; 16]; 2],
        moment: [[0.0; 16]; 3],
        near: [0.0; 16],
        frustum: Frustum::EMPTY,
        share_major_axis: false,
    };

    /// Sets the rays along a major axis, and `nearest` to their limits. Returns whether they are
    /// coherent; otherwise the packet must not be used.
    #[inline(always)]
    #[must_use]
    pub fn set<L: Lanes>(
        &mut self,
        rays: &PacketRays,
        axes: [usize; 3],
        centre: [f32; 3],
        blas: &Blas,
        nearest: &mut NearestHits,
    ) -> bool {
        // All rays must run along the major axis.
        let [x, y, k] = axes;
        let sign_of_all = 1.0_f32.copysign(rays.direction[k][0]);
        let sign = L::F16::splat(sign_of_all);
        let scale = L::F16::load(&rays.direction[k]).mul(sign);
        let least = scale.reduce_min();
        if least < SHALLOWEST {
            return false;
        }
        self.share_major_axis = least > STEEP;

        // Slopes and offsets must be within the widest frustum.
        let inverse = L::F16::splat(1.0).div(scale);
        let shift = L::F16::load(&rays.origin[k]).mul(sign);
        let first = LateralRays::new::<L>(rays, x, inverse, shift);
        let second = LateralRays::new::<L>(rays, y, inverse, shift);
        let lateral = [first.bounds, second.bounds];
        if lateral[0].half() > WIDEST || lateral[1].half() > WIDEST {
            return false;
        }

        // Set what traversal needs.
        self.slope = [first.slope, second.slope];
        self.inverse = [first.inverse, second.inverse];
        self.offset = [first.offset, second.offset];
        self.frustum = Frustum::new(axes, sign_of_all, centre, lateral, blas);
        self.set_moments::<L>(rays.share_origin);
        self.set_limits::<L>(rays, scale, shift, nearest);
        true
    }

    /// The lanes whose ray enters a box before its nearest hit.
    #[inline(always)]
    pub fn intersect_box<L: Lanes>(&self, projected: &ProjectedBox, nearest: &NearestHits) -> u32 {
        let near = L::F16::load(&self.near).sub(L::F16::splat(BOX_MARGIN * self.frustum.error));
        let mut enter = L::F16::splat(projected.enter).max(near);
        let mut leave = L::F16::splat(projected.leave).min(L::F16::load(&nearest.high));
        for lateral in 0..2 {
            let mut low = L::F16::splat(projected.low[lateral]);
            let mut high = L::F16::splat(projected.high[lateral]);
            if self.frustum.moment_size != 0.0 {
                let offset = L::F16::load(&self.offset[lateral]);
                low = low.sub(offset);
                high = high.sub(offset);
            }
            let inverse = L::F16::load(&self.inverse[lateral]);
            let first = low.mul(inverse);
            let second = high.mul(inverse);
            enter = enter.max(first.min(second));
            leave = leave.min(first.max(second));
        }
        enter.le(leave).bits()
    }

    /// Sets the moments $\Delta \times d$ of the rays about the centre.
    #[inline(always)]
    fn set_moments<L: Lanes>(&mut self, share_origin: bool) {
        if share_origin {
            return;
        }
        let x = L::F16::load(&self.offset[0]);
        let y = L::F16::load(&self.offset[1]);
        let sign = L::F16::splat(self.frustum.sign);
        let first = y.mul(sign);
        let second = L::F16::splat(0.0).sub(x.mul(sign));
        let third = y.neg_mul_add(
            L::F16::load(&self.slope[0]),
            x.mul(L::F16::load(&self.slope[1])),
        );
        first.store(&mut self.moment[0]);
        second.store(&mut self.moment[1]);
        third.store(&mut self.moment[2]);
        let size = first.abs().add(second.abs()).add(third.abs());
        self.frustum.moment_size = size.reduce_max() * 1.0001;
    }

    /// Sets the depths of the rays' limits; depth is `scale * distance + shift`.
    #[inline(always)]
    fn set_limits<L: Lanes>(
        &mut self,
        rays: &PacketRays,
        scale: L::F16,
        shift: L::F16,
        nearest: &mut NearestHits,
    ) {
        let near = L::F16::load(&rays.near).mul_add(scale, shift);
        near.store(&mut self.near);
        let margin = BOX_MARGIN * self.frustum.error;
        self.frustum.near_depth = if rays.share_origin {
            -margin
        } else {
            near.reduce_min() - margin
        };
        let far = L::F16::load(&rays.far).min(L::F16::splat(NO_LIMIT));
        let far = far.mul_add(scale, shift);
        let error = far.abs().mul_add(
            L::F16::splat(4.0 * ROUND_OFF),
            L::F16::splat(4.0 * self.frustum.error),
        );
        far.sub(error).store(&mut nearest.low);
        far.add(error).store(&mut nearest.high);
        L::F16::splat(f32::from_bits(NO_TRIANGLE)).store(&mut nearest.triangle);
    }
}

/// Sixteen rays along one lateral axis.
struct LateralRays {
    slope: [f32; 16],
    inverse: [f32; 16],
    offset: [f32; 16],
    bounds: LateralBounds,
}

impl LateralRays {
    #[inline(always)]
    fn new<L: Lanes>(rays: &PacketRays, axis: usize, inverse: L::F16, shift: L::F16) -> Self {
        let slope = L::F16::load(&rays.direction[axis]).mul(inverse);
        let offset = shift.neg_mul_add(slope, L::F16::load(&rays.origin[axis]));
        let offsets = if rays.share_origin {
            [0.0; 2]
        } else {
            [offset.reduce_min(), offset.reduce_max()]
        };
        Self {
            slope: slope.to_array(),
            inverse: inverse_slope::<L>(slope).to_array(),
            offset: offset.to_array(),
            bounds: LateralBounds {
                slopes: [slope.reduce_min(), slope.reduce_max()],
                offsets,
            },
        }
    }
}

/// The inverse of slopes; that of a parallel ray is so large that no box is between.
#[inline(always)]
fn inverse_slope<L: Lanes>(slope: L::F16) -> L::F16 {
    let least = L::F16::splat(1e-18);
    let small = slope.abs().le(least);
    L::F16::splat(1.0).div(least.select(small, slope))
}
