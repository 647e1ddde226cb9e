//! The frustum around coherent rays: bounds on their slopes and offsets, tested against boxes.

use super::packet::{AlongMajorAxis, SHALLOWEST};
use super::ray_spread::RaySpread;
use crate::bvh::blas::Blas;
use crate::bvh::node::Node;
use crate::bvh::rounding::{BOX_MARGIN, ROUND_OFF, greater};

/// Widest frustum, as half the difference of its slopes.
pub(crate) const WIDEST: f32 = 0.2;

/// Packets share a frustum if it is at most this many times as wide as the widest of theirs.
const MOST_GROWTH: f32 = 5.0;

/// One side of a frustum: a box is inside where `lateral - slope * depth` is on the right side of
/// `bound`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrustumSide {
    pub slope: f32,
    /// The index in [`Node::bounds`] of the depth.
    pub depth: usize,
    pub bound: f32,
}

/// Bounds on rays along one lateral axis.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LateralBounds {
    /// Least and greatest slope.
    pub slopes: [f32; 2],
    /// Least and greatest offset.
    pub offsets: [f32; 2],
}

/// The frustum around rays that share a major axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frustum {
    /// The two lateral axes and the major one.
    pub axes: [usize; 3],
    /// Sign of the rays along the major axis.
    pub sign: f32,
    /// Centre of the origins, by axis of the mesh's frame.
    pub centre: [f32; 3],
    lateral: [LateralBounds; 2],
    /// Middle and half width of the slopes.
    pub slope_middle: [f32; 2],
    pub slope_half: [f32; 2],
    /// Bound on the sum of the moment's components; zero where all rays start at the centre.
    pub moment_size: f32,
    /// The largest coordinate of any ray's origin.
    pub reach: f32,
    /// Unit of the error bounds of boxes, m: round-off times the largest coordinate that occurs.
    pub error: f32,
    pub near_depth: f32,
}

/// A box relative to a frustum's centre, with a margin for rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProjectedBox {
    /// Depths at which it begins and ends.
    pub enter: f32,
    pub leave: f32,
    /// Bounds along the lateral axes.
    pub low: [f32; 2],
    pub high: [f32; 2],
}

impl LateralBounds {
    /// The greatest absolute offset.
    pub fn greatest_offset(&self) -> f32 {
        greater(-self.offsets[0], self.offsets[1])
    }

    /// The middle of the slopes.
    #[inline(always)]
    fn middle(&self) -> f32 {
        0.5 * (self.slopes[0] + self.slopes[1])
    }

    /// Half the difference of the slopes, rounded up.
    #[inline(always)]
    pub fn half(&self) -> f32 {
        (self.slopes[1] - self.slopes[0]) * 0.500_001 + 1e-12
    }

    #[inline(always)]
    fn union(&self, other: &Self) -> Self {
        let around = |a: [f32; 2], b: [f32; 2]| [-greater(-a[0], -b[0]), greater(a[1], b[1])];
        Self {
            slopes: around(self.slopes, other.slopes),
            offsets: around(self.offsets, other.offsets),
        }
    }
}

impl Frustum {
    /// A placeholder.
    pub const EMPTY: Self = Self {
        axes: [0, 1, 2],
        sign: 1.0,
        centre: [0.0; 3],
        lateral: [LateralBounds {
            slopes: [0.0; 2],
            offsets: [0.0; 2],
        }; 2],
        slope_middle: [0.0; 2],
        slope_half: [0.0; 2],
        moment_size: 0.0,
        reach: 0.0,
        error: 0.0,
        near_depth: 0.0,
    };

    /// The frustum of rays along axes from about a centre, without limits and moments.
    #[inline(always)]
    pub fn new(
        axes: [usize; 3],
        sign: f32,
        centre: [f32; 3],
        lateral: [LateralBounds; 2],
        blas: &Blas,
    ) -> Self {
        let offset = greater(lateral[0].greatest_offset(), lateral[1].greatest_offset());
        let [a, b, c] = centre.map(f32::abs);
        let reach = greater(greater(a, b), c) + offset;
        Self {
            axes,
            sign,
            centre,
            lateral,
            slope_middle: [lateral[0].middle(), lateral[1].middle()],
            slope_half: [lateral[0].half(), lateral[1].half()],
            reach,
            error: ROUND_OFF * (blas.reach + reach),
            ..Self::EMPTY
        }
    }

    /// For each lateral axis, the upper and the lower side.
    #[inline(always)]
    pub fn sides(&self) -> [[FrustumSide; 2]; 2] {
        [self.side_pair(0), self.side_pair(1)]
    }

    #[inline(always)]
    fn side_pair(&self, lateral: usize) -> [FrustumSide; 2] {
        let LateralBounds { slopes, offsets } = self.lateral[lateral];
        let centre = self.centre[self.axes[lateral]];
        let depth = self.centre[self.axes[2]];
        let k = 2 * self.axes[2];
        let forward = self.sign > 0.0;
        let margin = BOX_MARGIN * self.error;
        let [lower, upper] = slopes.map(|slope| slope * self.sign);
        [
            FrustumSide {
                slope: upper,
                depth: k + usize::from((slopes[1] >= 0.0) == forward),
                bound: centre + offsets[1] + margin - upper * depth,
            },
            FrustumSide {
                slope: lower,
                depth: k + usize::from((slopes[0] < 0.0) == forward),
                bound: centre + offsets[0] - margin - lower * depth,
            },
        ]
    }

    /// The box of a node's slot, relative to the centre and along the frustum's axes.
    #[inline(always)]
    pub fn project(&self, node: &Node, slot: usize) -> ProjectedBox {
        let margin = BOX_MARGIN * self.error;
        let [x, y, k] = self.axes;
        let from = |axis: usize| {
            [2 * axis, 2 * axis + 1].map(|bound| node.bounds[bound][slot] - self.centre[axis])
        };
        let depth = from(k).map(|depth| depth * self.sign);
        let first = from(x);
        let second = from(y);
        ProjectedBox {
            enter: -greater(-depth[0], -depth[1]) - margin,
            leave: greater(depth[0], depth[1]) + margin,
            low: [first[0] - margin, second[0] - margin],
            high: [first[1] + margin, second[1] + margin],
        }
    }

    /// The frustum around rays that differ from those of this one by a `spread`, if they are coherent.
    #[inline(always)]
    pub fn widened(&self, along: AlongMajorAxis, spread: &RaySpread, blas: &Blas) -> Option<Self> {
        // The rays must run along the major axis.
        let direction = spread.direction as f32 * 1.001 + 1e-6;
        let origin = spread.origin as f32 * 1.001;
        let least = along.least_scale - direction;
        if least < SHALLOWEST {
            return None;
        }

        // A direction changes by `a` along a lateral axis and `b` along the major one: the slope s changes by
        // (a - s b) / (d + b).
        let shift = along.greatest_shift + origin;
        let mut lateral = self.lateral;
        for own in &mut lateral {
            let steepest = greater(-own.slopes[0], own.slopes[1]);
            let slope = direction * (1.0 + steepest * steepest).sqrt() / least;
            let offset = origin * (1.0 + steepest + slope) + shift * slope;
            own.slopes = [own.slopes[0] - slope, own.slopes[1] + slope];
            own.offsets = [own.offsets[0] - offset, own.offsets[1] + offset];
        }
        let mut widened = Self::new(self.axes, self.sign, self.centre, lateral, blas);
        if widened.width() > WIDEST {
            return None;
        }

        // Bound the moments and the near limits.
        let [x, y] = [0, 1].map(|lateral| widened.greatest_offset(lateral));
        let [first, second] = widened
            .lateral
            .map(|own| greater(-own.slopes[0], own.slopes[1]));
        widened.moment_size = (x + y + x * second + y * first) * 1.0001;
        let near = spread.near[0] as f32 * (0.9999 * least);
        widened.near_depth = near - shift - BOX_MARGIN * widened.error;
        Some(widened)
    }

    /// The greatest absolute offset along a lateral axis.
    #[inline(always)]
    pub fn greatest_offset(&self, lateral: usize) -> f32 {
        self.lateral[lateral].greatest_offset()
    }

    /// The frustum around several, if they share axes and centre and are neighbours.
    #[inline(always)]
    pub fn around<'a>(frusta: impl Iterator<Item = &'a Self>, blas: &Blas) -> Option<Self> {
        let mut frusta = frusta;
        let mut all = *frusta.next()?;
        let mut widest = all.width();
        for other in frusta {
            if !all.shares_frame_with(other) {
                return None;
            }
            widest = greater(widest, other.width());
            all.moment_size = greater(all.moment_size, other.moment_size);
            all.near_depth = -greater(-all.near_depth, -other.near_depth);
            for (own, other) in all.lateral.iter_mut().zip(&other.lateral) {
                *own = own.union(other);
            }
        }
        let joint = Self {
            moment_size: all.moment_size,
            near_depth: all.near_depth,
            ..Self::new(all.axes, all.sign, all.centre, all.lateral, blas)
        };
        let width = joint.width();
        (width <= MOST_GROWTH * widest && width <= WIDEST).then_some(joint)
    }

    /// Whether rays of both have the same axes and start about the same point.
    #[inline(always)]
    fn shares_frame_with(&self, other: &Self) -> bool {
        (self.axes, self.sign, self.centre) == (other.axes, other.sign, other.centre)
    }

    /// The larger of the half widths.
    #[inline(always)]
    fn width(&self) -> f32 {
        greater(self.slope_half[0], self.slope_half[1])
    }
}
