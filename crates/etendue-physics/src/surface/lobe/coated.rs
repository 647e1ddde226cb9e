//! A diffuse base under a clear coat: paint, varnished wood, plastic.

use super::microfacet::{Fresnel, Microfacet, PreparedMicrofacet};
use super::oren_nayar::OrenNayar;
use crate::Scalar;
use crate::surface::fresnel;
use crate::surface::ggx::{ROUGHNESS, Shadowing};
use crate::surface::interaction::{Side, Specular};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter};
use crate::surface::sampling::cosine_hemisphere_pdf;
use nalgebra::Vector3;

/// Refractive index of a coat, or of a medium with rough facets.
pub(super) const INDEX: Domain = Domain {
    name: "index",
    least: 1.05,
    most: 10.0,
    remedy: "a coat or a facet of air does not reflect",
};

/// A diffuse base under a clear coat.
///
/// The coat reflects $F$; light that it transmits on the way in and on the way out is scattered by
/// the base: $f = f_\text{coat} + f_\text{base}\frac{(1-F(\theta_i))(1-F(\theta_o))}{1-\bar F}$
/// (the coupling of Kelemen and Szirmay-Kalos 2001, "A microfacet based coupled specular-matte
/// BRDF model with importance sampling", with the Fresnel factor of the mean surface). With
/// $\bar F$ the coat's reflectance for diffuse light ([`fresnel::diffuse_reflectance`]) a base of
/// reflectance $\rho$ returns exactly $\rho(1-F(\theta_i))$: reciprocal, and never more than
/// arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coated<T> {
    /// The base.
    pub base: OrenNayar<T>,
    /// Refractive index of the coat.
    pub index: T,
    /// Roughness of the coat in [0.01, 1]; `None` for a smooth, mirror-like coat.
    pub roughness: Option<T>,
    /// Masking-shadowing function of the coat.
    pub shadowing: Shadowing,
}

impl<T> Coated<T> {
    pub(super) fn try_map<U, E>(&self, f: &mut MapParameter<'_, T, U, E>) -> Result<Coated<U>, E> {
        Ok(Coated {
            base: self.base.try_map(f)?,
            index: f(&INDEX, &self.index)?,
            roughness: self
                .roughness
                .as_ref()
                .map(|roughness| f(&ROUGHNESS, roughness))
                .transpose()?,
            shadowing: self.shadowing,
        })
    }
}

impl<S: Scalar> Coated<S> {
    /// The rough coat as a lobe of its own; `None` for a smooth coat.
    pub fn coat(&self) -> Option<Microfacet<S>> {
        self.roughness.map(|roughness| Microfacet {
            roughness,
            fresnel: Fresnel::Dielectric { index: self.index },
            shadowing: self.shadowing,
        })
    }

    /// Transmittance $1 - F$ of the coat at a cosine of incidence.
    fn transmittance(&self, cos: S) -> S {
        -fresnel::dielectric(cos, self.index).mean() + 1.0
    }

    /// The lobe with its coefficients.
    pub(in crate::surface) fn prepared(&self) -> PreparedCoated<S> {
        PreparedCoated {
            layers: *self,
            coat: self.coat().map(|coat| coat.prepared()),
            diffuse_transmittance: -fresnel::diffuse_reflectance(self.index) + 1.0,
        }
    }

    /// Multiplies the reflectance of the base by a factor in [0, 1].
    pub(super) fn tint(&mut self, factor: S) {
        self.base.tint(factor);
    }
}

/// A coated base with the coefficients of its coat, which depend on index and roughness only.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::surface) struct PreparedCoated<T> {
    layers: Coated<T>,
    /// The rough coat; `None` for a smooth one.
    coat: Option<PreparedMicrofacet<T>>,
    /// Transmittance $1 - \bar F$ of the coat for diffuse light.
    diffuse_transmittance: T,
}

impl<S: Scalar> PreparedCoated<S> {
    /// Factor of the base's BRDF, $\frac{(1-F(\theta_i))(1-F(\theta_o))}{1-\bar F}$.
    fn coupling(&self, cos_in: S, cos_out: S) -> S {
        self.layers.transmittance(cos_in) * self.layers.transmittance(cos_out)
            / self.diffuse_transmittance
    }

    /// As [`Coated::tint`].
    pub(super) fn tint(&mut self, factor: S) {
        self.layers.tint(factor);
    }
}

impl<T> Classify for PreparedCoated<T> {
    fn class(&self) -> LobeClass {
        self.layers.class()
    }
}

impl<T> Classify for Coated<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "coated",
            scatters: true,
            is_specular: true,
            transmits: false,
        }
    }
}

impl<S: Scalar> Scatter<S> for PreparedCoated<S> {
    fn backscatter(&self, cos_incidence: S, side: Side) -> S {
        let coat = self
            .coat
            .as_ref()
            .map_or(S::zero(), |coat| coat.backscatter(cos_incidence, side));
        self.layers.base.backscatter(cos_incidence, side)
            * self.coupling(cos_incidence, cos_incidence)
            + coat
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        let coat = self
            .coat
            .as_ref()
            .map_or(S::zero(), |coat| coat.evaluate(incoming, outgoing, side));
        self.layers.base.evaluate(incoming, outgoing, side) * self.coupling(incoming.z, outgoing.z)
            + coat
    }

    /// Reflection by a smooth coat.
    fn specular(&self, cos_incidence: S, _side: Side) -> Specular<S> {
        Specular::reflection(match self.layers.roughness {
            None => fresnel::dielectric(cos_incidence, self.layers.index).mean(),
            Some(_) => S::zero(),
        })
    }
}

impl SampleLobe for PreparedCoated<f64> {
    fn importance(&self, cos_incidence: f64) -> f64 {
        self.layers.importance(cos_incidence)
    }

    /// A direction scattered by the coat or by the base, chosen by the first uniform number.
    fn sample(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        uniform: [f64; 3],
    ) -> Option<Vector3<f64>> {
        let [choice, u, v] = uniform;
        let chance = self.layers.coat_chance(incoming.z);
        match self.coat.as_ref() {
            Some(coat) if choice < chance => coat.sample(incoming, side, [choice / chance, u, v]),
            _ => self.layers.base.sample(incoming, side, uniform),
        }
    }

    fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        let chance = self.layers.coat_chance(incoming.z);
        let coat = self
            .coat
            .as_ref()
            .map_or(0.0, |coat| coat.pdf(incoming, outgoing, side));
        chance * coat + (1.0 - chance) * cosine_hemisphere_pdf(outgoing.z)
    }
}

impl Coated<f64> {
    /// As [`SampleLobe::importance`].
    fn importance(&self, cos_incidence: f64) -> f64 {
        self.base.reflectance * self.transmittance(cos_incidence) + self.coat_share(cos_incidence)
    }

    /// Fraction scattered by a rough coat.
    fn coat_share(&self, cos: f64) -> f64 {
        match self.roughness {
            Some(_) => 1.0 - self.transmittance(cos),
            None => 0.0,
        }
    }

    /// Probability that a direction is drawn from the coat rather than from the base.
    fn coat_chance(&self, cos: f64) -> f64 {
        let coat = self.coat_share(cos);
        if coat == 0.0 {
            return 0.0;
        }
        (coat / self.importance(cos)).clamp(0.1, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::lobe::conformance::{
        INCIDENCES_DEG, assert_lobe_conforms, cos_degrees, material,
    };
    use crate::surface::{Lobe, OrenNayarForm};

    fn coated(base: OrenNayar<f64>, roughness: Option<f64>) -> Lobe<f64> {
        Lobe::Coated(Coated {
            base,
            index: 1.5,
            roughness,
            shadowing: Shadowing::SmithCorrelated,
        })
    }

    fn base(reflectance: f64, slope_sd: f64) -> OrenNayar<f64> {
        OrenNayar {
            reflectance,
            slope_sd,
            form: OrenNayarForm::Qualitative,
        }
    }

    #[test]
    fn energy_is_conserved_and_the_brdf_is_reciprocal() {
        for roughness in [Some(0.4), None] {
            assert_lobe_conforms(coated(base(0.9, 0.2), roughness));
        }
    }

    /// A white Lambertian base scatters all the light that the smooth coat transmits.
    #[test]
    fn a_smooth_coat_on_a_white_base_loses_no_light() {
        let white = material(coated(base(1.0, 0.0), None));
        for degrees in INCIDENCES_DEG {
            let total = white.albedo(cos_degrees(degrees), Side::Front).total();
            assert!((total - 1.0).abs() < 1e-3, "{degrees}: {total}");
        }
    }
}
