//! The beam of a lidar and the rays that sample it.

use etendue_physics::beam::{
    BeamRay, BeamShape, BeamWidth, Divergence, DivergenceAt, SubRay, SubRayPattern,
};

/// Beam of a lidar: how its power is spread over its cross-section, and the rays that sample it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beam<S = f64> {
    /// Elliptical beam with the widths of a data sheet: it has a width where it leaves the device and
    /// diverges, sampled by a bundle of skew rays.
    Elliptical {
        /// Profile, divergence and exit width.
        width: BeamWidth,
        /// Hexagonal rings of rays around the axis: 0, 1, 2... for 1, 7, 19... rays.
        rings: u32,
    },
    /// Circular cone whose apex is the exit.
    Cone {
        /// Tangent of half the divergence: radius over distance.
        half_tangent: S,
        /// Positions and weights of the rays on the cross-section.
        pattern: SubRayPattern,
    },
}

impl<S: Copy> Beam<S> {
    /// The same beam with every differentiable number replaced by `f` of it.
    pub fn map<U>(&self, mut f: impl FnMut(S) -> U) -> Beam<U> {
        match *self {
            Self::Elliptical { width, rings } => Beam::Elliptical { width, rings },
            Self::Cone {
                half_tangent,
                pattern,
            } => Beam::Cone {
                half_tangent: f(half_tangent),
                pattern,
            },
        }
    }
}

impl Beam {
    /// Rays of the beam; their weights sum to 1.
    pub fn rays(&self) -> Vec<BeamRay> {
        match *self {
            Self::Elliptical { width, rings } => width.rays(rings),
            Self::Cone {
                half_tangent,
                pattern,
            } => {
                let ray = |SubRay { left, up, weight }| BeamRay {
                    offset: [0.0; 2],
                    slope: [half_tangent * left, half_tangent * up],
                    place: [left, up],
                    weight,
                };
                pattern.sub_rays().into_iter().map(ray).collect()
            }
        }
    }

    /// Profile, divergence and exit width: those of a cone are a uniform disc that starts as a point.
    pub fn width(&self) -> BeamWidth {
        match *self {
            Self::Elliptical { width, .. } => width,
            Self::Cone { half_tangent, .. } => {
                let round = |width| Divergence {
                    horizontal: width,
                    vertical: width,
                    at: DivergenceAt::Edge,
                };
                BeamWidth {
                    shape: BeamShape::TopHat,
                    divergence: round(2.0 * half_tangent),
                    exit: round(0.0),
                }
            }
        }
    }

    /// Rings of rays around the axis.
    pub fn rings(&self) -> u32 {
        match *self {
            Self::Elliptical { rings, .. } => rings,
            Self::Cone { pattern, .. } => match pattern {
                SubRayPattern::Rings { rings } | SubRayPattern::Gaussian { rings } => rings,
                SubRayPattern::Three { .. } => 1,
                _ => 0,
            },
        }
    }

    /// The same beam sampled by that many rings of rays around the axis; 0 for the axis alone.
    #[must_use]
    pub fn with_rings(self, rings: u32) -> Self {
        match self {
            Self::Elliptical { width, .. } => Self::Elliptical { width, rings },
            Self::Cone { half_tangent, .. } => Self::Cone {
                half_tangent,
                pattern: match rings {
                    0 => SubRayPattern::Centre,
                    rings => SubRayPattern::Rings { rings },
                },
            },
        }
    }

    /// Profile, divergence and exit width of an elliptical beam, to be changed; none of a cone.
    pub fn width_mut(&mut self) -> Option<&mut BeamWidth> {
        match self {
            Self::Elliptical { width, .. } => Some(width),
            Self::Cone { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A uniform disc of radius $hd$ has the standard deviation $hd/2$ along each axis.
    #[test]
    fn rays_of_a_cone_have_the_moments_of_its_width() {
        let cone = Beam::Cone {
            half_tangent: 0.005,
            pattern: SubRayPattern::THREE,
        };
        let rays = cone.rays();
        let weight: f64 = rays.iter().map(|ray| ray.weight).sum();
        let moment: f64 = rays
            .iter()
            .map(|ray| ray.weight * ray.slope[0].powi(2))
            .sum();
        assert!((weight - 1.0).abs() < 1e-15);
        assert!((moment.sqrt() - cone.width().angular_sd(1.0)[0]).abs() < 1e-15);
    }
}
