//! A material: the sum of its lobes.

use super::fresnel::cos_refracted;
use super::interaction::{Albedo, BsdfSample, Passage, Side, Specular};
use super::lobe::Lobe;
use super::model::{Classify, SampleLobe, Scatter};
use super::parameter::{Domain, LobeParameter, OutsideMaterial};
use super::prepared_material::PreparedMaterial;
use crate::{Scalar, Spectrum};
use nalgebra::Vector3;
use std::convert::Infallible;

/// A surface's optical behaviour at one wavelength: the sum of its lobes.
///
/// `T` is the type of a parameter: `f64` for simulation, a dual number for estimation, a
/// [`Spectrum`] where a material is stored.
///
/// ```
/// use etendue_physics::surface::{Lobe, Material, Side};
/// let paper = Material { lobes: vec![Lobe::lambert(0.8)] };
/// assert_eq!(paper.backscatter(0.5, Side::Front), 0.8 / std::f64::consts::PI);
/// assert!(paper.validate().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Material<T> {
    /// The lobes; their reflected and transmitted light adds up.
    pub lobes: Vec<Lobe<T>>,
}

impl<T> Material<T> {
    /// Applies `f` to every parameter: from a table to its value at a wavelength, from numbers
    /// to dual numbers.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Material<U> {
        match self.try_map(|_, value| Ok::<U, Infallible>(f(value))) {
            Ok(material) => material,
            Err(never) => match never {},
        }
    }

    /// Applies `f` to every parameter and its name.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(
        &self,
        mut f: impl FnMut(LobeParameter, &T) -> Result<U, E>,
    ) -> Result<Material<U>, E> {
        self.try_map_domains(|parameter, _, value| f(parameter, value))
    }

    /// Applies `f` to every parameter, its name and its domain.
    pub(super) fn try_map_domains<U, E>(
        &self,
        mut f: impl FnMut(LobeParameter, &'static Domain, &T) -> Result<U, E>,
    ) -> Result<Material<U>, E> {
        let lobes = self.lobes.iter().enumerate().map(|(index, lobe)| {
            lobe.try_map(&mut |domain, value| {
                let parameter = LobeParameter {
                    lobe: index,
                    kind: lobe.kind(),
                    name: domain.name,
                };
                f(parameter, domain, value)
            })
        });
        Ok(Material {
            lobes: lobes.collect::<Result<_, E>>()?,
        })
    }

    /// Whether [`Material::specular`] is zero at every incidence: no lobe is a mirror or a window,
    /// so a path of specular reflections and transmissions ends here.
    pub fn ends_paths(&self) -> bool {
        self.lobes.iter().all(|lobe| !lobe.class().is_specular)
    }

    /// Whether nothing is scattered: all lobes are mirror-like.
    pub fn is_delta_only(&self) -> bool {
        !self.lobes.iter().any(Lobe::scatters)
    }
}

impl Material<Spectrum> {
    /// The material at one wavelength, m.
    ///
    /// # Errors
    /// Where a parameter's data do not cover the wavelength.
    pub fn at(&self, wavelength: f64) -> Result<Material<f64>, OutsideMaterial> {
        self.try_map(|parameter, spectrum| {
            spectrum
                .at(wavelength)
                .map_err(|outside| OutsideMaterial { parameter, outside })
        })
    }
}

impl<S: Scalar> Material<S> {
    /// BRDF of all non-delta lobes back into the direction of incidence, 1/sr.
    ///
    /// `cos_incidence` in [0, 1] is the cosine between that direction and the normal. A single facet of a clear solid
    /// reflects $F_0$ from either side, several facets return more light from inside.
    pub fn backscatter(&self, cos_incidence: S, side: Side) -> S {
        Lobes(&self.lobes).backscatter(cos_incidence, side)
    }

    /// Mirror-like reflection and transmission by the delta lobes. At most one lobe transmits
    /// ([`Material::validate`]).
    pub fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        Lobes(&self.lobes).specular(cos_incidence, side)
    }

    /// Path behind the surface of light that is transmitted with scattering; `None` where no light is.
    pub fn scattered_passage(&self, side: Side) -> Option<Passage<S>> {
        Lobes(&self.lobes).scattered_passage(side)
    }

    /// BSDF of all non-delta lobes, 1/sr: scattered radiance over incident irradiance.
    ///
    /// Unit directions away from the surface in a frame whose z axis is the normal on the side
    /// that light arrives on: `incoming` points to where light comes from (z > 0), `outgoing` to
    /// where it goes (z < 0 behind the surface).
    pub fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        Lobes(&self.lobes).evaluate(incoming, outgoing, side)
    }

    /// The material with the coefficients of its equations, for many evaluations.
    pub fn prepared(self) -> PreparedMaterial<S> {
        PreparedMaterial::new(self)
    }
}

impl Material<f64> {
    /// Draws a scattered direction for light from `incoming` (unit, z > 0), given three uniform
    /// numbers in [0, 1). `None`: the light was absorbed.
    ///
    /// The mean of `weight` over the numbers is the [`albedo`](Material::albedo).
    pub fn sample(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        uniform: [f64; 3],
    ) -> Option<BsdfSample> {
        Lobes(&self.lobes).sample(incoming, side, uniform)
    }

    /// Density with which [`Material::sample`] draws `outgoing` from the non-delta lobes, 1/sr.
    pub fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        Lobes(&self.lobes).pdf(incoming, outgoing, side)
    }

    /// Probabilities that [`Material::sample`] reflects as a mirror and that it transmits without
    /// scattering, at this cosine of incidence.
    pub fn delta_chances(&self, cos_incidence: f64, side: Side) -> [f64; 2] {
        Lobes(&self.lobes).delta_chances(cos_incidence, side)
    }

    /// Directional albedo at this cosine of incidence: exact for mirror-like and Lambertian lobes,
    /// for the others the mean of 4096 evenly spread samples (good to about 0.001).
    pub fn albedo(&self, cos_incidence: f64, side: Side) -> Albedo {
        self.albedo_from(cos_incidence, side, 4096)
    }

    /// The part of [`Material::albedo`] that rough and diffuse lobes scatter, to either side; by
    /// reciprocity, the radiance towards one direction under uniform illumination of radiance 1.
    pub fn scattered_albedo(&self, cos_incidence: f64, side: Side) -> f64 {
        let of = |lobe: &Lobe<f64>| lobe.scattered_albedo(cos_incidence, side, 4096).total();
        self.lobes.iter().map(of).sum()
    }

    /// [`Material::albedo`] from a number of samples per lobe.
    pub(super) fn albedo_from(&self, cos: f64, side: Side, samples: u32) -> Albedo {
        let mut sum = Albedo::default();
        for lobe in &self.lobes {
            let specular = lobe.specular(cos, side);
            let scattered = lobe.scattered_albedo(cos, side, samples);
            sum.reflected += specular.reflected + scattered.reflected;
            sum.transmitted += specular.transmitted_fraction();
            sum.transmitted += scattered.transmitted;
        }
        sum
    }

    /// The same material with its diffuse reflectance multiplied by `factor` in [0, 1], as a
    /// texture does. Gloss, metal and glass are unchanged.
    ///
    /// ```
    /// use etendue_physics::surface::{Lobe, Material};
    /// let paper = Material { lobes: vec![Lobe::lambert(0.8)] };
    /// let grey = Material { lobes: vec![Lobe::lambert(0.4)] };
    /// assert_eq!(paper.tinted(0.5), grey);
    /// ```
    #[must_use]
    pub fn tinted(&self, factor: f64) -> Self {
        let mut tinted = self.clone();
        for lobe in &mut tinted.lobes {
            lobe.tint(factor);
        }
        tinted
    }
}

/// Lobes whose light adds up.
pub(super) struct Lobes<'m, L>(pub &'m [L]);

impl<L> Lobes<'_, L> {
    /// As [`Material::backscatter`].
    pub fn backscatter<S: Scalar>(&self, cos_incidence: S, side: Side) -> S
    where
        L: Scatter<S>,
    {
        self.0.iter().fold(S::zero(), |sum, lobe| {
            sum + lobe.backscatter(cos_incidence, side)
        })
    }

    /// As [`Material::specular`].
    pub fn specular<S: Scalar>(&self, cos_incidence: S, side: Side) -> Specular<S>
    where
        L: Scatter<S>,
    {
        let nothing = Specular::reflection(S::zero());
        self.0.iter().fold(nothing, |sum, lobe| {
            let lobe = lobe.specular(cos_incidence, side);
            Specular {
                reflected: sum.reflected + lobe.reflected,
                transmitted: sum.transmitted.or(lobe.transmitted),
            }
        })
    }

    /// As [`Material::scattered_passage`].
    pub fn scattered_passage<S: Scalar>(&self, side: Side) -> Option<Passage<S>>
    where
        L: Scatter<S>,
    {
        (self.0.iter()).find_map(|lobe| lobe.scattered_passage(side))
    }

    /// As [`Material::evaluate`].
    pub fn evaluate<S: Scalar>(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S
    where
        L: Scatter<S>,
    {
        if incoming.z.value() <= 0.0 || outgoing.z.value() == 0.0 {
            return S::zero();
        }
        self.0.iter().fold(S::zero(), |sum, lobe| {
            sum + lobe.evaluate(incoming, outgoing, side)
        })
    }
}

impl<L: SampleLobe> Lobes<'_, L> {
    /// As [`Material::sample`].
    pub fn sample(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        uniform: [f64; 3],
    ) -> Option<BsdfSample> {
        let total = self.importance(incoming.z, side);
        let mut rest = uniform[0] * total;
        for lobe in self.0 {
            // Reflect as a mirror.
            let specular = lobe.specular(incoming.z, side);
            if rest < specular.reflected {
                return Some(sample_mirror(incoming, specular.reflected, total));
            }
            rest -= specular.reflected;

            // Transmit without scattering.
            if let Some(transmitted) = specular.transmitted {
                if rest < transmitted.fraction {
                    return sample_transmission(
                        incoming,
                        transmitted.fraction,
                        transmitted.passage,
                        total,
                    );
                }
                rest -= transmitted.fraction;
            }

            // Scatter.
            let scattered = lobe.importance(incoming.z);
            if rest < scattered {
                let uniform = [rest / scattered, uniform[1], uniform[2]];
                let direction = lobe.sample(incoming, side, uniform)?;
                return self.sample_towards(incoming, direction, side);
            }
            rest -= scattered;
        }
        None
    }

    /// As [`Material::pdf`].
    pub fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        let total = self.importance(incoming.z, side);
        if total <= 0.0 || incoming.z <= 0.0 {
            return 0.0;
        }
        let sum =
            |sum, lobe: &L| sum + lobe.importance(incoming.z) * lobe.pdf(incoming, outgoing, side);
        self.0.iter().fold(0.0, sum) / total
    }

    /// As [`Material::delta_chances`].
    pub fn delta_chances(&self, cos_incidence: f64, side: Side) -> [f64; 2] {
        let total = self.importance(cos_incidence, side);
        if total <= 0.0 {
            return [0.0; 2];
        }
        let specular = self.specular(cos_incidence, side);
        [
            specular.reflected / total,
            specular.transmitted_fraction() / total,
        ]
    }

    /// Sum of all lobes' probabilities, not normalised.
    fn importance(&self, cos: f64, side: Side) -> f64 {
        let one = |lobe: &L| {
            let specular = lobe.specular(cos, side);
            specular.reflected + specular.transmitted_fraction() + lobe.importance(cos)
        };
        self.0.iter().map(one).sum()
    }

    /// The sample of a direction drawn from any of the lobes, weighted with the density of all.
    fn sample_towards(
        &self,
        incoming: &Vector3<f64>,
        direction: Vector3<f64>,
        side: Side,
    ) -> Option<BsdfSample> {
        let pdf = self.pdf(incoming, &direction, side);
        if pdf <= 0.0 {
            return None;
        }
        let is_behind = direction.z < 0.0;
        let passage = self.scattered_passage(side).filter(|_| is_behind);
        Some(BsdfSample {
            direction,
            weight: self.evaluate(incoming, &direction, side) * direction.z.abs() / pdf,
            pdf,
            is_delta: false,
            passage,
        })
    }
}

/// Mirror reflection of a fraction of the `total` importance.
fn sample_mirror(incoming: &Vector3<f64>, reflected: f64, total: f64) -> BsdfSample {
    BsdfSample {
        direction: Vector3::new(-incoming.x, -incoming.y, incoming.z),
        weight: total,
        pdf: reflected / total,
        is_delta: true,
        passage: None,
    }
}

/// Transmission without scattering of a fraction of the `total` importance.
fn sample_transmission(
    incoming: &Vector3<f64>,
    fraction: f64,
    passage: Passage<f64>,
    total: f64,
) -> Option<BsdfSample> {
    let direction = match passage {
        Passage::Sheet { .. } => -incoming,
        Passage::Interface { index_ratio, .. } => {
            let cos = cos_refracted(incoming.z, 1.0 / index_ratio)?;
            Vector3::new(-incoming.x * index_ratio, -incoming.y * index_ratio, -cos)
        }
    };
    Some(BsdfSample {
        direction,
        weight: total,
        pdf: fraction / total,
        is_delta: true,
        passage: Some(passage),
    })
}
