//! The wedge around coherent rays: what boxes are tested against.

use super::best::ROUND_OFF;
use super::packet::{BOX_MARGIN, Packet};
use super::tree::{MeshTree, Node};

/// Widest wedge, as half the difference of its slopes.
pub(crate) const WIDEST: f32 = 0.2;

/// Packets share a wedge that is up to this many times as wide as the widest of theirs.
const ROOM: f32 = 5.0;

/// One side of the wedge: boxes pass where `lateral - slope * depth` is on the right side of
/// `bound`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    pub slope: f32,
    /// Which of a node's bounds is the depth, see [`super::tree::Node::bounds`].
    pub depth: usize,
    pub bound: f32,
}

/// Bounds on rays along one lateral axis.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// Of the slopes.
    pub slopes: [f32; 2],
    /// Of the offsets.
    pub offsets: [f32; 2],
}

/// Rays that share a major axis, as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wedge {
    /// The two lateral axes and the major one.
    pub axes: [usize; 3],
    pub sign: f32,
    /// By axis.
    pub centre: [f32; 3],
    extents: [Extent; 2],
    /// Middle and half width of the slopes.
    pub slope_middle: [f32; 2],
    pub slope_half: [f32; 2],
    /// Bound on the sum of the moment's components.
    pub moment_size: f32,
    /// The largest coordinate of any ray's origin.
    pub reach: f32,
    /// Unit round-off times the largest coordinate that occurs, m.
    pub error: f32,
    pub near_depth: f32,
}

/// A box from a wedge's centre, with room for rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenBox {
    /// Depths at which it begins and ends.
    pub enter: f32,
    pub leave: f32,
    /// Bounds along the lateral axes.
    pub low: [f32; 2],
    pub high: [f32; 2],
}

impl Extent {
    /// The larger of the offsets' sizes.
    pub fn spread(&self) -> f32 {
        greater(-self.offsets[0], self.offsets[1])
    }

    /// The middle of the slopes.
    #[inline(always)]
    fn middle(&self) -> f32 {
        0.5 * (self.slopes[0] + self.slopes[1])
    }

    /// Half the difference of the slopes, a little more.
    #[inline(always)]
    pub fn half(&self) -> f32 {
        (self.slopes[1] - self.slopes[0]) * 0.500_001 + 1e-12
    }

    #[inline(always)]
    fn and(&self, other: &Self) -> Self {
        let around = |a: [f32; 2], b: [f32; 2]| [-greater(-a[0], -b[0]), greater(a[1], b[1])];
        Self {
            slopes: around(self.slopes, other.slopes),
            offsets: around(self.offsets, other.offsets),
        }
    }
}

impl Wedge {
    pub const NONE: Self = Self {
        axes: [0, 1, 2],
        sign: 1.0,
        centre: [0.0; 3],
        extents: [Extent {
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

    /// That of rays along `axes` from about `centre`, all but the limits and the moments.
    #[inline(always)]
    pub fn new(
        (axes, sign): ([usize; 3], f32),
        centre: [f32; 3],
        extents: [Extent; 2],
        tree: &MeshTree,
    ) -> Self {
        let spread = greater(extents[0].spread(), extents[1].spread());
        let [a, b, c] = centre.map(f32::abs);
        let reach = greater(greater(a, b), c) + spread;
        Self {
            axes,
            sign,
            centre,
            extents,
            slope_middle: [extents[0].middle(), extents[1].middle()],
            slope_half: [extents[0].half(), extents[1].half()],
            reach,
            error: ROUND_OFF * (tree.reach + reach),
            ..Self::NONE
        }
    }

    /// For each lateral axis, the upper and the lower side.
    #[inline(always)]
    pub fn sides(&self) -> [[Side; 2]; 2] {
        [self.side_pair(0), self.side_pair(1)]
    }

    #[inline(always)]
    fn side_pair(&self, lateral: usize) -> [Side; 2] {
        let Extent { slopes, offsets } = self.extents[lateral];
        let (centre, depth) = (self.centre[self.axes[lateral]], self.centre[self.axes[2]]);
        let k = 2 * self.axes[2];
        let forward = self.sign > 0.0;
        let margin = BOX_MARGIN * self.error;
        let [lower, upper] = slopes.map(|slope| slope * self.sign);
        [
            Side {
                slope: upper,
                depth: k + usize::from((slopes[1] >= 0.0) == forward),
                bound: centre + offsets[1] + margin - upper * depth,
            },
            Side {
                slope: lower,
                depth: k + usize::from((slopes[0] < 0.0) == forward),
                bound: centre + offsets[0] - margin - lower * depth,
            },
        ]
    }

    /// The box in that place of a node.
    #[inline(always)]
    pub fn see(&self, node: &Node, at: usize) -> SeenBox {
        let margin = BOX_MARGIN * self.error;
        let [x, y, k] = self.axes;
        let from = |axis: usize| {
            [2 * axis, 2 * axis + 1].map(|bound| node.bounds[bound][at] - self.centre[axis])
        };
        let depth = from(k).map(|depth| depth * self.sign);
        let [first, second] = [from(x), from(y)];
        SeenBox {
            enter: -greater(-depth[0], -depth[1]) - margin,
            leave: greater(depth[0], depth[1]) + margin,
            low: [first[0] - margin, second[0] - margin],
            high: [first[1] + margin, second[1] + margin],
        }
    }

    /// The wedge around those of all packets, where these are neighbours that start about one
    /// place.
    #[inline(always)]
    pub fn around(packets: &[Packet], tree: &MeshTree) -> Option<Self> {
        let (first, others) = packets.split_first()?;
        let mut all = first.wedge;
        let mut widest = all.width();
        for other in others {
            let other = &other.wedge;
            if !all.goes_with(other) {
                return None;
            }
            widest = greater(widest, other.width());
            all.moment_size = greater(all.moment_size, other.moment_size);
            all.near_depth = -greater(-all.near_depth, -other.near_depth);
            for (own, other) in all.extents.iter_mut().zip(&other.extents) {
                *own = own.and(other);
            }
        }
        let joint = Self {
            moment_size: all.moment_size,
            near_depth: all.near_depth,
            ..Self::new((all.axes, all.sign), all.centre, all.extents, tree)
        };
        let width = joint.width();
        (width <= ROOM * widest && width <= WIDEST).then_some(joint)
    }

    /// Whether rays of both have the same axes and start about the same place.
    #[inline(always)]
    fn goes_with(&self, other: &Self) -> bool {
        (self.axes, self.sign, self.centre) == (other.axes, other.sign, other.centre)
    }

    /// The larger of its half widths.
    #[inline(always)]
    fn width(&self) -> f32 {
        greater(self.slope_half[0], self.slope_half[1])
    }
}

/// The greater of two numbers, neither of which is a NaN.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
