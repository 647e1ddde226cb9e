//! Power profile and width of a beam.

use crate::Scalar;
use crate::pulse::GAUSSIAN_FWHM_OVER_SD;

/// Power profile over the cross-section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamShape {
    /// Gaussian, elliptical.
    Gaussian,
    /// Uniform within an ellipse.
    TopHat,
}

/// Level of the profile at which a divergence or a diameter is measured; data sheets differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivergenceAt {
    /// Full angle at half of the peak.
    HalfMaximum,
    /// Full angle at $1/e^2$ of the peak.
    InverseESquared,
    /// Full angle of the edge of a top-hat.
    Edge,
}

/// Full angle or diameter of a beam along its two principal directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divergence<S = f64> {
    /// Full width across (along the azimuth), rad or m.
    pub horizontal: S,
    /// Full width upright (along the elevation), rad or m.
    pub vertical: S,
    /// Level of the profile at which the widths are measured.
    pub at: DivergenceAt,
}

/// Power profile, divergence and exit width of a beam.
///
/// `S` is the scalar of the divergence, which may carry derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamWidth<S = f64> {
    /// The profile.
    pub shape: BeamShape,
    /// Full divergence angles, rad.
    pub divergence: Divergence<S>,
    /// Full widths at the exit, m.
    pub exit: Divergence,
}

/// A ray of a beam: its offset at the exit and its slope relative to the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamRay<S = f64> {
    /// Offset at the exit to the left and upwards, m.
    pub offset: [f64; 2],
    /// Tangents of the angles from the axis to the left and upwards.
    pub slope: [S; 2],
    /// Position in the profile, in standard deviations: $p$ leaves the exit at $(-p_1 e_0, p_0
    /// e_1)$ with the tangents $(p_0 s_0, p_1 s_1)$, for standard deviations $e$ of the exit and
    /// $s$ of the divergence.
    pub place: [f64; 2],
    /// Fraction of the beam's power; the weights sum to 1.
    pub weight: f64,
}

impl<S: Scalar> Divergence<S> {
    /// Standard deviations of the power along both directions, in the unit of the widths.
    ///
    /// A Gaussian: FWHM / 2.3548, or the $1/e^2$ full width / 4. A uniform ellipse: full
    /// width / 4.
    pub fn sd(&self) -> [S; 2] {
        let over_sd = match self.at {
            DivergenceAt::HalfMaximum => GAUSSIAN_FWHM_OVER_SD,
            DivergenceAt::InverseESquared | DivergenceAt::Edge => 4.0,
        };
        [self.horizontal / over_sd, self.vertical / over_sd]
    }
}

impl BeamWidth {
    /// Standard deviations of the power over the angle at `distance` (m), as seen from the device,
    /// rad: divergence and exit width add in quadrature.
    ///
    /// ```
    /// use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
    /// let round = |width| Divergence { horizontal: width, vertical: width, at: DivergenceAt::HalfMaximum };
    /// let beam = BeamWidth {
    ///     shape: BeamShape::Gaussian,
    ///     divergence: round(0.35_f64.to_radians()),
    ///     exit: round(5e-3),
    /// };
    /// assert!((beam.angular_sd(2.0)[0] - 2.802943e-3).abs() < 1e-9);
    /// ```
    pub fn angular_sd(&self, distance: f64) -> [f64; 2] {
        let angle = self.divergence.sd();
        let exit = self.exit.sd();
        [0, 1].map(|axis| angle[axis].hypot(exit[axis] / distance))
    }

    /// Cross-section area at `distance` (m), m²: that of an ellipse with half axes of twice the
    /// standard deviations.
    pub fn area(&self, distance: f64) -> f64 {
        let [horizontal, vertical] = self.angular_sd(distance).map(|sd| 2.0 * sd * distance);
        std::f64::consts::PI * horizontal * vertical
    }

    /// Near-field distance, where the divergence spreads the beam over the area of its exit, m; 0
    /// for a beam without divergence. It is the $D/\theta$ of a receiver whose lens is as wide as
    /// the exit and whose field of view is the beam's.
    ///
    /// ```
    /// use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
    /// let of = |horizontal, vertical| Divergence { horizontal, vertical, at: DivergenceAt::Edge };
    /// let beam = BeamWidth { shape: BeamShape::TopHat, divergence: of(3e-3, 1e-3), exit: of(1e-2, 3e-2) };
    /// assert!((beam.near_field() - 10.0).abs() < 1e-12);
    /// ```
    pub fn near_field(&self) -> f64 {
        let [angle, exit] = [self.divergence.sd(), self.exit.sd()].map(|[h, v]| (h * v).sqrt());
        if angle > 0.0 { exit / angle } else { 0.0 }
    }

    /// Converts the beam to another scalar by applying `f` to every divergence.
    pub fn map<S>(&self, mut f: impl FnMut(f64) -> S) -> BeamWidth<S> {
        BeamWidth {
            shape: self.shape,
            divergence: Divergence {
                horizontal: f(self.divergence.horizontal),
                vertical: f(self.divergence.vertical),
                at: self.divergence.at,
            },
            exit: self.exit,
        }
    }
}

impl<S: Scalar> BeamWidth<S> {
    /// The beam without its derivatives.
    pub fn plain(&self) -> BeamWidth {
        BeamWidth {
            shape: self.shape,
            divergence: Divergence {
                horizontal: self.divergence.horizontal.value(),
                vertical: self.divergence.vertical.value(),
                at: self.divergence.at,
            },
            exit: self.exit,
        }
    }

    /// Rays over the profile: the axis and `rings` hexagons around it, 1, 7, 19, 37... rays,
    /// stretched to the ellipse and weighted by the profile so that their second moments equal the
    /// beam's at **every** distance.
    ///
    /// The rays of a Gaussian beam converge to it: the corners of the outermost of $n$ hexagons are at
    /// $1.2\sqrt{2n}$ standard deviations, limited to 2 to 5, so that the power beyond them and the
    /// spacing both decrease. The trapezoidal rule for a Gaussian converges exponentially in both.
    ///
    /// The rays are skew: the offset at the exit is rotated by 90 degrees relative to the slope, so
    /// that both add in quadrature, as the waist and the divergence of a beam do (a hyperboloid is
    /// ruled by skew lines). The middle ray, number `len / 2`, is the axis.
    pub fn rays(&self, rings: u32) -> Vec<BeamRay<S>> {
        let slope = self.divergence.sd();
        let exit = self.exit.sd();
        // Weigh the points of a hexagonal grid by the profile of the beam.
        let grid = hexagonal(rings);
        let raw: Vec<f64> = grid.iter().map(|p| self.profile(p, rings)).collect();
        let total: f64 = raw.iter().sum();
        // Scale the grid to unit variance.
        let second: f64 = grid
            .iter()
            .zip(&raw)
            .map(|(p, w)| w * p[0] * p[0])
            .sum::<f64>()
            / total;
        let unit = if second > 0.0 {
            second.sqrt().recip()
        } else {
            0.0
        };
        // Map the points to offsets at the exit and slopes.
        let ray = |(p, w): (&[f64; 2], &f64)| {
            let p = p.map(|x| x * unit);
            BeamRay {
                offset: [-p[1] * exit[0], p[0] * exit[1]],
                slope: [slope[0] * p[0], slope[1] * p[1]],
                place: p,
                weight: w / total,
            }
        };
        grid.iter().zip(&raw).map(ray).collect()
    }

    /// Profile at a grid point of the pattern, whose outermost hexagon has radius `rings`.
    fn profile(&self, point: &[f64; 2], rings: u32) -> f64 {
        match self.shape {
            BeamShape::TopHat => 1.0,
            BeamShape::Gaussian => {
                let radius = outermost(rings) * point[0].hypot(point[1]) / f64::from(rings.max(1));
                (-0.5 * radius * radius).exp()
            }
        }
    }
}

/// Distance of the corners of the outermost of `rings` hexagons of a Gaussian beam from the axis, in
/// standard deviations before the pattern is scaled to unit variance.
///
/// # Example
/// ```
/// use etendue_physics::beam::outermost;
/// assert_eq!([0, 2, 3, 60].map(outermost), [2.0, 2.4, 1.2 * 6.0_f64.sqrt(), 5.0]);
/// ```
pub fn outermost(rings: u32) -> f64 {
    (1.2 * (2.0 * f64::from(rings)).sqrt()).clamp(2.0, 5.0)
}

/// Points of a hexagonal grid of unit spacing within `rings` steps of its centre.
fn hexagonal(rings: u32) -> Vec<[f64; 2]> {
    let reach = i64::from(rings);
    let mut points = Vec::new();
    for row in -reach..=reach {
        for step in (-reach).max(-reach - row)..=reach.min(reach - row) {
            let across = step as f64 + 0.5 * row as f64;
            points.push([across, row as f64 * 0.75_f64.sqrt()]);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beam(shape: BeamShape) -> BeamWidth {
        BeamWidth {
            shape,
            divergence: Divergence {
                horizontal: 3e-3,
                vertical: 1.5e-3,
                at: DivergenceAt::InverseESquared,
            },
            exit: Divergence {
                horizontal: 8e-3,
                vertical: 8e-3,
                at: DivergenceAt::InverseESquared,
            },
        }
    }

    #[test]
    fn the_rays_have_the_moments_of_the_beam_at_every_distance() {
        for shape in [BeamShape::Gaussian, BeamShape::TopHat] {
            for (rings, count) in [(1, 7), (2, 19), (3, 37)] {
                let rays = beam(shape).rays(rings);
                assert_eq!(rays.len(), count);
                let weight: f64 = rays.iter().map(|r| r.weight).sum();
                assert!((weight - 1.0).abs() < 1e-12);
                for distance in [0.1, 3.0, 80.0] {
                    let sd = beam(shape).angular_sd(distance);
                    for axis in [0, 1] {
                        let at = |r: &BeamRay| r.offset[axis] + r.slope[axis] * distance;
                        let second: f64 = rays.iter().map(|r| r.weight * at(r).powi(2)).sum();
                        assert!((second.sqrt() / (sd[axis] * distance) - 1.0).abs() < 1e-12);
                    }
                }
            }
        }
    }

    /// Moments $\mathrm{E}\,r^4 = 8$, $\mathrm{E}\,r^6 = 48$ and $\mathrm{E}\,e^{x/2} = e^{1/8}$ of a
    /// Gaussian of unit variance. Measured with 2, 4, 10 and 64 hexagons: 0.106, 0.029, 7e-4, 1.5e-3;
    /// 0.31, 0.105, 3.7e-3, 7.4e-3; 9.4e-4, 2.7e-4, 6.7e-6, 1.5e-5. The last two are of the corners at five standard
    /// deviations.
    #[test]
    fn the_rays_of_a_gaussian_beam_converge_to_it() {
        let cases = [
            (2, [0.12, 0.32, 1e-3]),
            (4, [0.03, 0.11, 3e-4]),
            (10, [1e-3, 5e-3, 1e-5]),
            (64, [2e-3, 1e-2, 2e-5]),
        ];
        for (rings, tolerances) in cases {
            let rays = beam(BeamShape::Gaussian).rays(rings);
            let mean = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
                let all = rays
                    .iter()
                    .map(|ray| ray.weight * of(ray.place[0], ray.place[1]));
                all.sum()
            };
            let errors = [
                mean(&|x, y| (x * x + y * y).powi(2)) / 8.0 - 1.0,
                mean(&|x, y| (x * x + y * y).powi(3)) / 48.0 - 1.0,
                mean(&|x, _| (0.5 * x).exp()) - 0.125_f64.exp(),
            ];
            for (error, tolerance) in errors.iter().zip(tolerances) {
                assert!(error.abs() < tolerance, "{rings}: {errors:?}");
            }
        }
    }

    #[test]
    fn the_middle_ray_is_the_axis() {
        for rings in 0..4 {
            let rays = beam(BeamShape::Gaussian).rays(rings);
            let middle = rays[rays.len() / 2];
            assert_eq!((middle.offset, middle.slope), ([0.0; 2], [0.0; 2]));
        }
        assert_eq!(beam(BeamShape::TopHat).rays(0)[0].weight, 1.0);
    }

    #[test]
    fn both_width_conventions_describe_the_same_gaussian_beam() {
        let half_maximum = Divergence {
            horizontal: 2.354_820_045,
            vertical: 0.0,
            at: DivergenceAt::HalfMaximum,
        };
        assert!((half_maximum.sd()[0] - 1.0).abs() < 1e-9);
        assert_eq!(beam(BeamShape::Gaussian).divergence.sd()[0], 0.75e-3);
    }
}
