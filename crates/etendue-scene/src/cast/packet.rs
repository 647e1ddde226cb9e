//! Sixteen coherent rays in a mesh's frame, seen along their major axis.
//!
//! With $k$ the major axis, $\\sigma$ the sign of the rays along it, and $c$ the middle of their
//! origins, a ray is $c + \\Delta + z\\,(s_x, s_y, \\sigma)$ at depth $z$, its origin moved along it
//! to $\\Delta_k = 0$.

use super::best::{Best, LocalRays, ROUND_OFF};
use super::tree::MeshTree;

/// Steepest slope of a packet: above $1/\sqrt 2$ times $\sqrt 2$, so that every direction has an
/// axis along which narrow packets qualify.
const STEEPEST: f64 = 1.45;

/// Widest packet, as difference of slopes.
const WIDEST: f64 = 0.35;

/// Rounding of a box's or a triangle's place relative to a ray, in units of [`Packet::error`].
pub(crate) const BOX_MARGIN: f32 = 32.0;

/// One side of the wedge: boxes pass where `lateral - slope * depth` is on the right side of
/// `bound`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    pub slope: f32,
    /// Which of a node's bounds is the depth, see [`super::tree::Node::bounds`].
    pub depth: usize,
    pub bound: f32,
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
    pub scale: [f64; 16],
    pub shift: [f64; 16],
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
    /// Unit round-off times the largest coordinate that occurs, m.
    pub error: f32,
    /// For each lateral axis, the upper and the lower side.
    pub sides: [[Side; 2]; 2],
    pub near_depth: f32,
}

impl Packet {
    /// Prepares rays, or gives none where they are not coherent. Lanes that are not active are
    /// copies of an active one.
    #[inline(always)]
    pub fn new(rays: &LocalRays, tree: &MeshTree) -> Option<(Self, Best)> {
        let axes = major_axes(rays);
        let [x, y, k] = axes;
        let sign = rays.direction[k][0].signum();
        let mut scale = [0.0_f64; 16];
        for lane in 0..16 {
            scale[lane] = rays.direction[k][lane] * sign;
        }
        let shallowest = scale.iter().copied().fold(f64::INFINITY, f64::min);
        if shallowest < 0.5 {
            return None;
        }
        let mut slope = [[0.0_f64; 16]; 2];
        for lane in 0..16 {
            let inverse = 1.0 / scale[lane];
            slope[0][lane] = rays.direction[x][lane] * inverse;
            slope[1][lane] = rays.direction[y][lane] * inverse;
        }
        let slopes = [range(&slope[0]), range(&slope[1])];
        if slopes
            .iter()
            .any(|(low, high)| high - low > WIDEST || low.abs().max(high.abs()) > STEEPEST)
        {
            return None;
        }
        let middle = tree.middle;
        let mut centre = [0.0_f32; 3];
        for axis in 0..3 {
            let (low, high) = range(&rays.origin[axis]);
            centre[axis] = (0.5 * (low + high) - middle[axis]) as f32;
        }
        let mut shift = [0.0_f64; 16];
        let mut offset = [[0.0_f64; 16]; 2];
        for lane in 0..16 {
            let from_centre =
                |axis: usize| rays.origin[axis][lane] - middle[axis] - f64::from(centre[axis]);
            shift[lane] = from_centre(k) * sign;
            offset[0][lane] = from_centre(x) - shift[lane] * slope[0][lane];
            offset[1][lane] = from_centre(y) - shift[lane] * slope[1][lane];
        }
        let offsets = [range(&offset[0]), range(&offset[1])];
        let spread = offsets.iter().fold(0.0_f64, |most, (low, high)| {
            most.max(low.abs()).max(high.abs())
        });
        let far_out = centre.iter().fold(0.0_f32, |most, c| most.max(c.abs()));
        let largest = tree.half.amax() as f32 + far_out + spread as f32;
        let mut packet = Self {
            slope: slope.map(|s| s.map(|x| x as f32)),
            inverse: slope.map(|s| s.map(inverse_slope)),
            offset: offset.map(|s| s.map(|x| x as f32)),
            moment: [[0.0; 16]; 3],
            near: [0.0; 16],
            scale,
            shift,
            axes,
            sign: sign as f32,
            centre,
            slope_middle: slopes.map(|(low, high)| (0.5 * (low + high)) as f32),
            slope_half: slopes.map(|(low, high)| ((0.5 * (high - low)) as f32).next_up()),
            moment_size: 0.0,
            error: ROUND_OFF * largest,
            sides: [[Side::default(); 2]; 2],
            near_depth: 0.0,
        };
        packet.set_moments();
        for lateral in 0..2 {
            packet.sides[lateral] = packet.wedge(lateral, slopes[lateral], offsets[lateral]);
        }
        let best = packet.limits(rays);
        Some((packet, best))
    }

    #[inline(always)]
    fn set_moments(&mut self) {
        let mut size = 0.0_f32;
        for lane in 0..16 {
            let [x, y] = self.offset.map(|o| o[lane]);
            let [sx, sy] = self.slope.map(|s| s[lane]);
            let moment = [y * self.sign, -x * self.sign, x * sy - y * sx];
            for (axis, part) in moment.into_iter().enumerate() {
                self.moment[axis][lane] = part;
            }
            size = size.max(moment[0].abs() + moment[1].abs() + moment[2].abs());
        }
        self.moment_size = size * 1.0001;
    }

    #[inline(always)]
    fn wedge(&self, lateral: usize, slopes: (f64, f64), offsets: (f64, f64)) -> [Side; 2] {
        let [axis, k] = [self.axes[lateral], self.axes[2]];
        let margin = f64::from(BOX_MARGIN * self.error);
        let sign = f64::from(self.sign);
        let side = |slope: f64, offset: f64, outer: bool| {
            let place = f64::from(self.centre[axis]) + offset;
            let depth = 2 * k + usize::from((outer == (slope >= 0.0)) == (sign > 0.0));
            Side {
                slope: (slope * sign) as f32,
                depth,
                bound: (place - slope * sign * f64::from(self.centre[k])) as f32,
            }
        };
        let upper = side(slopes.1, offsets.1 + margin, true);
        let lower = side(slopes.0, offsets.0 - margin, false);
        [upper, lower]
    }

    #[inline(always)]
    fn limits(&mut self, rays: &LocalRays) -> Best {
        let mut best = Best::CLOSED;
        let mut nearest = f32::INFINITY;
        for lane in 0..16 {
            let near = rays.near[lane] * self.scale[lane] + self.shift[lane];
            self.near[lane] = near as f32;
            nearest = nearest.min(self.near[lane]);
            if rays.active >> lane & 1 == 1 {
                let far = rays.far[lane] * self.scale[lane] + self.shift[lane];
                best.low[lane] = (far as f32).next_down();
                best.high[lane] = (far as f32).next_up();
            }
        }
        self.near_depth = nearest - BOX_MARGIN * self.error;
        best
    }

    pub fn depth(&self, lane: usize, distance: f64) -> f64 {
        distance * self.scale[lane] + self.shift[lane]
    }
}

#[inline(always)]
fn major_axes(rays: &LocalRays) -> [usize; 3] {
    let size = |axis: usize| (rays.direction[axis][0] + rays.direction[axis][15]).abs();
    if size(0) >= size(1) && size(0) >= size(2) {
        [1, 2, 0]
    } else if size(1) >= size(2) {
        [2, 0, 1]
    } else {
        [0, 1, 2]
    }
}

#[inline(always)]
fn range(values: &[f64; 16]) -> (f64, f64) {
    let mut low = values[0];
    let mut high = values[0];
    for &value in &values[1..] {
        low = if value < low { value } else { low };
        high = if value > high { value } else { high };
    }
    (low, high)
}

/// One over a slope; parallel rays get a number so large that no box is between.
#[inline(always)]
pub(crate) fn inverse_slope(slope: f64) -> f32 {
    (1.0 / slope.abs().max(1e-18).copysign(slope)) as f32
}
