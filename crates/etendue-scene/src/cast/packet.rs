//! Sixteen coherent rays in a mesh's frame, seen along their major axis.
//!
//! With $k$ the major axis, $\\sigma$ the sign of the rays along it, and $c$ the middle of their
//! origins, a ray is $c + \\Delta + z\\,(s_x, s_y, \\sigma)$ at depth $z$, its origin moved along it
//! to $\\Delta_k = 0$.

use super::best::{Best, ROUND_OFF};
use super::lanes::{Float, Lanes, Mask};
use super::tree::{MeshTree, NO_TRIANGLE};
use super::wedge::{Extent, SeenBox, WIDEST, Wedge};

/// Least component of the rays' directions along the major axis. At the middle of an octant it is
/// 0.577, so that every narrow packet has an axis that qualifies.
const SHALLOWEST: f32 = 0.55;

/// No other component of a unit vector is as large as one of this size.
const STEEP: f32 = 0.7072;

/// Rounding of a box's place relative to a ray, in units of [`Packet::error`].
pub(crate) const BOX_MARGIN: f32 = 32.0;

/// Limits beyond this are none.
const NO_LIMIT: f32 = 1e30;

/// Sixteen rays in a mesh's frame, relative to the middle of the mesh, in `f32`.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Beams {
    /// Origins relative to the place they start about, by axis.
    pub origin: [[f32; 16]; 3],
    /// Unit directions, by axis.
    pub direction: [[f32; 16]; 3],
    pub near: [f32; 16],
    pub far: [f32; 16],
    /// Whether all start at that place.
    pub together: bool,
}

impl Beams {
    pub const NONE: Self = Self {
        origin: [[0.0; 16]; 3],
        direction: [[0.0; 16]; 3],
        near: [0.0; 16],
        far: [0.0; 16],
        together: false,
    };

    /// The two lateral axes and the major one of the rays in the middle.
    #[inline(always)]
    pub fn axes(&self) -> [usize; 3] {
        let [x, y, z] = { &self.direction }.map(|axis| (axis[0] + axis[15]).abs());
        if x >= y && x >= z {
            [1, 2, 0]
        } else if y >= z {
            [2, 0, 1]
        } else {
            [0, 1, 2]
        }
    }
}

/// Sixteen rays that share a major axis.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Packet {
    pub slope: [[f32; 16]; 2],
    /// One over the slope, kept finite.
    pub inverse: [[f32; 16]; 2],
    pub offset: [[f32; 16]; 2],
    pub moment: [[f32; 16]; 3],
    /// Depth of the near limit.
    pub near: [f32; 16],
    /// Depth is `scale * distance + shift`.
    pub scale: [f32; 16],
    pub shift: [f32; 16],
    /// What the rays are as a whole.
    pub wedge: Wedge,
    /// Whether the major axis is that of each ray, in `f64` too.
    pub steep: bool,
}

impl Packet {
    pub const NONE: Self = Self {
        slope: [[0.0; 16]; 2],
        inverse: [[0.0; 16]; 2],
        offset: [[0.0; 16]; 2],
        moment: [[0.0; 16]; 3],
        near: [0.0; 16],
        scale: [0.0; 16],
        shift: [0.0; 16],
        wedge: Wedge::NONE,
        steep: false,
    };

    /// Takes the rays on along a major axis and those beside it, with `best` at their limits, or says
    /// that they are not coherent.
    #[inline(always)]
    pub fn take<L: Lanes>(
        &mut self,
        rays: &Beams,
        axes: [usize; 3],
        centre: [f32; 3],
        tree: &MeshTree,
        best: &mut Best,
    ) -> bool {
        let [x, y, k] = axes;
        let sign_of_all = 1.0_f32.copysign(rays.direction[k][0]);
        let sign = L::F16::splat(sign_of_all);
        let scale = L::F16::load(&rays.direction[k]).mul(sign);
        let least = scale.least();
        if least < SHALLOWEST {
            return false;
        }
        self.steep = least > STEEP;
        let inverse = L::F16::splat(1.0).div(scale);
        let shift = L::F16::load(&rays.origin[k]).mul(sign);
        scale.store(&mut self.scale);
        shift.store(&mut self.shift);
        let first = Lateral::new::<L>(rays, x, inverse, shift);
        let second = Lateral::new::<L>(rays, y, inverse, shift);
        let extents = [first.extent, second.extent];
        if extents[0].half() > WIDEST || extents[1].half() > WIDEST {
            return false;
        }
        self.slope = [first.slope, second.slope];
        self.inverse = [first.inverse, second.inverse];
        self.offset = [first.offset, second.offset];
        self.wedge = Wedge::new((axes, sign_of_all), centre, extents, tree);
        self.set_moments::<L>(rays.together);
        self.set_limits::<L>(rays, best);
        true
    }

    /// The lanes whose own ray meets a box before what is best.
    #[inline(always)]
    pub fn alive<L: Lanes>(&self, seen: &SeenBox, best: &Best) -> u32 {
        let near = L::F16::load(&self.near).sub(L::F16::splat(BOX_MARGIN * self.wedge.error));
        let mut enter = L::F16::splat(seen.enter).max(near);
        let mut leave = L::F16::splat(seen.leave).min(L::F16::load(&best.high));
        for lateral in 0..2 {
            let mut low = L::F16::splat(seen.low[lateral]);
            let mut high = L::F16::splat(seen.high[lateral]);
            if self.wedge.moment_size != 0.0 {
                let offset = L::F16::load(&self.offset[lateral]);
                low = low.sub(offset);
                high = high.sub(offset);
            }
            let inverse = L::F16::load(&self.inverse[lateral]);
            let [first, second] = [low.mul(inverse), high.mul(inverse)];
            enter = enter.max(first.min(second));
            leave = leave.min(first.max(second));
        }
        enter.le(leave).bits()
    }

    #[inline(always)]
    fn set_moments<L: Lanes>(&mut self, together: bool) {
        if together {
            return;
        }
        let x = L::F16::load(&self.offset[0]);
        let y = L::F16::load(&self.offset[1]);
        let sign = L::F16::splat(self.wedge.sign);
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
        self.wedge.moment_size = size.greatest() * 1.0001;
    }

    #[inline(always)]
    fn set_limits<L: Lanes>(&mut self, rays: &Beams, best: &mut Best) {
        let scale = L::F16::load(&self.scale);
        let shift = L::F16::load(&self.shift);
        let near = L::F16::load(&rays.near).mul_add(scale, shift);
        near.store(&mut self.near);
        let margin = BOX_MARGIN * self.wedge.error;
        self.wedge.near_depth = if rays.together {
            -margin
        } else {
            near.least() - margin
        };
        let far = L::F16::load(&rays.far).min(L::F16::splat(NO_LIMIT));
        let far = far.mul_add(scale, shift);
        let doubt = far.abs().mul_add(
            L::F16::splat(4.0 * ROUND_OFF),
            L::F16::splat(4.0 * self.wedge.error),
        );
        far.sub(doubt).store(&mut best.low);
        far.add(doubt).store(&mut best.high);
        L::F16::splat(f32::from_bits(NO_TRIANGLE)).store(&mut best.triangle);
    }
}

/// One lateral axis of sixteen rays.
struct Lateral {
    slope: [f32; 16],
    inverse: [f32; 16],
    offset: [f32; 16],
    extent: Extent,
}

impl Lateral {
    #[inline(always)]
    fn new<L: Lanes>(rays: &Beams, axis: usize, inverse: L::F16, shift: L::F16) -> Self {
        let slope = L::F16::load(&rays.direction[axis]).mul(inverse);
        let offset = shift.neg_mul_add(slope, L::F16::load(&rays.origin[axis]));
        let offsets = if rays.together {
            [0.0; 2]
        } else {
            [offset.least(), offset.greatest()]
        };
        Self {
            slope: slope.array(),
            inverse: inverse_slope::<L>(slope).array(),
            offset: offset.array(),
            extent: Extent {
                slopes: [slope.least(), slope.greatest()],
                offsets,
            },
        }
    }
}

/// One over a slope; parallel rays get a number so large that no box is between.
#[inline(always)]
fn inverse_slope<L: Lanes>(slope: L::F16) -> L::F16 {
    let least = L::F16::splat(1e-18);
    let small = slope.abs().le(least);
    L::F16::splat(1.0).div(least.select(small, slope))
}
