//! A material with the coefficients of its equations.

use super::interaction::{BsdfSample, Passage, Side, Specular};
use super::lobe::PreparedLobe;
use super::material::{Lobes, Material};
use crate::Scalar;
use nalgebra::Vector3;

/// A [`Material`] with the coefficients of its equations that do not depend on directions, for many evaluations: those of
/// the light that several facets scatter depend on roughness and refractive index only. It has the results of the material.
///
/// ```
/// use etendue_physics::surface::{Dielectric, Lobe, Material, RoughDielectric, Shadowing, Side};
/// let frosted = Material {
///     lobes: vec![Lobe::RoughDielectric(RoughDielectric {
///         medium: Dielectric { index: 1.5, group_index: 1.52, absorption: 0.0 },
///         roughness: 0.5,
///         shadowing: Shadowing::SmithCorrelated,
///     })],
/// };
/// let prepared = frosted.clone().prepared();
/// assert_eq!(prepared.backscatter(0.7, Side::Back), frosted.backscatter(0.7, Side::Back));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedMaterial<S> {
    material: Material<S>,
    lobes: Vec<PreparedLobe<S>>,
}

impl<S: Scalar> PreparedMaterial<S> {
    /// Evaluates the coefficients of a material.
    pub(super) fn new(material: Material<S>) -> Self {
        Self {
            lobes: material.lobes.iter().map(PreparedLobe::new).collect(),
            material,
        }
    }

    /// The material.
    pub fn material(&self) -> &Material<S> {
        &self.material
    }

    /// As [`Material::backscatter`].
    pub fn backscatter(&self, cos_incidence: S, side: Side) -> S {
        Lobes(&self.lobes).backscatter(cos_incidence, side)
    }

    /// As [`Material::specular`].
    pub fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        Lobes(&self.lobes).specular(cos_incidence, side)
    }

    /// As [`Material::scattered_passage`].
    pub fn scattered_passage(&self, side: Side) -> Option<Passage<S>> {
        Lobes(&self.lobes).scattered_passage(side)
    }

    /// As [`Material::evaluate`].
    pub fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        Lobes(&self.lobes).evaluate(incoming, outgoing, side)
    }
}

impl<S> PreparedMaterial<S> {
    /// As [`Material::ends_paths`].
    pub fn ends_paths(&self) -> bool {
        self.material.ends_paths()
    }

    /// As [`Material::is_delta_only`].
    pub fn is_delta_only(&self) -> bool {
        self.material.is_delta_only()
    }
}

impl PreparedMaterial<f64> {
    /// As [`Material::sample`].
    pub fn sample(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        uniform: [f64; 3],
    ) -> Option<BsdfSample> {
        Lobes(&self.lobes).sample(incoming, side, uniform)
    }

    /// As [`Material::pdf`].
    pub fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        Lobes(&self.lobes).pdf(incoming, outgoing, side)
    }

    /// As [`Material::delta_chances`].
    pub fn delta_chances(&self, cos_incidence: f64, side: Side) -> [f64; 2] {
        Lobes(&self.lobes).delta_chances(cos_incidence, side)
    }

    /// As [`Material::tinted`].
    #[must_use]
    pub fn tinted(&self, factor: f64) -> Self {
        let mut tinted = self.clone();
        tinted.material = self.material.tinted(factor);
        for lobe in &mut tinted.lobes {
            lobe.tint(factor);
        }
        tinted
    }
}
