//! Reflection by a rough surface of specular microfacets (Cook and Torrance 1982).

use super::conductor;
use super::dielectric;
use crate::Scalar;
use crate::surface::cosine::facing;
use crate::surface::fresnel;
use crate::surface::ggx::{ROUGHNESS, Shadowing, ggx, visible_facet, visible_pdf};
use crate::surface::interaction::Side;
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter};
use crate::surface::sampling::above;
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
/// For a monostatic lidar $v\cdot h = 1$, so $F$ is $F_0$ at every incidence. Light that bounces
/// between facets counts as absorbed.
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

impl<S: Scalar> Scatter<S> for Microfacet<S> {
    fn backscatter(&self, cos_incidence: S) -> S {
        let cos = facing(cos_incidence);
        self.distribution(cos)
            * self.shadowing.visibility(self.roughness, cos, cos)
            * self.fresnel.reflectance(S::one())
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, _side: Side) -> S {
        let half = (incoming + outgoing).normalize();
        let cos_in = facing(incoming.z);
        let cos_out = facing(outgoing.z);
        self.distribution(half.z)
            * self.shadowing.visibility(self.roughness, cos_in, cos_out)
            * self.fresnel.reflectance(incoming.dot(&half))
    }
}

impl SampleLobe for Microfacet<f64> {
    /// The mirror-direction reflectance, at least 0.05: a facet may reflect more than the mean
    /// surface does.
    fn importance(&self, cos_incidence: f64) -> f64 {
        self.fresnel.reflectance(cos_incidence).max(0.05)
    }

    /// Reflection by a visible facet.
    fn sample(
        &self,
        incoming: &Vector3<f64>,
        _side: Side,
        [_, u, v]: [f64; 3],
    ) -> Option<Vector3<f64>> {
        let half = visible_facet(incoming, self.roughness, [u, v]);
        above(half * (2.0 * incoming.dot(&half)) - incoming)
    }

    fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, _side: Side) -> f64 {
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

    /// The facets that reflect towards the source have normal incidence at every angle of the surface.
    #[test]
    fn backscatter_has_the_fresnel_reflectance_at_normal_incidence() {
        let of = |fresnel| material(lobe(0.6, fresnel, Shadowing::SmithCorrelated));
        let glass = of(Fresnel::Dielectric { index: 1.5 });
        let perfect = of(Fresnel::Schlick { at_normal: 1.0 });
        for degrees in INCIDENCES_DEG {
            let cos = cos_degrees(degrees);
            let ratio = glass.backscatter(cos, Side::Front) / perfect.backscatter(cos, Side::Front);
            assert!((ratio - 0.04).abs() < 1e-14);
        }
    }
}
