//! Power of a beam on one side of an edge: the integral and the sum over sample rays.

use etendue_physics::Scalar;
use etendue_physics::beam::{BeamRay, BeamShape, BeamWidth, SubRay, SubRayPattern, outermost};
use etendue_sensors::lidar::{Beam, BeamProfile};
use nalgebra::Vector2;
use std::f64::consts::PI;

/// Number of midpoints of a quadrature along each axis.
const STEPS: u32 = 16;

/// Cross-section of a beam with its irradiance and sample rays.
///
/// Lengths are in radii of a conical beam, or in standard deviations of an elliptic one.
pub(super) struct CrossSection {
    outline: Outline,
    profile: Profile,
    rays: Vec<Sample>,
}

/// Boundary of a cross-section.
#[derive(Clone, Copy)]
enum Outline {
    /// Disc.
    Disc {
        /// Radius.
        radius: f64,
    },
    /// Regular hexagon with corners to the left and right.
    Hexagon {
        /// Distance of the corners from the centre.
        corner: f64,
    },
}

/// Irradiance `peak * exp(-falloff * r²)` at the distance `r` from the axis, for a beam of unit power.
#[derive(Clone, Copy)]
struct Profile {
    peak: f64,
    falloff: f64,
}

/// Sample ray of a beam.
struct Sample {
    /// Position in the cross-section.
    at: Vector2<f64>,
    /// Fraction of the power.
    weight: f64,
}

/// Strip of a cross-section behind a piece of an edge: from the edge to the rim, along its normal.
pub(super) struct Strip {
    /// Bounds along the direction of the edge.
    along: [f64; 2],
    /// Coordinate of the edge along the normal, at most 0; the strip has smaller coordinates.
    offset: f64,
    /// Unit normal of the edge.
    normal: Vector2<f64>,
}

impl Strip {
    /// Strip behind a piece of an edge between two points, with the unit normal of the edge.
    pub(super) fn new(ends: [Vector2<f64>; 2], normal: Vector2<f64>) -> Self {
        let mut along = ends.map(|end| end.dot(&direction(&normal)));
        along.sort_by(f64::total_cmp);
        Self {
            along,
            offset: ends[0].dot(&normal),
            normal,
        }
    }

    /// Length along the edge.
    pub(super) fn length(&self) -> f64 {
        self.along[1] - self.along[0]
    }

    /// Whether a point is in the strip.
    fn contains(&self, at: &Vector2<f64>) -> bool {
        let along = at.dot(&direction(&self.normal));
        (self.along[0]..self.along[1]).contains(&along) && at.dot(&self.normal) < self.offset
    }
}

/// Direction of an edge with a normal.
fn direction(normal: &Vector2<f64>) -> Vector2<f64> {
    Vector2::new(normal.y, -normal.x)
}

impl Outline {
    /// Bounds of the part of the segment from `start` to `end` that is inside, as fractions of the
    /// segment.
    fn inside(self, start: &Vector2<f64>, end: &Vector2<f64>) -> Option<[f64; 2]> {
        let along = end - start;
        let mut part = [0.0_f64, 1.0];
        match self {
            // Intersect the line with the circle.
            Self::Disc { radius } => {
                let nearest = -start.dot(&along) / along.norm_squared();
                let distance = (start + along * nearest).norm_squared();
                let half = ((radius * radius - distance).max(0.0) / along.norm_squared()).sqrt();
                part = [nearest - half, nearest + half].map(|at| at.clamp(0.0, 1.0));
            }
            // Clip the segment by the three pairs of parallel sides.
            Self::Hexagon { corner } => {
                let reach = 0.75_f64.sqrt() * corner;
                for sixth in [1, 3, 5] {
                    let (sin, cos) = (f64::from(sixth) * PI / 6.0).sin_cos();
                    let side = Vector2::new(cos, sin);
                    let from = start.dot(&side);
                    let slope = along.dot(&side);
                    if slope == 0.0 && from.abs() >= reach {
                        return None;
                    }
                    if slope != 0.0 {
                        let mut ends = [-reach, reach].map(|end| (end - from) / slope);
                        ends.sort_by(f64::total_cmp);
                        part = [part[0].max(ends[0]), part[1].min(ends[1])];
                    }
                }
            }
        }
        (part[1] > part[0]).then_some(part)
    }

    /// Greatest distance from the centre.
    fn radius(self) -> f64 {
        match self {
            Self::Disc { radius } | Self::Hexagon { corner: radius } => radius,
        }
    }
}

impl CrossSection {
    /// Cross-section of a beam.
    pub(super) fn of_beam<S: Scalar>(beam: &Beam<S>) -> Self {
        match beam.profile {
            BeamProfile::Elliptic { width, rings } => Self::of_ellipse(&width.plain(), rings),
            BeamProfile::Cone { pattern, .. } => Self::of_pattern(pattern),
        }
    }

    /// Cross-section of a conical beam, in beam radii.
    fn of_pattern(pattern: SubRayPattern) -> Self {
        let (outline, profile) = if matches!(pattern, SubRayPattern::Gaussian { .. }) {
            // Gaussian of 1/e² radius 1, truncated at 1.5
            let within = 1.0 - (-4.5_f64).exp();
            let profile = Profile {
                peak: 2.0 / (PI * within),
                falloff: 2.0,
            };
            (Outline::Disc { radius: 1.5 }, profile)
        } else {
            let profile = Profile {
                peak: 1.0 / PI,
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

    /// Cross-section of an elliptic beam, in standard deviations: the hexagon of its ray pattern
    /// ([`BeamWidth::rays`]), filled without gaps.
    fn of_ellipse(beam: &BeamWidth, rings: u32) -> Self {
        // A Gaussian is truncated at the corners of the hexagon.
        let falloff = match beam.shape {
            BeamShape::Gaussian => 0.5 * outermost(rings).powi(2),
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
                peak: 1.0 / (power * corner * corner),
                falloff: falloff / (corner * corner),
            },
            rays: beam.rays(rings).into_iter().map(sample).collect(),
        }
    }

    /// Greatest distance of a point of the cross-section from the axis.
    pub(super) fn radius(&self) -> f64 {
        self.outline.radius()
    }

    /// Bounds of the part of the segment from `start` to `end` inside the cross-section, as fractions
    /// of the segment.
    pub(super) fn inside(&self, start: &Vector2<f64>, end: &Vector2<f64>) -> Option<[f64; 2]> {
        self.outline.inside(start, end)
    }

    /// Irradiance at a point, for a beam of unit power.
    pub(super) fn irradiance(&self, at: &Vector2<f64>) -> f64 {
        self.profile.peak * (-self.profile.falloff * at.norm_squared()).exp()
    }

    /// Power of the beam in a strip, for a beam of unit power.
    pub(super) fn power(&self, strip: &Strip) -> f64 {
        let [from, to] = strip.along;
        let is_even = self.profile.falloff == 0.0;
        if let (Outline::Disc { radius: 1.0 }, true) = (self.outline, is_even) {
            // Closed form: the area between the rim and a line through the axis, minus the rectangle
            // from the edge to the line.
            let half =
                |s: f64| 0.5 * (s * (1.0 - s * s).max(0.0).sqrt() + s.clamp(-1.0, 1.0).asin());
            return (half(to) - half(from) + strip.offset * strip.length()) / PI;
        }
        // Midpoint rule along the edge.
        let columns = midpoints(from, to).map(|along| self.column(strip, along));
        columns.sum::<f64>() * (strip.length() / f64::from(STEPS))
    }

    /// Power per length of edge on a line across a strip, from the rim to the edge, by the midpoint
    /// rule.
    fn column(&self, strip: &Strip, along: f64) -> f64 {
        let middle = direction(&strip.normal) * along;
        let rim = strip.normal * (2.0 * self.radius());
        let Some([out, _]) = self.inside(&(middle - rim), &(middle + rim)) else {
            return 0.0;
        };
        let from = (4.0 * out - 2.0) * self.radius();
        let points = midpoints(from, strip.offset.max(from));
        let sum: f64 = points
            .map(|across| self.irradiance(&(middle + strip.normal * across)))
            .sum();
        sum * (strip.offset - from).max(0.0) / f64::from(STEPS)
    }

    /// Power of the sample rays in a strip.
    pub(super) fn sampled_power(&self, strip: &Strip) -> f64 {
        let inside = self.rays.iter().filter(|ray| strip.contains(&ray.at));
        inside.map(|ray| ray.weight).sum()
    }
}

/// Integrals of $e^{-kr^2}$ and of $x^2 e^{-kr^2}$ over a regular hexagon with corners at distance 1,
/// with $k$ = `falloff`.
fn hexagon_moments(falloff: f64) -> [f64; 2] {
    // Twelve times the integral over the triangle from the middle of a side to a corner.
    let sums = midpoints(0.0, PI / 6.0).map(|angle| {
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

/// Midpoints of [`STEPS`] equal intervals between two numbers.
fn midpoints(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let step = (to - from) / f64::from(STEPS);
    (0..STEPS).map(move |i| from + step * (f64::from(i) + 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::beam::{Divergence, DivergenceAt};

    /// Strip behind a line across the whole disc.
    fn segment(offset: f64, turn: f64, radius: f64) -> Strip {
        let normal = Vector2::new(turn.cos(), turn.sin());
        let half = (radius * radius - offset * offset).sqrt();
        let ends = [-half, half].map(|s| normal * offset + direction(&normal) * s);
        Strip::new(ends, normal)
    }

    #[test]
    fn the_power_behind_a_line_is_that_of_a_circular_segment() {
        let cross_section = CrossSection::of_pattern(SubRayPattern::THREE);
        for offset in [-0.9_f64, -0.3, 0.0] {
            let angle = offset.abs().acos();
            let expected = (angle - angle.sin() * angle.cos()) / PI;
            let area = cross_section.power(&segment(offset, 0.7, 1.0));
            assert!((area - expected).abs() < 1e-12, "{offset}");
        }
    }

    /// An elliptic beam.
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
    fn an_elliptic_beam_has_unit_power_and_variance() {
        for shape in [BeamShape::Gaussian, BeamShape::TopHat] {
            let cross_section = CrossSection::of_ellipse(&beam(shape), 1);
            let step = 0.01;
            let positions = (-400..400).map(|i| f64::from(2 * i + 1) * 0.5 * step);
            let mut power = 0.0;
            let mut second = 0.0;
            for x in positions.clone() {
                for y in positions.clone() {
                    let at = Vector2::new(x, y);
                    if cross_section.inside(&at, &(at * (1.0 - 1e-9))).is_some() {
                        power += cross_section.irradiance(&at) * step * step;
                        second += y * y * cross_section.irradiance(&at) * step * step;
                    }
                }
            }
            // Measured: 5e-4, by the steps along the rim.
            assert!((power - 1.0).abs() < 2e-3, "{shape:?}: {power}");
            assert!((second - 1.0).abs() < 4e-3, "{shape:?}: {second}");
        }
    }

    #[test]
    fn the_rays_of_a_fine_pattern_have_the_power_of_the_integral() {
        for cross_section in [
            CrossSection::of_pattern(SubRayPattern::Rings { rings: 60 }),
            CrossSection::of_pattern(SubRayPattern::Gaussian { rings: 60 }),
            CrossSection::of_ellipse(&beam(BeamShape::Gaussian), 60),
            CrossSection::of_ellipse(&beam(BeamShape::TopHat), 60),
        ] {
            for (offset, turn) in [(-0.6, 0.1), (-0.1, 2.0), (-0.4, 4.0)] {
                let strip = segment(offset, turn, cross_section.radius());
                let area = cross_section.power(&strip);
                let sampled = cross_section.sampled_power(&strip);
                // Measured: at most 2e-3.
                assert!((area - sampled).abs() < 5e-3, "{area} {sampled}");
            }
        }
    }
}
