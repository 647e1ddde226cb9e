//! The registry of lobes: the enum, and the dispatch of its methods.
//!
//! To add a lobe, write its file in `lobe/` and add it to the module list, the enum,
//! `for_each_lobe!`, `with_equations!` and `Lobe::try_map` here. Coefficients that do not depend on directions are in a
//! prepared form, which `lobe/prepared.rs` lists.

mod blend;
mod coated;
mod conductor;
#[cfg(test)]
mod conformance;
mod dielectric;
mod lambert;
mod measured;
mod microfacet;
mod mirror;
mod oren_nayar;
mod prepared;
mod retroreflector;
mod rough_dielectric;
mod thin_dielectric;

pub use blend::Blend;
pub use coated::Coated;
pub use conductor::Conductor;
pub use dielectric::Dielectric;
pub use lambert::Lambert;
pub use measured::Measured;
pub use microfacet::{Fresnel, Microfacet};
pub use mirror::Mirror;
pub use oren_nayar::{OrenNayar, OrenNayarForm};
pub use retroreflector::Retroreflector;
pub use rough_dielectric::RoughDielectric;
pub use thin_dielectric::ThinDielectric;

pub(super) use prepared::PreparedLobe;

use super::interaction::{Albedo, Passage, Side, Specular};
use super::model::{Classify, LobeClass, SampleLobe, Scatter};
use super::parameter::MapParameter;
use crate::Scalar;
use nalgebra::Vector3;

/// Lobe of a material: one component of reflection or transmission.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Lobe<T> {
    /// Ideal diffuse reflection.
    Lambert(Lambert<T>),
    /// Diffuse reflection by a rough surface.
    OrenNayar(OrenNayar<T>),
    /// Glossy reflection by microfacets.
    Microfacet(Microfacet<T>),
    /// Diffuse base under a clear coat.
    Coated(Coated<T>),
    /// An ideal mirror.
    Mirror(Mirror<T>),
    /// A smooth metal.
    Conductor(Conductor<T>),
    /// The smooth surface of a clear solid or liquid.
    Dielectric(Dielectric<T>),
    /// The rough surface of a clear solid.
    RoughDielectric(RoughDielectric<T>),
    /// A sheet of a clear medium: a window.
    ThinDielectric(ThinDielectric<T>),
    /// Retroreflective sheeting.
    Retroreflector(Retroreflector<T>),
    /// Measured table of backscatter over incidence.
    Measured(Measured<T>),
    /// Another lobe on a share of the area.
    Blend(Blend<T>),
}

/// Evaluates an expression with the lobe of any variant.
macro_rules! for_each_lobe {
    ($value:expr, $lobe:ident => $result:expr) => {
        match $value {
            Lobe::Lambert($lobe) => $result,
            Lobe::OrenNayar($lobe) => $result,
            Lobe::Microfacet($lobe) => $result,
            Lobe::Coated($lobe) => $result,
            Lobe::Mirror($lobe) => $result,
            Lobe::Conductor($lobe) => $result,
            Lobe::Dielectric($lobe) => $result,
            Lobe::RoughDielectric($lobe) => $result,
            Lobe::ThinDielectric($lobe) => $result,
            Lobe::Retroreflector($lobe) => $result,
            Lobe::Measured($lobe) => $result,
            Lobe::Blend($lobe) => $result,
        }
    };
}

impl<T> Lobe<T> {
    /// Ideal diffuse reflection with a reflectance in [0, 1].
    pub fn lambert(reflectance: T) -> Self {
        Self::Lambert(Lambert { reflectance })
    }

    /// An ideal mirror with a reflectance in [0, 1].
    pub fn mirror(reflectance: T) -> Self {
        Self::Mirror(Mirror { reflectance })
    }

    /// A smooth metal of complex refractive index `n` + i `k`.
    pub fn conductor(n: T, k: T) -> Self {
        Self::Conductor(Conductor { n, k })
    }

    /// A lobe that covers a share of the area in [0, 1].
    pub fn blend(weight: T, lobe: Self) -> Self {
        Self::Blend(Blend {
            weight,
            lobe: Box::new(lobe),
        })
    }

    /// Kind of the lobe in one lower-case word; of a blend, the kind of the blended lobe.
    pub fn kind(&self) -> &'static str {
        self.class().kind
    }

    /// Whether it scatters light into a solid angle, other than a mirror or a window.
    pub fn scatters(&self) -> bool {
        self.class().scatters
    }

    /// Whether light passes through it.
    pub fn transmits(&self) -> bool {
        self.class().transmits
    }

    /// Applies `f` to the domain and the value of every parameter.
    pub(super) fn try_map<U, E>(&self, f: &mut MapParameter<'_, T, U, E>) -> Result<Lobe<U>, E> {
        Ok(match self {
            Self::Lambert(lobe) => Lobe::Lambert(lobe.try_map(f)?),
            Self::OrenNayar(lobe) => Lobe::OrenNayar(lobe.try_map(f)?),
            Self::Microfacet(lobe) => Lobe::Microfacet(lobe.try_map(f)?),
            Self::Coated(lobe) => Lobe::Coated(lobe.try_map(f)?),
            Self::Mirror(lobe) => Lobe::Mirror(lobe.try_map(f)?),
            Self::Conductor(lobe) => Lobe::Conductor(lobe.try_map(f)?),
            Self::Dielectric(lobe) => Lobe::Dielectric(lobe.try_map(f)?),
            Self::RoughDielectric(lobe) => Lobe::RoughDielectric(lobe.try_map(f)?),
            Self::ThinDielectric(lobe) => Lobe::ThinDielectric(lobe.try_map(f)?),
            Self::Retroreflector(lobe) => Lobe::Retroreflector(lobe.try_map(f)?),
            Self::Measured(lobe) => Lobe::Measured(lobe.try_map(f)?),
            Self::Blend(lobe) => Lobe::Blend(lobe.try_map(f)?),
        })
    }
}

/// Evaluates an expression with the equations of any variant, which some lobes need coefficients for.
macro_rules! with_equations {
    ($value:expr, $lobe:ident => $result:expr) => {
        match $value {
            Lobe::Lambert($lobe) => $result,
            Lobe::OrenNayar($lobe) => $result,
            Lobe::Microfacet(lobe) => {
                let $lobe = lobe.prepared();
                $result
            }
            Lobe::Coated(lobe) => {
                let $lobe = lobe.prepared();
                $result
            }
            Lobe::Mirror($lobe) => $result,
            Lobe::Conductor($lobe) => $result,
            Lobe::Dielectric($lobe) => $result,
            Lobe::RoughDielectric(lobe) => {
                let $lobe = lobe.prepared();
                $result
            }
            Lobe::ThinDielectric($lobe) => $result,
            Lobe::Retroreflector($lobe) => $result,
            Lobe::Measured($lobe) => $result,
            Lobe::Blend($lobe) => $result,
        }
    };
}

impl<S: Scalar> Lobe<S> {
    /// Multiplies the diffuse reflectance by a factor in [0, 1].
    pub(super) fn tint(&mut self, factor: S) {
        match self {
            Self::Lambert(lobe) => lobe.tint(factor),
            Self::OrenNayar(lobe) => lobe.tint(factor),
            Self::Coated(lobe) => lobe.tint(factor),
            Self::Blend(lobe) => lobe.lobe.tint(factor),
            _ => {}
        }
    }
}

impl<T> Classify for Lobe<T> {
    fn class(&self) -> LobeClass {
        for_each_lobe!(self, lobe => lobe.class())
    }

    fn has_valid_tables(&self) -> bool {
        for_each_lobe!(self, lobe => lobe.has_valid_tables())
    }
}

impl<S: Scalar> Scatter<S> for Lobe<S> {
    fn backscatter(&self, cos_incidence: S, side: Side) -> S {
        with_equations!(self, lobe => lobe.backscatter(cos_incidence, side))
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        if outgoing.z.value() < 0.0 && !self.transmits() {
            return S::zero();
        }
        with_equations!(self, lobe => lobe.evaluate(incoming, outgoing, side))
    }

    fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        with_equations!(self, lobe => lobe.specular(cos_incidence, side))
    }

    fn scattered_passage(&self, side: Side) -> Option<Passage<S>> {
        with_equations!(self, lobe => lobe.scattered_passage(side))
    }
}

impl SampleLobe for Lobe<f64> {
    fn importance(&self, cos_incidence: f64) -> f64 {
        with_equations!(self, lobe => lobe.importance(cos_incidence))
    }

    fn sample(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        uniform: [f64; 3],
    ) -> Option<Vector3<f64>> {
        with_equations!(self, lobe => lobe.sample(incoming, side, uniform))
    }

    fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        if outgoing.z <= 0.0 && !self.transmits() {
            return 0.0;
        }
        with_equations!(self, lobe => lobe.pdf(incoming, outgoing, side))
    }

    fn scattered_albedo(&self, cos_incidence: f64, side: Side, samples: u32) -> Albedo {
        with_equations!(self, lobe => lobe.scattered_albedo(cos_incidence, side, samples))
    }
}
