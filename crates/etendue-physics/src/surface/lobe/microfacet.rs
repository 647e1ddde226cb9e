//! Reflection by a rough surface of specular microfacets (Cook and Torrance 1982).

use super::conductor;
use super::dielectric;
use crate::Scalar;
use crate::surface::cosine::{facing, sine};
use crate::surface::fresnel;
use crate::surface::ggx::{ROUGHNESS, Shadowing, ggx, visible_facet, visible_pdf};
use crate::surface::inter_reflection::InterReflection;
use crate::surface::interaction::{Albedo, Side};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter};
use crate::surface::sampling::{
    above, cosine_hemisphere_pdf, evenly_spread, sample_cosine_hemisphere,
};
use nalgebra::Vector3;

const AT_NORMAL: Domain = Domain {
    name: "at_normal",
    least: 0.0,
    most: 1.0,
    remedy: "it is the reflected fraction of the light at normal incidence",
};

/// Microfacet reflection, $f = \frac{D\\,G\\,F}{4\cos\theta_i\cos\theta_o}$, with the GGX
/// distribution (Walter et al. 2007, doi:10.2312/EGWR/EGSR07/195-206)
/// $D = \frac{\alpha^2}{\pi((n\cdot h)^2(\alpha^2-1)+1)^2}$, $\alpha = r^2$.
///
/// For a monostatic lidar $v\cdot h = 1$, so $F$ is $F_0$ at every incidence.
///
/// With the default shadowing, light that is reflected between facets is added ([`InterReflection`]); the other
/// forms are for comparison and count it as absorbed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Microfacet<T> {
    /// Roughness $r$ in [0.01, 1], $\alpha = r^2$.
    pub roughness: T,
    /// Reflectance of a facet.
    pub fresnel: Fresnel<T>,
    /// Masking-shadowing function.
    pub shadowing: Shadowing,
}

/// Reflectance of a facet over the angle of incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fresnel<T> {
    /// A clear medium, exact.
    Dielectric {
        /// Refractive index.
        index: T,
    },
    /// A metal, exact.
    Conductor {
        /// Refractive index.
        n: T,
        /// Extinction coefficient.
        k: T,
    },
    /// Schlick's approximation.
    Schlick {
        /// Reflectance at normal incidence, $F_0$; [`fresnel::normal_reflectance`] of an index.
        at_normal: T,
    },
}

impl<S: Scalar> Fresnel<S> {
    /// Reflectance of a facet at a cosine of incidence on the facet.
    pub fn reflectance(&self, cos: S) -> S {
        match *self {
            Self::Dielectric { index } => fresnel::dielectric(cos, index).mean(),
            Self::Conductor { n, k } => fresnel::conductor(cos, n, k).mean(),
            Self::Schlick { at_normal } => fresnel::schlick(cos, at_normal),
        }
    }

    /// Reflectance of a facet for diffuse light.
    fn diffuse_reflectance(&self) -> S {
        match *self {
            Self::Dielectric { index } => fresnel::diffuse_reflectance(index),
            Self::Conductor { n, k } => fresnel::diffuse_conductor(n, k),
            Self::Schlick { at_normal } => fresnel::diffuse_schlick(at_normal),
        }
    }
}

impl<S: Scalar> Microfacet<S> {
    /// Distribution $D$ of facet normals, 1/sr, at the cosine of the angle to the surface normal;
    /// $\int D\cos\theta_h\\,\mathrm{d}\omega_h = 1$.
    pub fn distribution(&self, cos_half: S) -> S {
        ggx(cos_half, self.roughness)
    }

    /// Masking-shadowing function $G$ in [0, 1] at the cosines of incidence and of reflection.
    pub fn shadowing(&self, cos_in: S, cos_out: S) -> S {
        let visibility = self.shadowing.visibility(self.roughness, cos_in, cos_out);
        visibility * cos_in * cos_out * 4.0
    }

    /// Light that is reflected more than once between facets; `None` with a shadowing that is for comparison.
    pub fn inter_reflection(&self) -> Option<InterReflection<S>> {
        (self.shadowing == Shadowing::SmithCorrelated)
            .then(|| InterReflection::new(self.roughness, self.fresnel.diffuse_reflectance()))
    }

    /// BRDF of the light that is reflected once, 1/sr.
    fn single_reflection(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>) -> S {
        let half = (incoming + outgoing).normalize();
        let cos_in = facing(incoming.z);
        let cos_out = facing(outgoing.z);
        self.distribution(half.z)
            * self.shadowing.visibility(self.roughness, cos_in, cos_out)
            * self.fresnel.reflectance(incoming.dot(&half))
    }

    /// The lobe with its coefficients.
    pub(in crate::surface) fn prepared(&self) -> PreparedMicrofacet<S> {
        PreparedMicrofacet {
            facets: *self,
            between: self.inter_reflection(),
        }
    }
}

impl<T> Microfacet<T> {
    pub(super) fn try_map<U, E>(
        &self,
        f: &mut MapParameter<'_, T, U, E>,
    ) -> Result<Microfacet<U>, E> {
        let fresnel = match &self.fresnel {
            Fresnel::Dielectric { index } => Fresnel::Dielectric {
                index: f(&dielectric::INDEX, index)?,
            },
            Fresnel::Conductor { n, k } => Fresnel::Conductor {
                n: f(&conductor::N, n)?,
                k: f(&conductor::K, k)?,
            },
            Fresnel::Schlick { at_normal } => Fresnel::Schlick {
                at_normal: f(&AT_NORMAL, at_normal)?,
            },
        };
        Ok(Microfacet {
            roughness: f(&ROUGHNESS, &self.roughness)?,
            fresnel,
            shadowing: self.shadowing,
        })
    }
}

impl<T> Classify for Microfacet<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "microfacet",
            scatters: true,
            is_specular: false,
            transmits: false,
        }
    }
}

/// Microfacets with the coefficients of the light between them, which depend on roughness and reflectance only.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::surface) struct PreparedMicrofacet<T> {
    facets: Microfacet<T>,
    between: Option<InterReflection<T>>,
}

impl<T> Classify for PreparedMicrofacet<T> {
    fn class(&self) -> LobeClass {
        self.facets.class()
    }
}

impl<S: Scalar> Scatter<S> for PreparedMicrofacet<S> {
    fn backscatter(&self, cos_incidence: S, _side: Side) -> S {
        let cos = facing(cos_incidence);
        let facets = &self.facets;
        facets.distribution(cos)
            * facets.shadowing.visibility(facets.roughness, cos, cos)
            * facets.fresnel.reflectance(S::one())
            + self.between_facets(cos, cos)
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, _side: Side) -> S {
        self.facets.single_reflection(incoming, outgoing)
            + self.between_facets(incoming.z, outgoing.z)
    }
}

impl SampleLobe for PreparedMicrofacet<f64> {
    /// The mirror-direction reflectance, at least 0.05: a facet may reflect more than the mean
    /// surface does.
    fn importance(&self, cos_incidence: f64) -> f64 {
        self.facets.fresnel.reflectance(cos_incidence).max(0.05)
    }

    /// Reflection by a visible facet, or several reflections, chosen by the first uniform number.
    fn sample(
        &self,
        incoming: &Vector3<f64>,
        _side: Side,
        [choice, u, v]: [f64; 3],
    ) -> Option<Vector3<f64>> {
        if choice < self.chance_between_facets(incoming.z) {
            return Some(sample_cosine_hemisphere([u, v]));
        }
        self.facets.sample_facet(incoming, [u, v])
    }

    fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, _side: Side) -> f64 {
        let chance = self.chance_between_facets(incoming.z);
        chance * cosine_hemisphere_pdf(outgoing.z)
            + (1.0 - chance) * self.facets.facet_pdf(incoming, outgoing)
    }

    /// The mean throughput of visible facets, and the closed form of the light between facets.
    fn scattered_albedo(&self, cos_incidence: f64, _side: Side, samples: u32) -> Albedo {
        let incoming = Vector3::new(sine(cos_incidence), 0.0, cos_incidence);
        let throughput = |[_, u, v]: [f64; 3]| {
            self.facets
                .sample_facet(&incoming, [u, v])
                .map_or(0.0, |outgoing| {
                    self.facets.single_reflection(&incoming, &outgoing) * outgoing.z
                        / self.facets.facet_pdf(&incoming, &outgoing)
                })
        };
        let once = evenly_spread(samples).map(throughput).sum::<f64>() / f64::from(samples);
        let several = self
            .between
            .as_ref()
            .map_or(0.0, |light| light.albedo(cos_incidence));
        Albedo {
            reflected: once + several,
            ..Albedo::default()
        }
    }
}

impl<S: Scalar> PreparedMicrofacet<S> {
    /// BRDF of the light that is reflected between facets, 1/sr, at the cosines of incidence and of reflection.
    fn between_facets(&self, cos_in: S, cos_out: S) -> S {
        self.between
            .as_ref()
            .map_or(S::zero(), |light| light.evaluate(cos_in, cos_out))
    }
}

impl PreparedMicrofacet<f64> {
    /// Probability that a direction is drawn from the light that is reflected between facets: its share of the
    /// reflected light, with the reflectance of the mean surface for the light that is reflected once.
    fn chance_between_facets(&self, cos_incidence: f64) -> f64 {
        let Some(light) = &self.between else {
            return 0.0;
        };
        let several = light.albedo(cos_incidence);
        let once = self.importance(cos_incidence) * (1.0 - light.lost(cos_incidence));
        several / (several + once)
    }
}

impl Microfacet<f64> {
    /// Direction of reflection by a visible facet.
    fn sample_facet(&self, incoming: &Vector3<f64>, uniform: [f64; 2]) -> Option<Vector3<f64>> {
        let half = visible_facet(incoming, self.roughness, uniform);
        above(half * (2.0 * incoming.dot(&half)) - incoming)
    }

    /// Density of [`sample_facet`](Self::sample_facet), 1/sr.
    fn facet_pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>) -> f64 {
        let half = (incoming + outgoing).normalize();
        visible_pdf(incoming, &half, self.roughness) / (4.0 * incoming.dot(&half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Lobe;
    use crate::surface::lobe::conformance::{
        INCIDENCES_DEG, assert_lobe_conforms, cos_degrees, material,
    };

    fn lobe(roughness: f64, fresnel: Fresnel<f64>, shadowing: Shadowing) -> Lobe<f64> {
        Lobe::Microfacet(Microfacet {
            roughness,
            fresnel,
            shadowing,
        })
    }

    #[test]
    fn a_rough_dielectric_conserves_energy_and_is_reciprocal() {
        let fresnel = Fresnel::Dielectric { index: 1.5 };
        assert_lobe_conforms(lobe(0.5, fresnel, Shadowing::SmithCorrelated));
    }

    #[test]
    fn a_rough_metal_conserves_energy_and_is_reciprocal() {
        let fresnel = Fresnel::Conductor { n: 0.15, k: 5.3 };
        assert_lobe_conforms(lobe(0.7, fresnel, Shadowing::SmithSeparable));
    }

    #[test]
    fn schlicks_approximation_conserves_energy_and_is_reciprocal() {
        let fresnel = Fresnel::Schlick { at_normal: 0.3 };
        assert_lobe_conforms(lobe(0.3, fresnel, Shadowing::SchlickKaris));
    }

    /// Facets that reflect all light lose none, at any roughness and incidence. Tolerance: 1.8e-3 of the fit of the
    /// inter-reflection and the error of the sampled albedo.
    #[test]
    fn white_facets_conserve_energy() {
        let fresnel = Fresnel::Schlick { at_normal: 1.0 };
        for roughness in [0.1, 0.3, 0.5, 0.6, 0.8, 1.0] {
            let white = material(lobe(roughness, fresnel, Shadowing::SmithCorrelated));
            for degrees in INCIDENCES_DEG {
                let albedo = white.albedo(cos_degrees(degrees), Side::Front).total();
                assert!(
                    (albedo - 1.0).abs() < 3e-3,
                    "{roughness} {degrees}: {albedo}"
                );
            }
        }
    }

    /// Backscatter with inter-reflection over that without, of roughness 0.6: aluminium (index 2 + 8i), and the gloss of
    /// plastic (index 1.5).
    #[test]
    fn inter_reflection_adds_to_the_backscatter() {
        let metal = Fresnel::Conductor { n: 2.0, k: 8.0 };
        let plastic = Fresnel::Dielectric { index: 1.5 };
        for (fresnel, degrees, expected) in [
            (metal, 0.0, 1.067),
            (metal, 60.0, 2.12),
            (metal, 80.0, 1.23),
            (plastic, 0.0, 1.014),
            (plastic, 60.0, 1.23),
        ] {
            let Lobe::Microfacet(lobe) = lobe(0.6, fresnel, Shadowing::SmithCorrelated) else {
                unreachable!("the lobe has facets")
            };
            let lobe = lobe.prepared();
            let cos = cos_degrees(degrees);
            let between = lobe.between_facets(cos, cos);
            let whole = lobe.backscatter(cos, Side::Front);
            let ratio = whole / (whole - between);
            assert!((ratio - expected).abs() < 0.01, "{degrees}: {ratio}");
        }
    }

    /// Without inter-reflection 16 % of the light is lost at roughness 0.6 and 80 degrees.
    #[test]
    fn one_reflection_loses_light_at_grazing_incidence() {
        let fresnel = Fresnel::Schlick { at_normal: 1.0 };
        let Lobe::Microfacet(white) = lobe(0.6, fresnel, Shadowing::SmithCorrelated) else {
            unreachable!("the lobe has facets")
        };
        let light = white
            .inter_reflection()
            .expect("the default shadowing has it");
        assert!((light.lost(cos_degrees(80.0)) - 0.1625).abs() < 2e-3);
    }

    /// The facets that reflect towards the source have normal incidence at every angle of the surface.
    #[test]
    fn backscatter_has_the_fresnel_reflectance_at_normal_incidence() {
        let of = |fresnel| material(lobe(0.6, fresnel, Shadowing::SmithSeparable));
        let glass = of(Fresnel::Dielectric { index: 1.5 });
        let perfect = of(Fresnel::Schlick { at_normal: 1.0 });
        for degrees in INCIDENCES_DEG {
            let cos = cos_degrees(degrees);
            let ratio = glass.backscatter(cos, Side::Front) / perfect.backscatter(cos, Side::Front);
            assert!((ratio - 0.04).abs() < 1e-14);
        }
    }
}
