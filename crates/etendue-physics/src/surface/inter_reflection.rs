//! Light that is reflected more than once between the facets of a rough surface.

use super::cosine::facing;
use crate::Scalar;
use std::f64::consts::PI;
use std::ops::Add;

/// Light that leaves a surface of GGX facets after more than one reflection, as a lobe of its own (Kulla and
/// Conty 2017, "Revisiting physically based shading at Imageworks", SIGGRAPH course notes):
/// $f = c\\,\ell(\theta_i)\\,\ell(\theta_o)$.
///
/// $\ell(\theta)$ is the fraction of the light that facets of reflectance 1 do not reflect out of the surface
/// at the first reflection, with Smith's height-correlated shadowing, and $\bar\ell = 2\int\ell\mu\\,\mathrm{d}\mu$
/// its mean over diffuse light. The light of the reflection of order $k$ carries $\bar F^k$, with $\bar F$ the
/// reflectance of a facet for diffuse light, and the fraction $1 - \bar\ell$ of it leaves:
/// $c = \frac{1}{\pi\bar\ell}\frac{\bar F^2(1-\bar\ell)}{1-\bar F\bar\ell}$. White facets lose no light.
///
/// With $\alpha = r^2$ of the roughness $r$, $w = \frac{\mu(1+k)}{\mu+k}$ and the knee $k = \frac{2\alpha}{1+16\alpha^2}$,
/// $\ell = w\\,[(1-w+\alpha w)\\,p(2w-1)]^2$. The polynomial $p$ is fitted to numerical integrals over the facets
/// of $r$ in [0.01, 1] and all incidences; the albedo of white facets is 1 within 0.002. The total is right by
/// construction, its distribution over directions is an assumption.
///
/// ```
/// use etendue_physics::surface::{Fresnel, Microfacet, Shadowing};
/// let white = Microfacet {
///     roughness: 0.6,
///     fresnel: Fresnel::Schlick { at_normal: 1.0 },
///     shadowing: Shadowing::SmithCorrelated,
/// };
/// let light = white.inter_reflection().unwrap();
/// let cos = 80_f64.to_radians().cos();
/// // 16 % of the light is lost at the first reflection, and leaves after several.
/// assert!((light.lost(cos) - 0.163).abs() < 2e-3);
/// assert!((light.albedo(cos) - light.lost(cos)).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterReflection<S> {
    /// Factor $c$, 1/sr.
    pub factor: S,
    /// Mean $\bar\ell$ of the lost fraction over diffuse light.
    pub mean_lost: S,
    /// Width $\alpha$ of the distribution of facets.
    pub alpha: S,
    /// Knee $k$ of the cosine.
    pub knee: S,
    /// Coefficients of $p$, from the constant up.
    pub shape: [S; 6],
}

/// Coefficients of $p$: row $i$ has the polynomial in $2\alpha-1$ of the coefficient of order $i$, from the constant up.
const SHAPE: [[f64; 8]; 6] = [
    [
        0.786401, -0.102632, 0.045111, -0.103738, -0.033539, 0.172527, -0.043853, -0.038630,
    ],
    [
        0.255134, -0.302658, 0.209046, 0.053834, -0.787767, 0.732426, 0.217664, -0.330736,
    ],
    [
        0.129608, -0.161356, -0.046097, 0.730535, -0.769458, -0.144235, 0.420162, -0.084364,
    ],
    [
        0.072965, 0.005006, -0.693563, 0.770282, 0.770815, -1.252238, -0.172350, 0.481379,
    ],
    [
        0.013451, 0.216465, -0.236190, -0.509548, 0.975439, -0.103780, -0.529758, 0.217362,
    ],
    [
        -0.139154, 0.118766, 0.522890, -0.796225, -0.088326, 0.634377, -0.146894, -0.101986,
    ],
];

/// Coefficients of $\bar\ell/\alpha^2$, a polynomial in $\ln r$, from the constant up.
const MEAN_LOST: [f64; 8] = [
    0.590841, -1.493368, 1.023380, 0.889419, 0.269301, -0.019858, -0.016874, -0.001679,
];

impl<S: Scalar> InterReflection<S> {
    /// Of a roughness in [0.01, 1] and the reflectance $\bar F$ of a facet for diffuse light.
    pub(super) fn new(roughness: S, diffuse_reflectance: S) -> Self {
        let alpha = roughness * roughness;
        let mean_lost = polynomial(&MEAN_LOST, roughness.ln()) * alpha * alpha;
        let kept = -mean_lost + 1.0;
        let escaped = diffuse_reflectance * diffuse_reflectance * kept
            / (-diffuse_reflectance * mean_lost + 1.0);
        Self {
            factor: escaped / (mean_lost * PI),
            mean_lost,
            alpha,
            knee: alpha * 2.0 / (alpha * alpha * 16.0 + 1.0),
            shape: SHAPE.map(|row| polynomial(&row, alpha * 2.0 - 1.0)),
        }
    }

    /// Fraction $\ell$ of the light that white facets do not reflect out of the surface at once.
    pub fn lost(&self, cos_incidence: S) -> S {
        let cos = facing(cos_incidence);
        let w = cos * (self.knee + 1.0) / (cos + self.knee);
        let shape = polynomial(&self.shape, w * 2.0 - 1.0);
        let root = (-w + 1.0 + self.alpha * w) * shape;
        w * root * root
    }

    /// BRDF, 1/sr, at the cosines of incidence and of reflection.
    pub fn evaluate(&self, cos_in: S, cos_out: S) -> S {
        self.factor * self.lost(cos_in) * self.lost(cos_out)
    }

    /// Fraction of the light that leaves after more than one reflection.
    pub fn albedo(&self, cos_incidence: S) -> S {
        self.factor * self.mean_lost * self.lost(cos_incidence) * PI
    }
}

/// A polynomial with coefficients from the constant up, by Horner's rule.
fn polynomial<S: Scalar + Add<C, Output = S>, C: Copy>(coefficients: &[C], x: S) -> S {
    coefficients
        .iter()
        .rev()
        .fold(S::zero(), |sum, &coefficient| sum * x + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::ggx::{Shadowing, ggx, visible_facet, visible_pdf};
    use crate::surface::sampling::evenly_spread;
    use nalgebra::Vector3;

    /// Fraction that white facets reflect out of the surface at once: the mean weight of the directions that
    /// visible facets reflect into, in points of the square that are dense at grazing facets.
    fn kept_at_once(roughness: f64, cos: f64) -> f64 {
        let incoming = Vector3::new((1.0 - cos * cos).sqrt(), 0.0, cos);
        let samples = 200_000;
        let weight = |[s, v, _]: [f64; 3]| {
            let half = visible_facet(&incoming, roughness, [1.0 - s.powi(4), v]);
            let toward = incoming.dot(&half);
            let outgoing = half * (2.0 * toward) - incoming;
            if outgoing.z <= 0.0 {
                return 0.0;
            }
            let visibility = Shadowing::SmithCorrelated.visibility(roughness, cos, outgoing.z);
            let density = visible_pdf(&incoming, &half, roughness) / (4.0 * toward);
            let value = ggx(half.z, roughness) * visibility;
            value * outgoing.z / density * 4.0 * s.powi(3)
        };
        evenly_spread(samples).map(weight).sum::<f64>() / f64::from(samples)
    }

    #[test]
    fn the_lost_fraction_is_the_integral_over_the_facets() {
        for roughness in [0.05, 0.2, 0.35, 0.5, 0.6, 0.75, 0.9, 1.0] {
            let model = InterReflection::new(roughness, 1.0);
            for cos in [0.002, 0.01, 0.05, 0.17, 0.4, 0.7, 0.95, 0.9999] {
                let lost = 1.0 - kept_at_once(roughness, cos);
                let error = model.lost(cos) - lost;
                assert!(
                    error.abs() < 2e-3,
                    "{roughness} {cos}: {lost} off by {error}"
                );
            }
        }
    }

    /// At roughness 1 and normal incidence the integral is 1 - ln 2.
    #[test]
    fn the_lost_fraction_has_its_closed_form_at_normal_incidence() {
        let lost = InterReflection::new(1.0, 1.0).lost(1.0);
        assert!((lost - 2_f64.ln()).abs() < 1e-3, "{lost}");
    }

    #[test]
    fn white_facets_return_all_that_they_lose_at_once() {
        for step in 1..=100 {
            let model = InterReflection::new(f64::from(step) / 100.0, 1.0);
            // The mean by the midpoint rule in the logarithm of the cosine.
            let steps = 4000;
            let width = 1e9_f64.ln() / f64::from(steps);
            let mean: f64 = (0..steps)
                .map(|i| (-(f64::from(i) + 0.5) * width).exp())
                .map(|cos| 2.0 * model.lost(cos) * cos * cos * width)
                .sum();
            let relative = model.mean_lost / mean - 1.0;
            assert!(relative.abs() < 3e-3, "{step}: {relative}");
            let albedo = model.factor * PI * mean;
            assert!((albedo - 1.0).abs() < 3e-3, "{step}: {albedo}");
        }
    }
}
