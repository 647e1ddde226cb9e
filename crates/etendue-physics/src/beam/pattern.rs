//! Sub-ray positions on the cross-section of a beam.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, TAU};

/// Radius, in beam radii, to which a Gaussian beam is sampled: 98.9 % of its power.
const GAUSSIAN_EXTENT: f64 = 1.5;

/// One ray of a beam. Positions are in beam radii: 1 is the edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubRay {
    /// To the left of the axis.
    pub left: f64,
    /// Above the axis.
    pub up: f64,
    /// Fraction of the beam's power; the weights of a pattern sum to 1.
    pub weight: f64,
}

/// Pattern of the rays that sample a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SubRayPattern {
    /// One ray along the axis.
    Centre,
    /// Three equal rays 120 degrees apart, one of them up (Heiden et al. 2019, fig. 5 II).
    Three {
        /// Distance from the axis in beam radii; see [`SubRayPattern::THREE`] and
        /// [`SubRayPattern::THREE_AT_EDGE`].
        radius: f64,
    },
    /// One ray on the axis and `rings` rings of 6, 12, 18... rays; each ray represents the same
    /// area of a uniformly illuminated disc.
    Rings {
        /// Number of rings.
        rings: u32,
    },
    /// The positions of `Rings` over 1.5 beam radii, weighted by the irradiance $e^{-2r^2}$ of a
    /// Gaussian beam; the beam radius is that at $e^{-2}$ of the peak.
    Gaussian {
        /// Number of rings.
        rings: u32,
    },
}

impl SubRayPattern {
    /// Three rays at the disc's root-mean-square radius, $1/\sqrt2$.
    pub const THREE: Self = Self::Three {
        radius: FRAC_1_SQRT_2,
    };
    /// Three rays on the beam's edge.
    pub const THREE_AT_EDGE: Self = Self::Three { radius: 1.0 };

    /// The rays of the pattern; weights sum to 1.
    ///
    /// ```
    /// use etendue_physics::beam::SubRayPattern;
    /// let rays = SubRayPattern::Rings { rings: 2 }.sub_rays();
    /// assert_eq!(rays.len(), 1 + 6 + 12);
    /// assert!((rays.iter().map(|ray| ray.weight).sum::<f64>() - 1.0).abs() < 1e-15);
    /// ```
    pub fn sub_rays(&self) -> Vec<SubRay> {
        match *self {
            Self::Centre => vec![polar(0.0, 0.0)],
            Self::Three { radius } => normalised(ring(3, radius).collect()),
            Self::Rings { rings } => normalised(disc(rings, 1.0)),
            Self::Gaussian { rings } => {
                let mut rays = disc(rings, GAUSSIAN_EXTENT);
                for ray in &mut rays {
                    ray.weight = (-2.0 * (ray.left * ray.left + ray.up * ray.up)).exp();
                }
                normalised(rays)
            }
        }
    }
}

fn polar(radius: f64, angle: f64) -> SubRay {
    SubRay {
        left: radius * angle.cos(),
        up: radius * angle.sin(),
        weight: 1.0,
    }
}

/// Evenly spaced rays, the first straight up.
fn ring(count: u32, radius: f64) -> impl Iterator<Item = SubRay> {
    (0..count).map(move |i| polar(radius, FRAC_PI_2 + TAU * f64::from(i) / f64::from(count)))
}

/// Rays of equal area: ring `i` of `6 i` rays lies at the root-mean-square radius of its annulus.
fn disc(rings: u32, extent: f64) -> Vec<SubRay> {
    let within = |ring: u32| f64::from(1 + 3 * ring * (ring + 1));
    let mut rays = vec![polar(0.0, 0.0)];
    for i in 1..=rings {
        let mean_square = (within(i - 1) + within(i)) / (2.0 * within(rings));
        rays.extend(ring(6 * i, extent * mean_square.sqrt()));
    }
    rays
}

fn normalised(mut rays: Vec<SubRay>) -> Vec<SubRay> {
    let total: f64 = rays.iter().map(|ray| ray.weight).sum();
    for ray in &mut rays {
        ray.weight /= total;
    }
    rays
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERNS: [SubRayPattern; 6] = [
        SubRayPattern::Centre,
        SubRayPattern::THREE,
        SubRayPattern::THREE_AT_EDGE,
        SubRayPattern::Rings { rings: 1 },
        SubRayPattern::Rings { rings: 3 },
        SubRayPattern::Gaussian { rings: 4 },
    ];

    fn mean(pattern: SubRayPattern, of: impl Fn(&SubRay) -> f64) -> f64 {
        let rays = pattern.sub_rays();
        rays.iter().map(|ray| ray.weight * of(ray)).sum()
    }

    #[test]
    fn weights_sum_to_one_with_zero_mean_direction() {
        for pattern in PATTERNS {
            assert!((mean(pattern, |_| 1.0) - 1.0).abs() < 1e-14, "{pattern:?}");
            assert!(mean(pattern, |r| r.left).abs() < 1e-14, "{pattern:?}");
            assert!(mean(pattern, |r| r.up).abs() < 1e-14, "{pattern:?}");
        }
    }

    /// A uniform disc's mean square radius is 1/2; a disc of n rays in rings lacks 1/(2 n^2), the
    /// spread within the middle ray's own area.
    #[test]
    fn rings_have_the_variance_of_a_uniform_disc() {
        let square = |ray: &SubRay| ray.left * ray.left + ray.up * ray.up;
        assert!((mean(SubRayPattern::THREE, square) - 0.5).abs() < 1e-15);
        for rings in [1, 2, 5] {
            let n = f64::from(1 + 3 * rings * (rings + 1));
            let spread = mean(SubRayPattern::Rings { rings }, square);
            assert!((spread - 0.5 + 0.5 / (n * n)).abs() < 1e-14);
        }
    }

    /// Truncated at 1.5 radii, $\int r^2 e^{-2r^2}$ gives 0.4747 (not truncated: 0.5); 12 rings
    /// give 0.4774.
    #[test]
    fn the_gaussian_disc_has_the_variance_of_a_gaussian() {
        let square = |ray: &SubRay| ray.left * ray.left + ray.up * ray.up;
        let spread = mean(SubRayPattern::Gaussian { rings: 12 }, square);
        assert!((spread - 0.4747).abs() < 4e-3, "{spread}");
    }
}
