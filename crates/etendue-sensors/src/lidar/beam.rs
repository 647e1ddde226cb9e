//! Beam of a lidar and the rays that sample it.

use super::domain::{OutsideDomain, is_zero_or_more, value, zero_or_more};
use super::shot::Shot;
use etendue_physics::Scalar;
use etendue_physics::beam::{
    BeamFrame, BeamRay, BeamShape, BeamWidth, Divergence, DivergenceAt, SubRay, SubRayPattern,
};
use nalgebra::{Point3, Vector3, try_convert};

/// Maximum number of rings of sub-rays: 12,481 rays per shot.
const MOST_RINGS: u32 = 64;

/// The beam of every channel of a lidar.
///
/// `S` is the scalar of the divergence, which may carry derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam<S = f64> {
    /// Cross-section, with its sampling by rays.
    pub profile: BeamProfile<S>,
    /// Standard deviation of each shot's azimuth about its nominal one, rad.
    pub azimuth_jitter: f64,
}

/// Cross-section of a beam, with its sampling by rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BeamProfile<S = f64> {
    /// An elliptical beam with a width at the exit and a divergence, as in data sheets; sampled by skew rays.
    Elliptic {
        /// Shape, divergence and exit.
        width: BeamWidth<S>,
        /// Number of hexagonal rings of rays around the axis: 0, 1, 2... for 1, 7, 19... rays.
        rings: u32,
    },
    /// A cone with its apex at the origin of the shot.
    Cone {
        /// Tangent of half the divergence: radius over distance.
        half_tangent: S,
        /// Pattern of the rays on the cross-section.
        pattern: SubRayPattern,
    },
}

/// The rays of a beam, relative to its axis.
#[derive(Clone, Debug)]
pub(crate) enum BeamRays<S> {
    /// Of an elliptic beam.
    Elliptic(Vec<BeamRay<S>>),
    /// Of a cone.
    Cone {
        /// Tangent of half the divergence.
        half_tangent: S,
        /// The rays on the cross-section.
        sub_rays: Vec<SubRay>,
    },
}

impl<S> Beam<S> {
    /// An elliptic beam with `rings` hexagonal rings of rays, without jitter.
    pub fn elliptic(width: BeamWidth<S>, rings: u32) -> Self {
        Self {
            profile: BeamProfile::Elliptic { width, rings },
            azimuth_jitter: 0.0,
        }
    }

    /// A conical beam, without jitter.
    pub fn cone(half_tangent: S, pattern: SubRayPattern) -> Self {
        Self {
            profile: BeamProfile::Cone {
                half_tangent,
                pattern,
            },
            azimuth_jitter: 0.0,
        }
    }

    /// The same beam sampled by one ray along its axis.
    #[must_use]
    pub fn with_one_ray(mut self) -> Self {
        match &mut self.profile {
            BeamProfile::Elliptic { rings, .. } => *rings = 0,
            BeamProfile::Cone { pattern, .. } => *pattern = SubRayPattern::Centre,
        }
        self
    }

    /// The same beam sampled by `count` rings of rays.
    #[must_use]
    pub fn with_rings(mut self, count: u32) -> Self {
        match &mut self.profile {
            BeamProfile::Elliptic { rings, .. } => *rings = count,
            BeamProfile::Cone { pattern, .. } => *pattern = SubRayPattern::Rings { rings: count },
        }
        self
    }
}

impl Beam {
    /// The same beam in another scalar, with every differentiable parameter mapped by `f`.
    pub fn map<S>(&self, mut f: impl FnMut(f64) -> S) -> Beam<S> {
        Beam {
            profile: match self.profile {
                BeamProfile::Elliptic { width, rings } => BeamProfile::Elliptic {
                    width: width.map(f),
                    rings,
                },
                BeamProfile::Cone {
                    half_tangent,
                    pattern,
                } => BeamProfile::Cone {
                    half_tangent: f(half_tangent),
                    pattern,
                },
            },
            azimuth_jitter: self.azimuth_jitter,
        }
    }

    /// The same beam with `factor` times its divergence.
    #[must_use]
    pub fn widened(mut self, factor: f64) -> Self {
        match &mut self.profile {
            BeamProfile::Elliptic { width, .. } => {
                width.divergence.horizontal *= factor;
                width.divergence.vertical *= factor;
            }
            BeamProfile::Cone { half_tangent, .. } => *half_tangent *= factor,
        }
        self
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), OutsideDomain> {
        // Jitter, then the parameters of the cross-section.
        zero_or_more(&[("the azimuth jitter, rad,", self.azimuth_jitter)])?;
        match &self.profile {
            BeamProfile::Elliptic { width, rings } => {
                zero_or_more(&[
                    (
                        "the horizontal divergence, rad,",
                        width.divergence.horizontal,
                    ),
                    ("the vertical divergence, rad,", width.divergence.vertical),
                    ("the width of the exit, m,", width.exit.horizontal),
                    ("the height of the exit, m,", width.exit.vertical),
                ])?;
                value(
                    "the number of rings of sub-rays",
                    f64::from(*rings),
                    *rings <= MOST_RINGS,
                    "at most 64",
                )
            }
            BeamProfile::Cone { half_tangent, .. } => {
                let ok = is_zero_or_more(*half_tangent) && *half_tangent <= 1.0;
                value(
                    "the tangent of half the divergence",
                    *half_tangent,
                    ok,
                    "from 0 to 1",
                )
            }
        }
    }
}

impl<S: Scalar> Beam<S> {
    /// Shape, divergence and width at the exit; a cone is a uniform disc of zero width at the exit.
    pub fn width(&self) -> BeamWidth<S> {
        match self.profile {
            BeamProfile::Elliptic { width, .. } => width,
            BeamProfile::Cone { half_tangent, .. } => {
                let angle = half_tangent.atan() * 2.0;
                BeamWidth {
                    shape: BeamShape::TopHat,
                    divergence: Divergence {
                        horizontal: angle,
                        vertical: angle,
                        at: DivergenceAt::Edge,
                    },
                    exit: Divergence {
                        horizontal: 0.0,
                        vertical: 0.0,
                        at: DivergenceAt::Edge,
                    },
                }
            }
        }
    }

    /// Number of rays that sample a shot.
    pub fn ray_count(&self) -> usize {
        self.rays().count()
    }

    /// The rays that sample a shot.
    pub(crate) fn rays(&self) -> BeamRays<S> {
        match self.profile {
            BeamProfile::Elliptic { width, rings } => BeamRays::Elliptic(width.rays(rings)),
            BeamProfile::Cone {
                half_tangent,
                pattern,
            } => BeamRays::Cone {
                half_tangent,
                sub_rays: pattern.sub_rays(),
            },
        }
    }
}

impl<S: Scalar> BeamRays<S> {
    /// Number of rays.
    pub fn count(&self) -> usize {
        match self {
            Self::Elliptic(rays) => rays.len(),
            Self::Cone { sub_rays, .. } => sub_rays.len(),
        }
    }

    /// The rays without derivatives; `None` if they have some.
    pub fn plain(&self) -> Option<BeamRays<f64>> {
        match self {
            Self::Elliptic(rays) => {
                let plain = |ray: &BeamRay<S>| {
                    let [across, up] = ray.slope;
                    Some(BeamRay {
                        offset: ray.offset,
                        slope: [try_convert(across)?, try_convert(up)?],
                        place: ray.place,
                        weight: ray.weight,
                    })
                };
                Some(BeamRays::Elliptic(
                    rays.iter().map(plain).collect::<Option<_>>()?,
                ))
            }
            Self::Cone {
                half_tangent,
                sub_rays,
            } => Some(BeamRays::Cone {
                half_tangent: try_convert(*half_tangent)?,
                sub_rays: sub_rays.clone(),
            }),
        }
    }

    /// Share of the beam's power of a ray.
    #[inline]
    pub fn weight(&self, ray: usize) -> f64 {
        match self {
            Self::Elliptic(rays) => rays[ray].weight,
            Self::Cone { sub_rays, .. } => sub_rays[ray].weight,
        }
    }

    /// Largest distance of a ray from the axis at the exit, m, and how much it grows with the range.
    pub fn half_width(&self) -> [f64; 2] {
        let longest = |all: &mut dyn Iterator<Item = [f64; 2]>| {
            all.map(|[x, y]| x.hypot(y)).fold(0.0, f64::max)
        };
        match self {
            Self::Elliptic(rays) => {
                let slope = |ray: &BeamRay<S>| { &ray.slope }.each_ref().map(|s| s.value());
                [
                    longest(&mut rays.iter().map(|ray| ray.offset)),
                    longest(&mut rays.iter().map(slope)),
                ]
            }
            Self::Cone {
                half_tangent,
                sub_rays,
            } => {
                let place = |ray: &SubRay| [ray.left, ray.up];
                let radius = longest(&mut sub_rays.iter().map(place));
                [0.0, half_tangent.value() * radius]
            }
        }
    }

    /// Index of the ray on the axis: the middle ray of an elliptic beam. `None` for a cone, whose pattern may
    /// lack one.
    pub fn axis(&self) -> Option<usize> {
        match self {
            Self::Elliptic(rays) => Some(rays.len() / 2),
            Self::Cone { .. } => None,
        }
    }

    /// Whether the only ray is that on the axis.
    pub fn is_axis(&self) -> bool {
        match self {
            Self::Elliptic(rays) => rays.len() == 1,
            Self::Cone { sub_rays, .. } => {
                matches!(
                    sub_rays[..],
                    [SubRay {
                        left: 0.0,
                        up: 0.0,
                        ..
                    }]
                )
            }
        }
    }

    /// Appends origin (m) and unit direction of every ray of a shot, in the sensor's frame.
    pub fn aim(&self, shot: &Shot, rays: &mut Vec<(Point3<S>, Vector3<S>)>) {
        match self {
            _ if self.is_axis() => {
                rays.push((shot.origin.map(S::from), shot.direction().map(S::from)));
            }
            Self::Elliptic(own) => {
                let frame = shot.frame();
                rays.extend(own.iter().map(|ray| skew_ray(shot, &frame, ray)));
            }
            Self::Cone {
                half_tangent,
                sub_rays,
            } => {
                let frame = shot.frame();
                let origin = shot.origin.map(S::from);
                let direction = |ray: &SubRay| frame.direction(*half_tangent, ray);
                rays.extend(sub_rays.iter().map(|ray| (origin, direction(ray))));
            }
        }
    }
}

/// Origin and direction of a ray of an elliptic beam: the offset at the exit, and the axis plus the
/// slopes, normalised.
fn skew_ray<S: Scalar>(
    shot: &Shot,
    frame: &BeamFrame,
    ray: &BeamRay<S>,
) -> (Point3<S>, Vector3<S>) {
    let offset = frame.left * ray.offset[0] + frame.up * ray.offset[1];
    let origin = shot.origin + offset;
    let component = |k: usize| {
        let slope = ray.slope[0] * frame.left[k] + ray.slope[1] * frame.up[k];
        slope + frame.axis[k]
    };
    let direction = Vector3::new(component(0), component(1), component(2));
    (
        origin.map(S::from),
        direction / direction.dot(&direction).sqrt(),
    )
}
