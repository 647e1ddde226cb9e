//! What a material does with light, generic in the scalar.

use super::{Lobe, Material, Passage, Side, Specular};
use crate::Scalar;
use crate::surface::fresnel;
use nalgebra::Vector3;
use std::f64::consts::PI;

impl<S: Scalar> Material<S> {
    /// BRDF of all non-delta lobes back into the direction light came from, 1/sr.
    ///
    /// `cos_incidence` in [0, 1] is the cosine between that direction and the normal. Both sides
    /// scatter back alike: a facet met head on reflects $F_0$ from either.
    pub fn backscatter(&self, cos_incidence: S, side: Side) -> S {
        let _ = side;
        self.lobes
            .iter()
            .fold(S::zero(), |sum, lobe| sum + lobe.backscatter(cos_incidence))
    }

    /// What the delta lobes reflect and transmit. At most one lobe transmits
    /// ([`Material::validate`] says so).
    pub fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        let nothing = Specular {
            reflected: S::zero(),
            transmitted: None,
        };
        self.lobes.iter().fold(nothing, |sum, lobe| {
            let lobe = lobe.specular(cos_incidence, side);
            Specular {
                reflected: sum.reflected + lobe.reflected,
                transmitted: sum.transmitted.or(lobe.transmitted),
            }
        })
    }

    /// BSDF of all non-delta lobes, 1/sr: radiance that leaves over irradiance that arrives.
    ///
    /// Unit directions away from the surface in a frame whose z axis is the normal on the side
    /// that light arrives on: `incoming` points to where light comes from (z > 0), `outgoing` to
    /// where it goes (z < 0 behind the surface).
    pub fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        if incoming.z.value() <= 0.0 || outgoing.z.value() == 0.0 {
            return S::zero();
        }
        self.lobes.iter().fold(S::zero(), |sum, lobe| {
            sum + lobe.evaluate(incoming, outgoing, side)
        })
    }
}

impl<S: Scalar> Lobe<S> {
    fn backscatter(&self, cos: S) -> S {
        match self {
            Self::Lambert { reflectance } => *reflectance / PI,
            Self::OrenNayar(lobe) => lobe.backscatter(cos),
            Self::Microfacet(lobe) => lobe.backscatter(cos),
            Self::Coated(lobe) => lobe.backscatter(cos),
            Self::RoughDielectric(lobe) => lobe.backscatter(cos),
            Self::Retroreflector(lobe) => lobe.backscatter(cos),
            Self::Measured(lobe) => lobe.backscatter(cos),
            Self::Mirror { .. } | Self::Conductor { .. } | Self::Dielectric(_) | Self::Pane(_) => {
                S::zero()
            }
            Self::Part { weight, lobe } => *weight * lobe.backscatter(cos),
        }
    }

    pub(super) fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        let behind = outgoing.z.value() < 0.0;
        match self {
            Self::RoughDielectric(lobe) => lobe.evaluate(incoming, outgoing, side),
            Self::Part { weight, lobe } => *weight * lobe.evaluate(incoming, outgoing, side),
            _ if behind => S::zero(),
            Self::Lambert { reflectance } => *reflectance / PI,
            Self::OrenNayar(lobe) => lobe.evaluate(incoming, outgoing),
            Self::Microfacet(lobe) => lobe.evaluate(incoming, outgoing),
            Self::Coated(lobe) => lobe.evaluate(incoming, outgoing),
            Self::Retroreflector(lobe) => lobe.evaluate(incoming, outgoing),
            Self::Measured(lobe) => lobe.evaluate(incoming.z, outgoing.z),
            Self::Mirror { .. } | Self::Conductor { .. } | Self::Dielectric(_) | Self::Pane(_) => {
                S::zero()
            }
        }
    }

    pub(super) fn specular(&self, cos: S, side: Side) -> Specular<S> {
        let reflected = match self {
            Self::Dielectric(lobe) => return lobe.specular(cos, side),
            Self::Pane(lobe) => return lobe.specular(cos),
            Self::Part { weight, lobe } => return lobe.specular(cos, side).times(*weight),
            Self::Mirror { reflectance } => *reflectance,
            Self::Conductor { n, k } => fresnel::conductor(cos, *n, *k).mean(),
            Self::Coated(lobe) => lobe.mirrored(cos),
            Self::Lambert { .. }
            | Self::OrenNayar(_)
            | Self::Microfacet(_)
            | Self::RoughDielectric(_)
            | Self::Retroreflector(_)
            | Self::Measured(_) => S::zero(),
        };
        Specular {
            reflected,
            transmitted: None,
        }
    }

    /// The way on for light that a rough surface scatters through itself.
    pub(super) fn scattered_passage(&self, side: Side) -> Option<Passage<S>> {
        match self {
            Self::RoughDielectric(lobe) => Some(lobe.medium.passage(side)),
            Self::Part { lobe, .. } => lobe.scattered_passage(side),
            _ => None,
        }
    }
}

impl<S: Scalar> Specular<S> {
    fn times(mut self, weight: S) -> Self {
        self.reflected *= weight;
        if let Some(transmitted) = &mut self.transmitted {
            transmitted.fraction *= weight;
        }
        self
    }
}
