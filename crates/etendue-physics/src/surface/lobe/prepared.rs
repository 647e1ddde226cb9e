//! Lobes with the coefficients that depend on their parameters only.

use super::coated::PreparedCoated;
use super::microfacet::PreparedMicrofacet;
use super::rough_dielectric::PreparedRoughDielectric;
use super::{Blend, Lobe};
use crate::Scalar;
use crate::surface::interaction::{Albedo, Passage, Side, Specular};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use nalgebra::Vector3;

/// A lobe with the coefficients of its equations that do not depend on directions.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::surface) enum PreparedLobe<T> {
    /// A lobe without such coefficients.
    Plain(Lobe<T>),
    /// Glossy reflection by microfacets.
    Microfacet(PreparedMicrofacet<T>),
    /// Diffuse base under a clear coat.
    Coated(PreparedCoated<T>),
    /// The rough surface of a clear solid.
    RoughDielectric(Box<PreparedRoughDielectric<T>>),
    /// Another lobe on a share of the area.
    Blend(Blend<T, Self>),
}

/// Evaluates an expression with the equations of any variant.
macro_rules! for_each_lobe {
    ($value:expr, $lobe:ident => $result:expr) => {
        match $value {
            PreparedLobe::Plain($lobe) => $result,
            PreparedLobe::Microfacet($lobe) => $result,
            PreparedLobe::Coated($lobe) => $result,
            PreparedLobe::RoughDielectric($lobe) => $result,
            PreparedLobe::Blend($lobe) => $result,
        }
    };
}

impl<S: Scalar> PreparedLobe<S> {
    /// Evaluates the coefficients of a lobe.
    pub fn new(lobe: &Lobe<S>) -> Self {
        match lobe {
            Lobe::Microfacet(facets) => Self::Microfacet(facets.prepared()),
            Lobe::Coated(layers) => Self::Coated(layers.prepared()),
            Lobe::RoughDielectric(rough) => Self::RoughDielectric(Box::new(rough.prepared())),
            Lobe::Blend(Blend { weight, lobe }) => Self::Blend(Blend {
                weight: *weight,
                lobe: Box::new(Self::new(lobe)),
            }),
            plain => Self::Plain(plain.clone()),
        }
    }

    /// As [`Lobe::tint`]: no coefficient depends on a diffuse reflectance.
    pub fn tint(&mut self, factor: S) {
        match self {
            Self::Plain(lobe) => lobe.tint(factor),
            Self::Coated(lobe) => lobe.tint(factor),
            Self::Blend(lobe) => lobe.lobe.tint(factor),
            Self::Microfacet(_) | Self::RoughDielectric(_) => {}
        }
    }
}

impl<T> Classify for PreparedLobe<T> {
    fn class(&self) -> LobeClass {
        for_each_lobe!(self, lobe => lobe.class())
    }
}

impl<S: Scalar> Scatter<S> for PreparedLobe<S> {
    fn backscatter(&self, cos_incidence: S, side: Side) -> S {
        for_each_lobe!(self, lobe => lobe.backscatter(cos_incidence, side))
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        if outgoing.z.value() < 0.0 && !self.class().transmits {
            return S::zero();
        }
        for_each_lobe!(self, lobe => lobe.evaluate(incoming, outgoing, side))
    }

    fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        for_each_lobe!(self, lobe => lobe.specular(cos_incidence, side))
    }

    fn scattered_passage(&self, side: Side) -> Option<Passage<S>> {
        for_each_lobe!(self, lobe => lobe.scattered_passage(side))
    }
}

impl SampleLobe for PreparedLobe<f64> {
    fn importance(&self, cos_incidence: f64) -> f64 {
        for_each_lobe!(self, lobe => lobe.importance(cos_incidence))
    }

    fn sample(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        uniform: [f64; 3],
    ) -> Option<Vector3<f64>> {
        for_each_lobe!(self, lobe => lobe.sample(incoming, side, uniform))
    }

    fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        if outgoing.z <= 0.0 && !self.class().transmits {
            return 0.0;
        }
        for_each_lobe!(self, lobe => lobe.pdf(incoming, outgoing, side))
    }

    fn scattered_albedo(&self, cos_incidence: f64, side: Side, samples: u32) -> Albedo {
        for_each_lobe!(self, lobe => lobe.scattered_albedo(cos_incidence, side, samples))
    }
}
