//! Reflection by a rough surface of tiny mirrors (Cook and Torrance 1982).

use super::angle::facing;
use super::fresnel;
use crate::Scalar;
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

/// Microfacet reflection, $f = \frac{D\\,G\\,F}{4\cos\theta_i\cos\theta_o}$, with the GGX
/// distribution (Walter et al. 2007, doi:10.2312/EGWR/EGSR07/195-206)
/// $D = \frac{\alpha^2}{\pi((n\cdot h)^2(\alpha^2-1)+1)^2}$, $\alpha = r^2$.
///
/// A lidar looks along its own light: $v\cdot h = 1$, so $F$ is $F_0$ at every incidence.
/// Light that leaves one facet and meets another is not followed (it counts as absorbed).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Microfacet<T> {
    /// Roughness $r$ in [0.01, 1], $\alpha = r^2$.
    pub roughness: T,
    /// What a facet reflects.
    pub fresnel: Fresnel<T>,
    /// How facets hide each other.
    pub shadowing: Shadowing,
}

/// What a facet reflects.
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

/// How facets hide each other: the term $G$.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shadowing {
    /// Smith's with the heights of both directions correlated (Heitz 2014, JCGT 3(2), eq. 99).
    #[default]
    SmithCorrelated,
    /// Smith's as a product, $G_1(l)G_1(v)$ (Walter et al. 2007, eq. 34).
    SmithSeparable,
    /// Karis' form of Schlick's, $G_1 = \frac{c}{c(1-k)+k}$, $k = (r+1)^2/8$ (Karis 2013, "Real
    /// shading in Unreal Engine 4").
    SchlickKaris,
}

impl Shadowing {
    /// $G/(4\cos\theta_i\cos\theta_o)$, 1: finite also where both cosines vanish together slowly.
    pub(crate) fn visibility<S: Scalar>(self, roughness: S, cos_in: S, cos_out: S) -> S {
        let alpha = roughness * roughness;
        match self {
            Self::SmithCorrelated => {
                let both =
                    cos_in * smith_root(cos_out, alpha) + cos_out * smith_root(cos_in, alpha);
                S::from(0.5) / both
            }
            Self::SmithSeparable => {
                let one = |cos| cos + smith_root(cos, alpha);
                S::one() / (one(cos_in) * one(cos_out))
            }
            Self::SchlickKaris => {
                let k = (roughness + 1.0) * (roughness + 1.0) / 8.0;
                let one = |cos: S| cos * (-k + 1.0) + k;
                S::from(0.25) / (one(cos_in) * one(cos_out))
            }
        }
    }
}

/// $\sqrt{\alpha^2 + (1-\alpha^2)\cos^2\theta}$, so that Smith's $G_1 = 2c/(c + \text{this})$.
fn smith_root<S: Scalar>(cos: S, alpha: S) -> S {
    let alpha2 = alpha * alpha;
    (alpha2 + (-alpha2 + 1.0) * cos * cos).sqrt()
}

/// The GGX distribution of facet normals, 1/sr.
pub(crate) fn ggx<S: Scalar>(cos_half: S, roughness: S) -> S {
    let alpha = roughness * roughness;
    let alpha2 = alpha * alpha;
    let cos2 = cos_half * cos_half;
    let spread = cos2 * alpha2 + (-cos2 + 1.0);
    alpha2 / (spread * spread * PI)
}

impl<S: Scalar> Fresnel<S> {
    /// Reflectance of a facet that light meets at this cosine.
    pub fn reflectance(&self, cos: S) -> S {
        match *self {
            Self::Dielectric { index } => fresnel::dielectric(cos, index).mean(),
            Self::Conductor { n, k } => fresnel::conductor(cos, n, k).mean(),
            Self::Schlick { at_normal } => fresnel::schlick(cos, at_normal),
        }
    }
}

impl<S: Scalar> Microfacet<S> {
    /// Distribution of facet normals $D$ at a facet's cosine to the surface normal, 1/sr;
    /// $\int D\cos\theta_h\\,\mathrm{d}\omega_h = 1$.
    pub fn distribution(&self, cos_half: S) -> S {
        ggx(cos_half, self.roughness)
    }

    /// Shadowing and masking $G$ in [0, 1] for light that arrives and leaves at these cosines.
    pub fn shadowing(&self, cos_in: S, cos_out: S) -> S {
        let visibility = self.shadowing.visibility(self.roughness, cos_in, cos_out);
        visibility * cos_in * cos_out * 4.0
    }

    pub(crate) fn backscatter(&self, cos_incidence: S) -> S {
        let cos = facing(cos_incidence);
        self.distribution(cos)
            * self.shadowing.visibility(self.roughness, cos, cos)
            * self.fresnel.reflectance(S::one())
    }

    pub(crate) fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>) -> S {
        let half = (incoming + outgoing).normalize();
        let (cos_in, cos_out) = (facing(incoming.z), facing(outgoing.z));
        self.distribution(half.z)
            * self.shadowing.visibility(self.roughness, cos_in, cos_out)
            * self.fresnel.reflectance(incoming.dot(&half))
    }
}

impl Microfacet<f64> {
    /// Reflects about a facet that the light can see; may point into the surface.
    pub(crate) fn sample(&self, incoming: &Vector3<f64>, [u, v]: [f64; 2]) -> Vector3<f64> {
        let half = visible_facet(incoming, self.roughness, [u, v]);
        half * (2.0 * incoming.dot(&half)) - incoming
    }

    pub(crate) fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>) -> f64 {
        let half = (incoming + outgoing).normalize();
        visible_pdf(incoming, &half, self.roughness) / (4.0 * incoming.dot(&half))
    }
}

/// A facet normal drawn from those that `incoming` can see (Heitz 2018, JCGT 7(4)).
pub(crate) fn visible_facet(
    incoming: &Vector3<f64>,
    roughness: f64,
    [u, v]: [f64; 2],
) -> Vector3<f64> {
    let alpha = roughness * roughness;
    let view = Vector3::new(alpha * incoming.x, alpha * incoming.y, incoming.z).normalize();
    let across = view.x.hypot(view.y);
    let first = if across > 1e-12 {
        Vector3::new(-view.y, view.x, 0.0) / across
    } else {
        Vector3::x()
    };
    let second = view.cross(&first);
    let (radius, azimuth) = (u.sqrt(), TAU * v);
    let t1 = radius * azimuth.cos();
    let blend = 0.5 * (1.0 + view.z);
    let t2 = (1.0 - blend) * (1.0 - t1 * t1).max(0.0).sqrt() + blend * radius * azimuth.sin();
    let up = (1.0 - t1 * t1 - t2 * t2).max(0.0).sqrt();
    let facet = first * t1 + second * t2 + view * up;
    Vector3::new(alpha * facet.x, alpha * facet.y, facet.z.max(1e-12)).normalize()
}

/// Density of [`visible_facet`], 1/sr: $G_1 D\\,(i\cdot h)/\cos\theta_i$.
pub(crate) fn visible_pdf(incoming: &Vector3<f64>, half: &Vector3<f64>, roughness: f64) -> f64 {
    let toward = incoming.dot(half);
    if toward <= 0.0 {
        return 0.0;
    }
    let alpha = roughness * roughness;
    2.0 * ggx(half.z, roughness) * toward / (incoming.z + smith_root(incoming.z, alpha))
}
