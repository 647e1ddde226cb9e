//! Random directions after a surface, and what share of the light a surface returns.

use super::fresnel::cos_refracted;
use super::{Lobe, Material, Passage, Side};
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

/// A direction drawn for light that met a surface.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Unit direction away from the surface; z is the normal on the side that light arrived on.
    pub direction: Vector3<f64>,
    /// BSDF times cosine over the density: what the light's power is multiplied with.
    pub weight: f64,
    /// Density of the direction, 1/sr; where `is_delta`, the probability of this event.
    pub pdf: f64,
    /// Whether the direction came from a mirror-like lobe: no other direction was possible.
    pub is_delta: bool,
    /// The way on where light passed the surface; `None` where it was reflected.
    pub passage: Option<Passage<f64>>,
}

/// Where the light goes that arrives from one direction; the rest is absorbed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Albedo {
    /// Fraction reflected.
    pub reflected: f64,
    /// Fraction that passes the surface.
    pub transmitted: f64,
}

impl Albedo {
    /// Fraction reflected or passed.
    pub fn total(self) -> f64 {
        self.reflected + self.transmitted
    }
}

impl Material<f64> {
    /// Draws what happens to light that comes from `incoming` (unit, z > 0), given three uniform
    /// numbers in [0, 1). `None`: it was absorbed.
    ///
    /// The mean of `weight` over the numbers is the [`albedo`](Material::albedo).
    pub fn sample(&self, incoming: &Vector3<f64>, side: Side, uniform: [f64; 3]) -> Option<Sample> {
        let total = self.importance(incoming.z, side);
        let mut rest = uniform[0] * total;
        for lobe in &self.lobes {
            let specular = lobe.specular(incoming.z, side);
            if rest < specular.reflected {
                return Some(mirrored(incoming, specular.reflected, total));
            }
            rest -= specular.reflected;
            if let Some(transmitted) = specular.transmitted {
                if rest < transmitted.fraction {
                    return passed(incoming, transmitted.fraction, transmitted.passage, total);
                }
                rest -= transmitted.fraction;
            }
            let scattered = lobe.importance(incoming.z);
            if rest < scattered {
                let uniform = [rest / scattered, uniform[1], uniform[2]];
                let direction = lobe.sample_direction(incoming, side, uniform)?;
                return self.weigh(incoming, direction, side);
            }
            rest -= scattered;
        }
        None
    }

    /// Density with which [`Material::sample`] draws `outgoing` from the non-delta lobes, 1/sr.
    pub fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        let total = self.importance(incoming.z, side);
        if total <= 0.0 || incoming.z <= 0.0 {
            return 0.0;
        }
        let sum = |sum, lobe: &Lobe<f64>| {
            sum + lobe.importance(incoming.z) * lobe.direction_pdf(incoming, outgoing, side)
        };
        self.lobes.iter().fold(0.0, sum) / total
    }

    /// Chance that [`Material::sample`] reflects as a mirror does, and that it lets light pass
    /// without scattering, at this cosine of incidence.
    pub fn delta_chances(&self, cos_incidence: f64, side: Side) -> [f64; 2] {
        let total = self.importance(cos_incidence, side);
        if total <= 0.0 {
            return [0.0; 2];
        }
        let specular = self.specular(cos_incidence, side);
        let passed = specular.transmitted.map_or(0.0, |passed| passed.fraction);
        [specular.reflected / total, passed / total]
    }

    /// Directional albedo at this cosine of incidence: exact for mirror-like and Lambertian lobes,
    /// for the others the mean of 4096 evenly spread samples (good to about 0.001).
    pub fn albedo(&self, cos_incidence: f64, side: Side) -> Albedo {
        self.albedo_from(cos_incidence, side, 4096)
    }

    /// The part of [`Material::albedo`] that rough and diffuse lobes scatter, to either side:
    /// what light from all around gives towards one direction.
    pub fn scattered_albedo(&self, cos_incidence: f64, side: Side) -> f64 {
        let of = |lobe: &Lobe<f64>| lobe.scattered_albedo(cos_incidence, side, 4096).total();
        self.lobes.iter().map(of).sum()
    }

    pub(super) fn albedo_from(&self, cos: f64, side: Side, samples: u32) -> Albedo {
        let mut sum = Albedo::default();
        for lobe in &self.lobes {
            let specular = lobe.specular(cos, side);
            let scattered = lobe.scattered_albedo(cos, side, samples);
            sum.reflected += specular.reflected + scattered.reflected;
            sum.transmitted += specular.transmitted.map_or(0.0, |passed| passed.fraction);
            sum.transmitted += scattered.transmitted;
        }
        sum
    }

    /// Sum of all lobes' chances, not normalised.
    fn importance(&self, cos: f64, side: Side) -> f64 {
        let one = |lobe: &Lobe<f64>| {
            let specular = lobe.specular(cos, side);
            let passed = specular.transmitted.map_or(0.0, |passed| passed.fraction);
            specular.reflected + passed + lobe.importance(cos)
        };
        self.lobes.iter().map(one).sum()
    }

    fn weigh(
        &self,
        incoming: &Vector3<f64>,
        direction: Vector3<f64>,
        side: Side,
    ) -> Option<Sample> {
        let pdf = self.pdf(incoming, &direction, side);
        if pdf <= 0.0 {
            return None;
        }
        let passage = if direction.z < 0.0 {
            self.lobes
                .iter()
                .find_map(|lobe| lobe.scattered_passage(side))
        } else {
            None
        };
        Some(Sample {
            direction,
            weight: self.evaluate(incoming, &direction, side) * direction.z.abs() / pdf,
            pdf,
            is_delta: false,
            passage,
        })
    }
}

fn mirrored(incoming: &Vector3<f64>, reflected: f64, total: f64) -> Sample {
    Sample {
        direction: Vector3::new(-incoming.x, -incoming.y, incoming.z),
        weight: total,
        pdf: reflected / total,
        is_delta: true,
        passage: None,
    }
}

fn passed(
    incoming: &Vector3<f64>,
    fraction: f64,
    passage: Passage<f64>,
    total: f64,
) -> Option<Sample> {
    let direction = match passage {
        Passage::Sheet { .. } => -incoming,
        Passage::Interface { index_ratio, .. } => {
            let cos = cos_refracted(incoming.z, 1.0 / index_ratio)?;
            Vector3::new(-incoming.x * index_ratio, -incoming.y * index_ratio, -cos)
        }
    };
    Some(Sample {
        direction,
        weight: total,
        pdf: fraction / total,
        is_delta: true,
        passage: Some(passage),
    })
}

impl Lobe<f64> {
    /// About how much it scatters; zero only where it scatters nothing.
    fn importance(&self, cos: f64) -> f64 {
        match self {
            Self::Lambert { reflectance } => *reflectance,
            Self::OrenNayar(lobe) => lobe.reflectance,
            // A facet may reflect more than the mean surface does.
            Self::Microfacet(lobe) => lobe.fresnel.reflectance(cos).max(0.05),
            Self::Coated(lobe) => lobe.scattered(cos),
            Self::RoughDielectric(_) => 1.0,
            Self::Retroreflector(lobe) => lobe.reflectance,
            Self::Measured(lobe) => lobe.reflectance(cos).max(0.05),
            Self::Mirror { .. } | Self::Conductor { .. } | Self::Dielectric(_) | Self::Pane(_) => {
                0.0
            }
            Self::Part { weight, lobe } => weight * lobe.importance(cos),
        }
    }

    fn sample_direction(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        uniform: [f64; 3],
    ) -> Option<Vector3<f64>> {
        let [choice, u, v] = uniform;
        let direction = match self {
            Self::RoughDielectric(lobe) => return lobe.sample(incoming, side, uniform),
            Self::Part { lobe, .. } => return lobe.sample_direction(incoming, side, uniform),
            Self::Microfacet(lobe) => lobe.sample(incoming, [u, v]),
            Self::Coated(lobe) => match lobe.coat() {
                Some(coat) if choice < lobe.coat_chance(incoming.z) => {
                    coat.sample(incoming, [u, v])
                }
                _ => over_hemisphere([u, v]),
            },
            Self::Retroreflector(lobe) => lobe.sample(incoming, [u, v]),
            _ => over_hemisphere([u, v]),
        };
        (direction.z > 0.0).then_some(direction)
    }

    fn direction_pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        let above = outgoing.z.max(0.0) / PI;
        match self {
            Self::RoughDielectric(lobe) => lobe.pdf(incoming, outgoing, side),
            Self::Part { lobe, .. } => lobe.direction_pdf(incoming, outgoing, side),
            _ if outgoing.z <= 0.0 || !self.scatters() => 0.0,
            Self::Microfacet(lobe) => lobe.pdf(incoming, outgoing),
            Self::Coated(lobe) => {
                let chance = lobe.coat_chance(incoming.z);
                let coat = lobe.coat().map_or(0.0, |coat| coat.pdf(incoming, outgoing));
                chance * coat + (1.0 - chance) * above
            }
            Self::Retroreflector(lobe) => lobe.pdf(incoming, outgoing),
            _ => above,
        }
    }

    fn scattered_albedo(&self, cos: f64, side: Side, samples: u32) -> Albedo {
        match self {
            Self::Lambert { reflectance } => Albedo {
                reflected: *reflectance,
                transmitted: 0.0,
            },
            Self::Part { weight, lobe } => {
                let whole = lobe.scattered_albedo(cos, side, samples);
                Albedo {
                    reflected: weight * whole.reflected,
                    transmitted: weight * whole.transmitted,
                }
            }
            _ if !self.scatters() => Albedo::default(),
            _ => self.sampled_albedo(cos, side, samples),
        }
    }

    fn sampled_albedo(&self, cos: f64, side: Side, samples: u32) -> Albedo {
        let incoming = Vector3::new((1.0 - cos * cos).max(0.0).sqrt(), 0.0, cos);
        let mut sum = Albedo::default();
        for uniform in evenly_spread(samples) {
            let Some(direction) = self.sample_direction(&incoming, side, uniform) else {
                continue;
            };
            let pdf = self.direction_pdf(&incoming, &direction, side);
            if pdf <= 0.0 {
                continue;
            }
            let weight = self.evaluate(&incoming, &direction, side) * direction.z.abs() / pdf;
            if direction.z > 0.0 {
                sum.reflected += weight / f64::from(samples);
            } else {
                sum.transmitted += weight / f64::from(samples);
            }
        }
        sum
    }
}

/// A unit direction above the surface, drawn with the density $\\cos\\theta/\\pi$ (Lambert's law) by two
/// uniform numbers in [0, 1); z is the normal.
///
/// ```
/// use etendue_physics::surface::over_hemisphere;
/// assert_eq!(over_hemisphere([0.0, 0.3]).z, 1.0);
/// assert!((over_hemisphere([0.75, 0.3]).z - 0.5).abs() < 1e-15);
/// ```
pub fn over_hemisphere([u, v]: [f64; 2]) -> Vector3<f64> {
    let (radius, azimuth) = (u.sqrt(), TAU * v);
    // 1 - u is never zero, so the direction never lies in the surface.
    Vector3::new(
        radius * azimuth.cos(),
        radius * azimuth.sin(),
        (1.0 - u).sqrt(),
    )
}

/// Points of the unit cube that fill it evenly: additive recurrence with the root of
/// $x^4 = x + 1$ (Roberts 2018, "The unreasonable effectiveness of quasirandom sequences").
fn evenly_spread(count: u32) -> impl Iterator<Item = [f64; 3]> {
    const ROOT: f64 = 1.220_744_084_605_759_6;
    let steps = [1.0 / ROOT, 1.0 / (ROOT * ROOT), 1.0 / (ROOT * ROOT * ROOT)];
    (0..count).map(move |i| steps.map(|step| (0.5 + f64::from(i) * step).fract()))
}
