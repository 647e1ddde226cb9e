//! A diffuse base under a clear coat: paint, varnished wood, plastic.

use super::fresnel;
use super::microfacet::{Fresnel, Microfacet, Shadowing};
use super::oren_nayar::OrenNayar;
use crate::Scalar;
use nalgebra::Vector3;

/// A diffuse base under a clear coat.
///
/// The coat reflects $F$; what it lets pass on the way in and on the way out reaches the base and
/// returns: $f = f_\text{coat} + f_\text{base}\frac{(1-F(\theta_i))(1-F(\theta_o))}{1-\bar F}$
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
    /// Roughness of the coat in [0.01, 1]; `None` for a smooth one, which reflects as a mirror does.
    pub roughness: Option<T>,
    /// How the coat's facets hide each other.
    pub shadowing: Shadowing,
}

impl<S: Scalar> Coated<S> {
    pub(crate) fn coat(&self) -> Option<Microfacet<S>> {
        self.roughness.map(|roughness| Microfacet {
            roughness,
            fresnel: Fresnel::Dielectric { index: self.index },
            shadowing: self.shadowing,
        })
    }

    /// Share of light that passes the coat.
    fn passed(&self, cos: S) -> S {
        -fresnel::dielectric(cos, self.index).mean() + 1.0
    }

    fn coupling(&self, cos_in: S, cos_out: S) -> S {
        self.passed(cos_in) * self.passed(cos_out)
            / (-fresnel::diffuse_reflectance(self.index) + 1.0)
    }

    pub(crate) fn backscatter(&self, cos: S) -> S {
        let coat = self.coat().map_or(S::zero(), |coat| coat.backscatter(cos));
        self.base.backscatter(cos) * self.coupling(cos, cos) + coat
    }

    pub(crate) fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>) -> S {
        let coat = self
            .coat()
            .map_or(S::zero(), |coat| coat.evaluate(incoming, outgoing));
        self.base.evaluate(incoming, outgoing) * self.coupling(incoming.z, outgoing.z) + coat
    }

    /// What a smooth coat reflects as a mirror does.
    pub(crate) fn mirrored(&self, cos: S) -> S {
        match self.roughness {
            None => fresnel::dielectric(cos, self.index).mean(),
            Some(_) => S::zero(),
        }
    }
}

impl Coated<f64> {
    /// How much of what is scattered comes from the base.
    pub(crate) fn scattered(&self, cos: f64) -> f64 {
        self.base.reflectance * self.passed(cos) + self.coat_share(cos)
    }

    fn coat_share(&self, cos: f64) -> f64 {
        match self.roughness {
            Some(_) => 1.0 - self.passed(cos),
            None => 0.0,
        }
    }

    /// Chance that a direction is drawn for the coat rather than the base.
    pub(crate) fn coat_chance(&self, cos: f64) -> f64 {
        let (coat, all) = (self.coat_share(cos), self.scattered(cos));
        if coat == 0.0 {
            return 0.0;
        }
        (coat / all).clamp(0.1, 1.0)
    }
}
