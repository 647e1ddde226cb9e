//! The GGX microfacet distribution with its masking-shadowing functions (Walter et al. 2007,
//! doi:10.2312/EGWR/EGSR07/195-206).

use super::parameter::Domain;
use crate::Scalar;
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

pub(super) const ROUGHNESS: Domain = Domain {
    name: "roughness",
    least: 0.01,
    most: 1.0,
    remedy: "below that a surface is a mirror: leave the roughness out",
};

/// Masking-shadowing function $G$ of a microfacet distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shadowing {
    /// Smith's height-correlated form (Heitz 2014, JCGT 3(2), eq. 99).
    #[default]
    SmithCorrelated,
    /// Smith's separable form $G_1(l)G_1(v)$ (Walter et al. 2007, eq. 34).
    SmithSeparable,
    /// Karis' form of Schlick's, $G_1 = \frac{c}{c(1-k)+k}$, $k = (r+1)^2/8$ (Karis 2013, "Real
    /// shading in Unreal Engine 4").
    SchlickKaris,
}

impl Shadowing {
    /// Visibility term $G/(4\cos\theta_i\cos\theta_o)$, dimensionless; finite at grazing angles.
    pub(super) fn visibility<S: Scalar>(self, roughness: S, cos_in: S, cos_out: S) -> S {
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

/// GGX distribution of facet normals, 1/sr:
/// $D = \frac{\alpha^2}{\pi(\cos^2\theta_h(\alpha^2-1)+1)^2}$ with the cosine of the angle $\theta_h$ between
/// facet normal and surface normal, and $\alpha = r^2$ of the roughness $r$ (Walter et al. 2007, eq. 33).
pub(super) fn ggx<S: Scalar>(cos_half: S, roughness: S) -> S {
    let alpha = roughness * roughness;
    let alpha2 = alpha * alpha;
    let cos2 = cos_half * cos_half;
    let spread = cos2 * alpha2 + (-cos2 + 1.0);
    alpha2 / (spread * spread * PI)
}

/// A facet normal drawn from the distribution of normals visible from `incoming` (Heitz 2018,
/// JCGT 7(4)), from two uniform numbers in [0, 1).
pub(super) fn visible_facet(
    incoming: &Vector3<f64>,
    roughness: f64,
    [u, v]: [f64; 2],
) -> Vector3<f64> {
    // Stretch the view direction to the hemisphere configuration.
    let alpha = roughness * roughness;
    let view = Vector3::new(alpha * incoming.x, alpha * incoming.y, incoming.z).normalize();

    // Build an orthonormal basis around it.
    let across = view.x.hypot(view.y);
    let first = if across > 1e-12 {
        Vector3::new(-view.y, view.x, 0.0) / across
    } else {
        Vector3::x()
    };
    let second = view.cross(&first);

    // Sample the projected area of the visible hemisphere.
    let radius = u.sqrt();
    let azimuth = TAU * v;
    let t1 = radius * azimuth.cos();
    let blend = 0.5 * (1.0 + view.z);
    let t2 = (1.0 - blend) * (1.0 - t1 * t1).max(0.0).sqrt() + blend * radius * azimuth.sin();
    let up = (1.0 - t1 * t1 - t2 * t2).max(0.0).sqrt();

    // Reproject onto the hemisphere and unstretch.
    let facet = first * t1 + second * t2 + view * up;
    Vector3::new(alpha * facet.x, alpha * facet.y, facet.z.max(1e-12)).normalize()
}

/// Density of [`visible_facet`], 1/sr: $G_1 D\\,(i\cdot h)/\cos\theta_i$.
pub(super) fn visible_pdf(incoming: &Vector3<f64>, half: &Vector3<f64>, roughness: f64) -> f64 {
    let toward = incoming.dot(half);
    if toward <= 0.0 {
        return 0.0;
    }
    let alpha = roughness * roughness;
    2.0 * ggx(half.z, roughness) * toward / (incoming.z + smith_root(incoming.z, alpha))
}
