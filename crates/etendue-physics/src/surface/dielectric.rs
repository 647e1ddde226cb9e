//! A clear medium behind a smooth or a rough surface.

use super::angle::facing;
use super::fresnel::{self, cos_refracted};
use super::microfacet::{Shadowing, ggx, visible_facet, visible_pdf};
use super::{Medium, Passage, Side, Specular, Transmitted};
use crate::Scalar;
use nalgebra::Vector3;

/// What a clear medium does to light inside it. Outside is air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dielectric<T> {
    /// Phase index: refraction and reflectance.
    pub index: T,
    /// Group index: optical path per metre; [`Spectrum::group_index`](crate::Spectrum::group_index)
    /// of the phase index.
    pub group_index: T,
    /// Power absorption coefficient, 1/m ($4\pi k/\lambda$).
    pub absorption: T,
}

impl<S: Scalar> Dielectric<S> {
    /// Index behind the surface over index in front of it, as light meets it.
    pub(crate) fn index_ahead(&self, side: Side) -> S {
        match side {
            Side::Front => self.index,
            Side::Back => S::one() / self.index,
        }
    }

    /// The way on for light that passes.
    pub(crate) fn passage(&self, side: Side) -> Passage<S> {
        let medium = match side {
            Side::Front => Medium {
                group_index: self.group_index,
                absorption: self.absorption,
            },
            Side::Back => Medium::air(),
        };
        Passage::Interface {
            index_ratio: S::one() / self.index_ahead(side),
            medium,
        }
    }

    /// A smooth interface: exact unpolarised Fresnel, Snell, total internal reflection.
    pub(crate) fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        let index = self.index_ahead(side);
        let reflected = fresnel::dielectric(cos_incidence, index).mean();
        let transmitted = cos_refracted(facing(cos_incidence), index).map(|_| Transmitted {
            fraction: -reflected + 1.0,
            passage: self.passage(side),
        });
        Specular {
            reflected,
            transmitted,
        }
    }
}

/// A clear medium behind a rough surface: frosted glass and plastic (Walter et al. 2007,
/// doi:10.2312/EGWR/EGSR07/195-206, eqs. 20 and 21).
///
/// Transmission is
/// $f_t = \frac{|i\cdot h||o\cdot h|}{|i\cdot n||o\cdot n|}\frac{\eta^2(1-F)GD}{(i\cdot h+\eta\\,o\cdot h)^2}$
/// with $\eta$ the index on the outgoing over that on the incoming side: the ratio of radiance
/// that leaves to irradiance that arrives, so that $\int f\cos\theta_o \le 1$. Hence
/// $f(i \to o)/\eta_o^2 = f(o \to i)/\eta_i^2$, and the factor cancels for light that comes back
/// to the medium it left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoughDielectric<T> {
    /// The medium behind the surface.
    pub medium: Dielectric<T>,
    /// Roughness $r$ in [0.01, 1], $\alpha = r^2$.
    pub roughness: T,
    /// How facets hide each other in reflection; in transmission always Smith's separable form.
    pub shadowing: Shadowing,
}

impl<S: Scalar> RoughDielectric<S> {
    pub(crate) fn backscatter(&self, cos_incidence: S) -> S {
        let cos = facing(cos_incidence);
        ggx(cos, self.roughness)
            * self.shadowing.visibility(self.roughness, cos, cos)
            * fresnel::normal_reflectance(self.medium.index)
    }

    pub(crate) fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        let index = self.medium.index_ahead(side);
        if outgoing.z.value() > 0.0 {
            self.reflect(incoming, outgoing, index)
        } else {
            self.transmit(incoming, outgoing, index)
        }
    }

    fn reflect(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, index: S) -> S {
        let half = (incoming + outgoing).normalize();
        let (cos_in, cos_out) = (facing(incoming.z), facing(outgoing.z));
        ggx(half.z, self.roughness)
            * self.shadowing.visibility(self.roughness, cos_in, cos_out)
            * fresnel::dielectric(incoming.dot(&half), index).mean()
    }

    fn transmit(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, index: S) -> S {
        let Some(bend) = Bend::between(incoming, outgoing, index) else {
            return S::zero();
        };
        let (cos_in, cos_out) = (facing(incoming.z), facing(-outgoing.z));
        let passed = -fresnel::dielectric(bend.toward, index).mean() + 1.0;
        let visibility = Shadowing::SmithSeparable.visibility(self.roughness, cos_in, cos_out);
        passed
            * ggx(bend.half.z, self.roughness)
            * visibility
            * 4.0
            * bend.toward
            * bend.stretch(index)
    }
}

/// A facet that refracts one direction into another.
struct Bend<S> {
    half: Vector3<S>,
    /// $i\cdot h$, positive.
    toward: S,
    /// $o\cdot h$, negative.
    onward: S,
}

impl<S: Scalar> Bend<S> {
    fn between(incoming: &Vector3<S>, outgoing: &Vector3<S>, index: S) -> Option<Self> {
        let sum = incoming + outgoing * index;
        let norm = sum.norm_squared();
        if norm.value() < 1e-20 {
            return None;
        }
        let sign = if sum.z.value() < 0.0 { -1.0 } else { 1.0 };
        let half = sum * (S::from(sign) / norm.sqrt());
        let (toward, onward) = (incoming.dot(&half), outgoing.dot(&half));
        (toward.value() > 0.0 && onward.value() < 0.0).then_some(Self {
            half,
            toward,
            onward,
        })
    }

    /// Solid angle of facets per solid angle of outgoing directions,
    /// $\eta^2|o\cdot h|/(i\cdot h + \eta\\,o\cdot h)^2$.
    fn stretch(&self, index: S) -> S {
        let sum = self.toward + index * self.onward;
        -index * index * self.onward / (sum * sum)
    }
}

impl RoughDielectric<f64> {
    /// A direction after reflection or refraction at a facet that the light can see.
    pub(crate) fn sample(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        [choice, u, v]: [f64; 3],
    ) -> Option<Vector3<f64>> {
        let index = self.medium.index_ahead(side);
        let half = visible_facet(incoming, self.roughness, [u, v]);
        let toward = incoming.dot(&half);
        if choice < fresnel::dielectric(toward, index).mean() {
            let outgoing = half * (2.0 * toward) - incoming;
            return (outgoing.z > 0.0).then_some(outgoing);
        }
        let onward = cos_refracted(toward, index)?;
        let outgoing = half * (toward / index - onward) - incoming / index;
        (outgoing.z < 0.0).then(|| outgoing.normalize())
    }

    pub(crate) fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        let index = self.medium.index_ahead(side);
        if outgoing.z > 0.0 {
            let half = (incoming + outgoing).normalize();
            let toward = incoming.dot(&half);
            let reflected = fresnel::dielectric(toward, index).mean();
            return reflected * visible_pdf(incoming, &half, self.roughness) / (4.0 * toward);
        }
        let Some(bend) = Bend::between(incoming, outgoing, index) else {
            return 0.0;
        };
        let passed = 1.0 - fresnel::dielectric(bend.toward, index).mean();
        passed * visible_pdf(incoming, &bend.half, self.roughness) * bend.stretch(index)
    }
}
