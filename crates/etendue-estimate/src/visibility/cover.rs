//! How much of a beam's cross-section lies behind an edge, and how much its rays say does.

use etendue_physics::beam::{BeamRay, BeamShape, BeamWidth, SubRay, SubRayPattern};
use nalgebra::Vector2;
use std::f64::consts::PI;

/// Steps of the integral of a Gaussian profile, across and along a strip.
const STEPS: u32 = 16;

/// A beam's profile and the rays that sample it, in the cross-section's own unit: radii of a round
/// beam, standard deviations of a scanner's.
pub(super) struct Cover {
    outline: Outline,
    profile: Profile,
    rays: Vec<Sample>,
}

/// How far out a beam has light.
#[derive(Clone, Copy)]
enum Outline {
    Disc {
        radius: f64,
    },
    /// A hexagon with two corners to the left and right.
    Hexagon {
        corner: f64,
    },
}

/// Power per area: `middle * exp(-falloff r²)`.
#[derive(Clone, Copy)]
struct Profile {
    middle: f64,
    falloff: f64,
}

/// A ray of the beam.
struct Sample {
    at: Vector2<f64>,
    weight: f64,
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

impl Outline {
    /// The part of the way from `start` to `end` that lies inside.
    fn inside(self, start: &Vector2<f64>, end: &Vector2<f64>) -> Option<[f64; 2]> {
        let way = end - start;
        let mut part = [0.0_f64, 1.0];
        match self {
            Self::Disc { radius } => {
                let nearest = -start.dot(&way) / way.norm_squared();
                let aside = (start + way * nearest).norm_squared();
                let half = ((radius * radius - aside).max(0.0) / way.norm_squared()).sqrt();
                part = [nearest - half, nearest + half].map(|at| at.clamp(0.0, 1.0));
            }
            Self::Hexagon { corner } => {
                let reach = 0.75_f64.sqrt() * corner;
                for sixth in [1, 3, 5] {
                    let (sin, cos) = (f64::from(sixth) * PI / 6.0).sin_cos();
                    let side = Vector2::new(cos, sin);
                    let (from, along) = (start.dot(&side), way.dot(&side));
                    if along == 0.0 && from.abs() >= reach {
                        return None;
                    }
                    if along != 0.0 {
                        let mut ends = [-reach, reach].map(|end| (end - from) / along);
                        ends.sort_by(f64::total_cmp);
                        part = [part[0].max(ends[0]), part[1].min(ends[1])];
                    }
                }
            }
        }
        (part[1] > part[0]).then_some(part)
    }

    fn radius(self) -> f64 {
        match self {
            Self::Disc { radius } | Self::Hexagon { corner: radius } => radius,
        }
    }
}

impl Cover {
    /// A round beam, in its radii.
    pub(super) fn of_pattern(pattern: SubRayPattern) -> Self {
        let (outline, profile) = if matches!(pattern, SubRayPattern::Gaussian { .. }) {
            let within = 1.0 - (-4.5_f64).exp();
            let profile = Profile {
                middle: 2.0 / (PI * within),
                falloff: 2.0,
            };
            (Outline::Disc { radius: 1.5 }, profile)
        } else {
            let profile = Profile {
                middle: 1.0 / PI,
                falloff: 0.0,
            };
            (Outline::Disc { radius: 1.0 }, profile)
        };
        let sample = |ray: SubRay| Sample {
            at: Vector2::new(ray.left, ray.up),
            weight: ray.weight,
        };
        Self {
            outline,
            profile,
            rays: pattern.sub_rays().into_iter().map(sample).collect(),
        }
    }

    /// A scanner's beam, in standard deviations: what the hexagons of its rays tend to, the more
    /// there are ([`BeamWidth::rays`]).
    pub(super) fn of_beam(beam: &BeamWidth, rings: u32) -> Self {
        // In units of the hexagon's corner a Gaussian ends at two standard deviations.
        let falloff = match beam.shape {
            BeamShape::Gaussian => 2.0,
            BeamShape::TopHat => 0.0,
        };
        let [power, second] = hexagon_moments(falloff);
        let corner = (power / second).sqrt();
        let sample = |ray: BeamRay| Sample {
            at: ray.place.into(),
            weight: ray.weight,
        };
        Self {
            outline: Outline::Hexagon { corner },
            profile: Profile {
                middle: 1.0 / (power * corner * corner),
                falloff: falloff / (corner * corner),
            },
            rays: beam.rays(rings).into_iter().map(sample).collect(),
        }
    }

    /// How far out the beam has light.
    pub(super) fn radius(&self) -> f64 {
        self.outline.radius()
    }

    /// The part of the way from `start` to `end` where the beam has light.
    pub(super) fn inside(&self, start: &Vector2<f64>, end: &Vector2<f64>) -> Option<[f64; 2]> {
        self.outline.inside(start, end)
    }

    /// Power per area.
    pub(super) fn irradiance(&self, at: &Vector2<f64>) -> f64 {
        self.profile.middle * (-self.profile.falloff * at.norm_squared()).exp()
    }

    /// The beam's power in a strip.
    pub(super) fn area(&self, strip: &Strip) -> f64 {
        let [from, to] = strip.along;
        let is_even = self.profile.falloff == 0.0;
        if let (Outline::Disc { radius: 1.0 }, true) = (self.outline, is_even) {
            // From the rim to a line through the axis, less the rectangle from the edge to there.
            let half =
                |s: f64| 0.5 * (s * (1.0 - s * s).max(0.0).sqrt() + s.clamp(-1.0, 1.0).asin());
            return (half(to) - half(from) + strip.offset * strip.length()) / PI;
        }
        let columns = middles(from, to).map(|along| self.column(strip, along));
        columns.sum::<f64>() * (strip.length() / f64::from(STEPS))
    }

    /// Power per length of a line across a strip, from the rim to the edge.
    fn column(&self, strip: &Strip, along: f64) -> f64 {
        let middle = direction(&strip.normal) * along;
        let rim = strip.normal * (2.0 * self.radius());
        let Some([out, _]) = self.inside(&(middle - rim), &(middle + rim)) else {
            return 0.0;
        };
        let from = (4.0 * out - 2.0) * self.radius();
        let points = middles(from, strip.offset.max(from));
        let sum: f64 = points
            .map(|across| self.irradiance(&(middle + strip.normal * across)))
            .sum();
        sum * (strip.offset - from).max(0.0) / f64::from(STEPS)
    }

    /// The power of the rays in a strip.
    pub(super) fn sampled(&self, strip: &Strip) -> f64 {
        let inside = self.rays.iter().filter(|ray| strip.holds(&ray.at));
        inside.map(|ray| ray.weight).sum()
    }
}

/// The integral of $e^{-kr^2}$ over a hexagon of unit corners, and of $x^2 e^{-kr^2}$.
fn hexagon_moments(falloff: f64) -> [f64; 2] {
    // Twelve times from the middle of a side to a corner.
    let sums = middles(0.0, PI / 6.0).map(|angle| {
        let square = 0.75 / angle.cos().powi(2);
        let x = falloff * square;
        if x == 0.0 {
            return [0.5 * square, 0.25 * square * square];
        }
        let left = (-x).exp();
        [
            0.5 * (1.0 - left) / falloff,
            0.5 * (1.0 - left * (1.0 + x)) / (falloff * falloff),
        ]
    });
    let [power, second] = sums.fold([0.0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    let step = 2.0 * PI / f64::from(STEPS);
    [power * step, 0.5 * second * step]
}

/// The middles of equal steps between two numbers.
fn middles(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let step = (to - from) / f64::from(STEPS);
    (0..STEPS).map(move |i| from + step * (f64::from(i) + 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::beam::{Divergence, DivergenceAt};

    /// Behind a line across the whole disc.
    fn segment(offset: f64, turn: f64, radius: f64) -> Strip {
        let normal = Vector2::new(turn.cos(), turn.sin());
        let half = (radius * radius - offset * offset).sqrt();
        let ends = [-half, half].map(|s| normal * offset + direction(&normal) * s);
        Strip::new(ends, normal)
    }

    #[test]
    fn a_line_through_a_disc_leaves_a_circular_segment_behind() {
        let cover = Cover::of_pattern(SubRayPattern::THREE);
        for offset in [-0.9_f64, -0.3, 0.0] {
            let angle = offset.abs().acos();
            let expected = (angle - angle.sin() * angle.cos()) / PI;
            let area = cover.area(&segment(offset, 0.7, 1.0));
            assert!((area - expected).abs() < 1e-12, "{offset}");
        }
    }

    /// A beam of a scanner.
    fn beam(shape: BeamShape) -> BeamWidth {
        let round = |width| Divergence {
            horizontal: width,
            vertical: width,
            at: DivergenceAt::InverseESquared,
        };
        BeamWidth {
            shape,
            divergence: round(3e-3),
            exit: round(1e-2),
        }
    }

    #[test]
    fn a_scanners_beam_has_unit_power_and_variance() {
        for shape in [BeamShape::Gaussian, BeamShape::TopHat] {
            let cover = Cover::of_beam(&beam(shape), 1);
            let step = 0.01;
            let places = (-400..400).map(|i| f64::from(2 * i + 1) * 0.5 * step);
            let (mut power, mut second) = (0.0, 0.0);
            for x in places.clone() {
                for y in places.clone() {
                    let at = Vector2::new(x, y);
                    if cover.inside(&at, &(at * (1.0 - 1e-9))).is_some() {
                        power += cover.irradiance(&at) * step * step;
                        second += y * y * cover.irradiance(&at) * step * step;
                    }
                }
            }
            // Measured: 5e-4, the rim's steps.
            assert!((power - 1.0).abs() < 2e-3, "{shape:?}: {power}");
            assert!((second - 1.0).abs() < 4e-3, "{shape:?}: {second}");
        }
    }

    #[test]
    fn the_rays_of_a_fine_pattern_say_what_the_integral_does() {
        for cover in [
            Cover::of_pattern(SubRayPattern::Rings { rings: 60 }),
            Cover::of_pattern(SubRayPattern::Gaussian { rings: 60 }),
            Cover::of_beam(&beam(BeamShape::Gaussian), 60),
            Cover::of_beam(&beam(BeamShape::TopHat), 60),
        ] {
            for (offset, turn) in [(-0.6, 0.1), (-0.1, 2.0), (-0.4, 4.0)] {
                let strip = segment(offset, turn, cover.radius());
                let (area, sampled) = (cover.area(&strip), cover.sampled(&strip));
                // Measured: at most 2e-3.
                assert!((area - sampled).abs() < 5e-3, "{area} {sampled}");
            }
        }
    }
}
