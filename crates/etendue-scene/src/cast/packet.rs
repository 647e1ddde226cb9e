//! Sixteen coherent rays in a mesh's frame, seen along their major axis.
//!
//! With $k$ the major axis, $\\sigma$ the sign of the rays along it, and $c$ the middle of their
//! origins, a ray is $c + \\Delta + z\\,(s_x, s_y, \\sigma)$ at depth $z$, its origin moved along it
//! to $\\Delta_k = 0$.

use super::best::{Best, ROUND_OFF};
use super::lanes::{Float, Lanes};
use super::tree::{MeshTree, NO_TRIANGLE};

/// Least component of the rays' directions along the major axis. At the middle of an octant it is
/// 0.577, so that every narrow packet has an axis that qualifies.
const SHALLOWEST: f32 = 0.55;

/// Widest packet, as half the difference of its slopes.
const WIDEST: f32 = 0.2;

/// Rounding of a box's place relative to a ray, in units of [`Packet::error`].
pub(crate) const BOX_MARGIN: f32 = 32.0;

/// Limits beyond this are none.
const NO_LIMIT: f32 = 1e30;

/// One side of the wedge: boxes pass where `lateral - slope * depth` is on the right side of
/// `bound`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    pub slope: f32,
    /// Which of a node's bounds is the depth, see [`super::tree::Node::bounds`].
    pub depth: usize,
    pub bound: f32,
}

/// Sixteen rays in a mesh's frame, relative to the middle of the mesh, in `f32`.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Beams {
    /// Origins relative to the first, by axis.
    pub origin: [[f32; 16]; 3],
    /// Unit directions, by axis.
    pub direction: [[f32; 16]; 3],
    pub near: [f32; 16],
    pub far: [f32; 16],
    /// Whether all start at one place.
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
    /// The two lateral axes and the major one.
    pub axes: [usize; 3],
    pub sign: f32,
    /// By axis.
    pub centre: [f32; 3],
    /// Middle and half width of the slopes.
    pub slope_middle: [f32; 2],
    pub slope_half: [f32; 2],
    /// Bound on the sum of the moment's components.
    pub moment_size: f32,
    /// The largest coordinate of any ray's origin.
    pub reach: f32,
    /// Unit round-off times the largest coordinate that occurs, m.
    pub error: f32,
    /// For each lateral axis, the upper and the lower side.
    pub sides: [[Side; 2]; 2],
    pub near_depth: f32,
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
        axes: [0, 1, 2],
        sign: 1.0,
        centre: [0.0; 3],
        slope_middle: [0.0; 2],
        slope_half: [0.0; 2],
        moment_size: 0.0,
        reach: 0.0,
        error: 0.0,
        sides: [[Side {
            slope: 0.0,
            depth: 0,
            bound: 0.0,
        }; 2]; 2],
        near_depth: 0.0,
    };

    /// Takes the rays on, with `best` at their limits, or says that they are not coherent.
    #[inline(always)]
    pub fn take<L: Lanes>(
        &mut self,
        rays: &Beams,
        centre: [f32; 3],
        tree: &MeshTree,
        best: &mut Best,
    ) -> bool {
        self.axes = major_axes(&rays.direction);
        let [x, y, k] = self.axes;
        self.sign = 1.0_f32.copysign(rays.direction[k][0]);
        self.centre = centre;
        let sign = L::F16::splat(self.sign);
        let scale = L::F16::load(&rays.direction[k]).mul(sign);
        if scale.least() < SHALLOWEST {
            return false;
        }
        let inverse = L::F16::splat(1.0).div(scale);
        let shift = L::F16::load(&rays.origin[k]).mul(sign);
        scale.store(&mut self.scale);
        shift.store(&mut self.shift);
        let first = Lateral::new::<L>(rays, x, inverse, shift);
        let second = Lateral::new::<L>(rays, y, inverse, shift);
        if first.half > WIDEST || second.half > WIDEST {
            return false;
        }
        self.slope = [first.slope, second.slope];
        self.inverse = [first.inverse, second.inverse];
        self.offset = [first.offset, second.offset];
        self.slope_middle = [first.middle, second.middle];
        self.slope_half = [first.half, second.half];
        let spread = greater(first.spread, second.spread);
        let [a, b, c] = centre;
        self.reach = greater(greater(a.abs(), b.abs()), c.abs()) + spread;
        self.error = ROUND_OFF * (tree.reach + self.reach);
        self.set_moments::<L>(rays.together);
        self.set_sides(0, &first, centre[x], centre[k]);
        self.set_sides(1, &second, centre[y], centre[k]);
        self.set_limits::<L>(rays, best);
        true
    }

    #[inline(always)]
    fn set_moments<L: Lanes>(&mut self, together: bool) {
        if together {
            self.moment_size = 0.0;
            return;
        }
        let x = L::F16::load(&self.offset[0]);
        let y = L::F16::load(&self.offset[1]);
        let sign = L::F16::splat(self.sign);
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
        self.moment_size = size.greatest() * 1.0001;
    }

    #[inline(always)]
    fn set_sides(&mut self, lateral: usize, of: &Lateral, centre: f32, depth: f32) {
        let k = 2 * self.axes[2];
        let forward = self.sign > 0.0;
        let margin = BOX_MARGIN * self.error;
        let [upper, lower] = &mut self.sides[lateral];
        upper.slope = of.greatest * self.sign;
        upper.depth = k + usize::from((of.greatest >= 0.0) == forward);
        upper.bound = centre + of.last + margin - upper.slope * depth;
        lower.slope = of.least * self.sign;
        lower.depth = k + usize::from((of.least < 0.0) == forward);
        lower.bound = centre + of.first - margin - lower.slope * depth;
    }

    #[inline(always)]
    fn set_limits<L: Lanes>(&mut self, rays: &Beams, best: &mut Best) {
        let scale = L::F16::load(&self.scale);
        let shift = L::F16::load(&self.shift);
        let near = L::F16::load(&rays.near).mul_add(scale, shift);
        near.store(&mut self.near);
        let margin = BOX_MARGIN * self.error;
        self.near_depth = if rays.together {
            -margin
        } else {
            near.least() - margin
        };
        let far = L::F16::load(&rays.far).min(L::F16::splat(NO_LIMIT));
        let far = far.mul_add(scale, shift);
        let doubt = far.abs().mul_add(
            L::F16::splat(4.0 * ROUND_OFF),
            L::F16::splat(4.0 * self.error),
        );
        far.sub(doubt).store(&mut best.low);
        far.add(doubt).store(&mut best.high);
        L::F16::splat(f32::from_bits(NO_TRIANGLE)).store(&mut best.triangle);
    }
}

#[inline(always)]
fn major_axes(direction: &[[f32; 16]; 3]) -> [usize; 3] {
    let x = (direction[0][0] + direction[0][15]).abs();
    let y = (direction[1][0] + direction[1][15]).abs();
    let z = (direction[2][0] + direction[2][15]).abs();
    if x >= y && x >= z {
        [1, 2, 0]
    } else if y >= z {
        [2, 0, 1]
    } else {
        [0, 1, 2]
    }
}

/// One lateral axis of sixteen rays.
struct Lateral {
    slope: [f32; 16],
    inverse: [f32; 16],
    offset: [f32; 16],
    /// Bounds on the slopes, their middle and half their width.
    least: f32,
    greatest: f32,
    middle: f32,
    half: f32,
    /// Bounds on the offsets, and the larger of their sizes.
    first: f32,
    last: f32,
    spread: f32,
}

impl Lateral {
    #[inline(always)]
    fn new<L: Lanes>(rays: &Beams, axis: usize, inverse: L::F16, shift: L::F16) -> Self {
        let slope = L::F16::load(&rays.direction[axis]).mul(inverse);
        let offset = shift.neg_mul_add(slope, L::F16::load(&rays.origin[axis]));
        let least = slope.least();
        let greatest = slope.greatest();
        let (first, last) = if rays.together {
            (0.0, 0.0)
        } else {
            (offset.least(), offset.greatest())
        };
        Self {
            slope: slope.array(),
            inverse: inverse_slope::<L>(slope).array(),
            offset: offset.array(),
            least,
            greatest,
            middle: 0.5 * (least + greatest),
            half: (greatest - least) * 0.500_001 + 1e-12,
            first,
            last,
            spread: greater(-first, last),
        }
    }
}

/// The greater of two numbers, neither of which is a NaN.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// One over a slope; parallel rays get a number so large that no box is between.
#[inline(always)]
fn inverse_slope<L: Lanes>(slope: L::F16) -> L::F16 {
    let least = L::F16::splat(1e-18);
    let small = slope.abs().le(least);
    L::F16::splat(1.0).div(least.select(small, slope))
}
