//! How much of a beam's cross-section lies behind an edge, and how much its rays say does.

use etendue_physics::beam::{SubRay, SubRayPattern};
use nalgebra::Vector2;
use std::f64::consts::PI;

/// Steps of the integral of a Gaussian profile, across and along a strip.
const STEPS: u32 = 16;

/// A beam's profile and the rays that sample it, in beam radii.
pub(super) struct Cover {
    is_gaussian: bool,
    sub_rays: Vec<SubRay>,
}

/// The part of a cross-section behind a piece of an edge.
pub(super) struct Strip {
    /// Bounds along the edge.
    along: [f64; 2],
    /// Where the edge is along its normal, at most 0: the strip lies below that.
    offset: f64,
    normal: Vector2<f64>,
}

impl Strip {
    /// Behind a piece of an edge between two points, which has that unit normal.
    pub(super) fn new(ends: [Vector2<f64>; 2], normal: Vector2<f64>) -> Self {
        let mut along = ends.map(|end| end.dot(&direction(&normal)));
        along.sort_by(f64::total_cmp);
        Self {
            along,
            offset: ends[0].dot(&normal),
            normal,
        }
    }

    pub(super) fn length(&self) -> f64 {
        self.along[1] - self.along[0]
    }

    fn holds(&self, at: &Vector2<f64>) -> bool {
        let along = at.dot(&direction(&self.normal));
        (self.along[0]..self.along[1]).contains(&along) && at.dot(&self.normal) < self.offset
    }
}

/// Along an edge with that normal.
fn direction(normal: &Vector2<f64>) -> Vector2<f64> {
    Vector2::new(normal.y, -normal.x)
}

impl Cover {
    pub(super) fn new(pattern: SubRayPattern) -> Self {
        Self {
            is_gaussian: matches!(pattern, SubRayPattern::Gaussian { .. }),
            sub_rays: pattern.sub_rays(),
        }
    }

    /// How far out the beam has light.
    pub(super) fn radius(&self) -> f64 {
        if self.is_gaussian { 1.5 } else { 1.0 }
    }

    /// Power per area.
    pub(super) fn irradiance(&self, at: &Vector2<f64>) -> f64 {
        if self.is_gaussian {
            let within = 1.0 - (-4.5_f64).exp();
            2.0 / (PI * within) * (-2.0 * at.norm_squared()).exp()
        } else {
            1.0 / PI
        }
    }

    /// The beam's power in a strip.
    pub(super) fn area(&self, strip: &Strip) -> f64 {
        let [from, to] = strip.along;
        if self.is_gaussian {
            return middles(from, to)
                .map(|along| self.column(along, strip.offset))
                .sum::<f64>()
                * (strip.length() / f64::from(STEPS));
        }
        // From the rim to a line through the axis, less the rectangle from the edge to there.
        let half = |s: f64| 0.5 * (s * (1.0 - s * s).max(0.0).sqrt() + s.clamp(-1.0, 1.0).asin());
        (half(to) - half(from) + strip.offset * strip.length()) / PI
    }

    /// Power per length of a line across a strip, from the rim to the edge.
    fn column(&self, along: f64, offset: f64) -> f64 {
        let rim = (self.radius().powi(2) - along * along).max(0.0).sqrt();
        let points = middles(-rim, offset.max(-rim));
        let sum: f64 = points
            .map(|across| self.irradiance(&Vector2::new(along, across)))
            .sum();
        sum * (offset + rim).max(0.0) / f64::from(STEPS)
    }

    /// The power of the rays in a strip.
    pub(super) fn sampled(&self, strip: &Strip) -> f64 {
        let inside = |ray: &&SubRay| strip.holds(&Vector2::new(ray.left, ray.up));
        self.sub_rays
            .iter()
            .filter(inside)
            .map(|ray| ray.weight)
            .sum()
    }
}

/// The middles of equal steps between two numbers.
fn middles(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let step = (to - from) / f64::from(STEPS);
    (0..STEPS).map(move |i| from + step * (f64::from(i) + 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behind a line across the whole disc.
    fn segment(offset: f64, turn: f64, radius: f64) -> Strip {
        let normal = Vector2::new(turn.cos(), turn.sin());
        let half = (radius * radius - offset * offset).sqrt();
        let ends = [-half, half].map(|s| normal * offset + direction(&normal) * s);
        Strip::new(ends, normal)
    }

    #[test]
    fn a_line_through_a_disc_leaves_a_circular_segment_behind() {
        let cover = Cover::new(SubRayPattern::THREE);
        for offset in [-0.9_f64, -0.3, 0.0] {
            let angle = offset.abs().acos();
            let expected = (angle - angle.sin() * angle.cos()) / PI;
            let area = cover.area(&segment(offset, 0.7, 1.0));
            assert!((area - expected).abs() < 1e-12, "{offset}");
        }
    }

    #[test]
    fn the_rays_of_a_fine_pattern_say_what_the_integral_does() {
        for pattern in [
            SubRayPattern::Rings { rings: 60 },
            SubRayPattern::Gaussian { rings: 60 },
        ] {
            let cover = Cover::new(pattern);
            for (offset, turn) in [(-0.6, 0.1), (-0.1, 2.0), (-0.4, 4.0)] {
                let strip = segment(offset, turn, cover.radius());
                let (area, sampled) = (cover.area(&strip), cover.sampled(&strip));
                // Measured: at most 2e-3.
                assert!(
                    (area - sampled).abs() < 5e-3,
                    "{pattern:?}: {area} {sampled}"
                );
            }
        }
    }
}
