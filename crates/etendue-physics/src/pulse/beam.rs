//! How a beam's power is spread over its cross-section, and how wide it is at a distance.

use super::shape::GAUSSIAN_FWHM_OVER_SD;

/// How the power is spread over the cross-section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamShape {
    /// Gaussian, elliptical.
    Gaussian,
    /// Uniform within an ellipse.
    TopHat,
}

/// Where on the profile a divergence or a diameter is measured: data sheets differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivergenceAt {
    /// Full angle at half of the peak.
    HalfMaximum,
    /// Full angle at $1/e^2$ of the peak.
    InverseESquared,
    /// Full angle of the edge of a top-hat.
    Edge,
}

/// A beam's full angle or diameter in its two principal directions, in one measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divergence {
    /// Full width across (along the azimuth), rad or m.
    pub horizontal: f64,
    /// Full width upright (along the elevation), rad or m.
    pub vertical: f64,
    /// Where it is measured.
    pub at: DivergenceAt,
}

/// A beam: its profile, its full angle and its width where it leaves the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamWidth {
    /// The profile.
    pub shape: BeamShape,
    /// Full divergence angles, rad.
    pub divergence: Divergence,
    /// Full widths at the exit, m.
    pub exit: Divergence,
}

/// A sub-ray on a beam's cross-section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubRayWeight {
    /// Angle from the axis across, rad.
    pub horizontal: f64,
    /// Angle from the axis upright, rad.
    pub vertical: f64,
    /// Share of the beam's power: the shares add up to one.
    pub weight: f64,
}

impl Divergence {
    /// Standard deviations of the power in the two directions, in the unit of the widths.
    ///
    /// A Gaussian: FWHM / 2.3548, or the $1/e^2$ full width / 4. A uniform ellipse: full
    /// width / 4.
    pub fn sd(&self) -> [f64; 2] {
        let over_sd = match self.at {
            DivergenceAt::HalfMaximum => GAUSSIAN_FWHM_OVER_SD,
            DivergenceAt::InverseESquared | DivergenceAt::Edge => 4.0,
        };
        [self.horizontal / over_sd, self.vertical / over_sd]
    }
}

impl BeamWidth {
    /// Standard deviations of the power over the angle as seen from the device at `distance`
    /// (m), rad: divergence and exit width add in squares.
    ///
    /// ```
    /// use etendue_physics::pulse::{BeamShape, BeamWidth, Divergence, DivergenceAt};
    /// let round = |width| Divergence { horizontal: width, vertical: width, at: DivergenceAt::HalfMaximum };
    /// let beam = BeamWidth {
    ///     shape: BeamShape::Gaussian,
    ///     divergence: round(0.35_f64.to_radians()),
    ///     exit: round(5e-3),
    /// };
    /// assert!((beam.angular_sd(2.0)[0] - 2.802943e-3).abs() < 1e-9);
    /// ```
    pub fn angular_sd(&self, distance: f64) -> [f64; 2] {
        let (angle, exit) = (self.divergence.sd(), self.exit.sd());
        [0, 1].map(|axis| angle[axis].hypot(exit[axis] / distance))
    }

    /// Area of the cross-section at `distance`, m²: where the power is spread over an ellipse
    /// of twice the standard deviations.
    pub fn area(&self, distance: f64) -> f64 {
        let [horizontal, vertical] = self.angular_sd(distance).map(|sd| 2.0 * sd * distance);
        std::f64::consts::PI * horizontal * vertical
    }

    /// Sub-rays of equal spacing over the profile, `rings` around the axis: 1, 7, 19, 37...
    /// sub-rays on a hexagonal grid, stretched to the ellipse, weighted by the profile so that
    /// the sampled second moments are those of the beam at `distance`.
    pub fn sub_rays(&self, rings: u32, distance: f64) -> Vec<SubRayWeight> {
        let sd = self.angular_sd(distance);
        let grid = hexagonal(rings);
        let raw: Vec<f64> = grid.iter().map(|p| self.profile(p, rings)).collect();
        let total: f64 = raw.iter().sum();
        let second = |axis: usize| {
            let moment = grid.iter().zip(&raw).map(|(p, w)| w * p[axis] * p[axis]);
            moment.sum::<f64>() / total
        };
        let stretch = [0, 1].map(|axis| match second(axis) {
            moment if moment > 0.0 => sd[axis] / moment.sqrt(),
            _ => 0.0,
        });
        let place = |(p, w): (&[f64; 2], &f64)| SubRayWeight {
            horizontal: p[0] * stretch[0],
            vertical: p[1] * stretch[1],
            weight: w / total,
        };
        grid.iter().zip(&raw).map(place).collect()
    }

    /// Profile at a grid point of the pattern whose outermost ring has radius `rings`, which
    /// stands at two standard deviations of a Gaussian.
    fn profile(&self, point: &[f64; 2], rings: u32) -> f64 {
        match self.shape {
            BeamShape::TopHat => 1.0,
            BeamShape::Gaussian => {
                let radius = 2.0 * point[0].hypot(point[1]) / f64::from(rings.max(1));
                (-0.5 * radius * radius).exp()
            }
        }
    }
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
    fn the_weights_of_the_sub_rays_sum_to_one_and_their_moments_are_the_beams() {
        for shape in [BeamShape::Gaussian, BeamShape::TopHat] {
            for (rings, count) in [(1, 7), (2, 19), (3, 37)] {
                let rays = beam(shape).sub_rays(rings, 12.0);
                assert_eq!(rays.len(), count);
                let weight: f64 = rays.iter().map(|r| r.weight).sum();
                assert!((weight - 1.0).abs() < 1e-12);
                let sd = beam(shape).angular_sd(12.0);
                let across: f64 = rays.iter().map(|r| r.weight * r.horizontal.powi(2)).sum();
                let upright: f64 = rays.iter().map(|r| r.weight * r.vertical.powi(2)).sum();
                assert!((across.sqrt() / sd[0] - 1.0).abs() < 1e-12);
                assert!((upright.sqrt() / sd[1] - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn one_sub_ray_is_the_axis() {
        let rays = beam(BeamShape::Gaussian).sub_rays(0, 5.0);
        assert_eq!(rays.len(), 1);
        assert_eq!(
            (rays[0].horizontal, rays[0].vertical, rays[0].weight),
            (0.0, 0.0, 1.0)
        );
    }

    #[test]
    fn the_same_gaussian_beam_has_two_names() {
        let half_maximum = Divergence {
            horizontal: 2.354_820_045,
            vertical: 0.0,
            at: DivergenceAt::HalfMaximum,
        };
        assert!((half_maximum.sd()[0] - 1.0).abs() < 1e-9);
        assert_eq!(beam(BeamShape::Gaussian).divergence.sd()[0], 0.75e-3);
    }
}
