//! Reflectance model that fills gaps of a noise profile and extrapolates it.

use crate::surface::{
    Fresnel, Lobe, Material, Microfacet, OrenNayar, OrenNayarForm, Shadowing, Side,
};
use std::f64::consts::PI;

/// Backscatter of a panel over incidence, normalised to 1 at normal incidence, with the dependence of
/// drop-out on power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReflectanceModel {
    /// Standard deviation of the facets' slope of the diffuse part (Oren and Nayar), rad.
    pub slope_sd: f64,
    /// The glossy part, if any.
    pub facets: Option<Facets>,
    /// Drop-out over received power.
    pub drop_out: DropOutModel,
}

/// Glossy part of the reflectance: a GGX microfacet lobe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facets {
    /// Roughness in [0.01, 1].
    pub roughness: f64,
    /// Share of the facets in the backscatter at normal incidence, in [0, 1].
    pub share: f64,
}

/// Drop-out probability $p$ as a logistic function of the logarithm of the received power:
/// $\mathrm{logit}\\,p = \ln\frac{p}{1-p} = a - b\ln P$, with $P$ relative to that at normal incidence and
/// the reference distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropOutModel {
    /// Logit $a$ at normal incidence and the reference distance.
    pub logit: f64,
    /// Slope $b \ge 0$: decrease of the logit per unit of $\ln P$.
    pub slope: f64,
}

impl Default for ReflectanceModel {
    /// A Lambertian panel without drop-outs.
    fn default() -> Self {
        Self {
            slope_sd: 0.0,
            facets: None,
            drop_out: DropOutModel {
                logit: -20.0,
                slope: 0.0,
            },
        }
    }
}

impl ReflectanceModel {
    /// Received power at an incidence (rad) over that at normal incidence, at the same distance $d$ of the
    /// **plane** of the panel: proportional to $f_r(\theta)\cos\theta/R^2$ with $R = d/\cos\theta$.
    pub fn power(&self, incidence: f64) -> f64 {
        let cos = incidence.cos().max(1e-6);
        self.backscatter(cos) * cos.powi(3)
    }

    /// Backscatter BRDF at a cosine of incidence over that at normal incidence, $f_r(\theta)/f_r(0)$.
    pub fn backscatter(&self, cos: f64) -> f64 {
        let diffuse = oren_nayar(self.slope_sd);
        let relative = |material: &Material<f64>| {
            material.backscatter(cos, Side::Front) / material.backscatter(1.0, Side::Front)
        };
        match self.facets {
            None => relative(&diffuse),
            Some(facets) => {
                let glossy = ggx(facets.roughness);
                (1.0 - facets.share) * relative(&diffuse) + facets.share * relative(&glossy)
            }
        }
    }

    /// Probability of a drop-out at an incidence (rad), at the reference distance.
    pub fn drop_out(&self, incidence: f64) -> f64 {
        logistic(self.drop_out.logit(self.power(incidence)))
    }

    /// The model as a material for light transport, with the backscatter at normal incidence of a
    /// Lambertian surface of the given reflectance.
    pub fn material(&self, reflectance: f64) -> Material<f64> {
        let part = |share: f64, material: Material<f64>| {
            let unit = material.backscatter(1.0, Side::Front) * PI / reflectance;
            material
                .lobes
                .into_iter()
                .map(move |lobe| Lobe::blend(share / unit, lobe))
        };
        let share = self.facets.map_or(0.0, |facets| facets.share);
        let mut lobes: Vec<_> = part(1.0 - share, oren_nayar(self.slope_sd)).collect();
        if let Some(facets) = self.facets {
            lobes.extend(part(facets.share, ggx(facets.roughness)));
        }
        Material { lobes }
    }
}

impl DropOutModel {
    /// The logit of the drop-out at a relative power.
    pub fn logit(&self, power: f64) -> f64 {
        self.logit - self.slope * power.max(1e-30).ln()
    }
}

/// Logistic function $1/(1+e^{-x})$.
pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Logit $\ln\frac{p}{1-p}$ of a probability, clamped to ±30.
pub(super) fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln().clamp(-30.0, 30.0)
}

fn oren_nayar(slope_sd: f64) -> Material<f64> {
    Material {
        lobes: vec![Lobe::OrenNayar(OrenNayar {
            reflectance: 1.0,
            slope_sd,
            form: OrenNayarForm::Qualitative,
        })],
    }
}

fn ggx(roughness: f64) -> Material<f64> {
    Material {
        lobes: vec![Lobe::Microfacet(Microfacet {
            roughness,
            fresnel: Fresnel::Schlick { at_normal: 1.0 },
            shadowing: Shadowing::SmithCorrelated,
        })],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_one_at_normal_incidence_for_every_model() {
        let glossy = ReflectanceModel {
            slope_sd: 0.4,
            facets: Some(Facets {
                roughness: 0.5,
                share: 0.7,
            }),
            ..ReflectanceModel::default()
        };
        for model in [ReflectanceModel::default(), glossy] {
            assert!((model.power(0.0) - 1.0).abs() < 1e-12);
            assert!(model.power(1.0) < model.power(0.5));
        }
    }

    /// At a fixed distance of the plane, the power from a Lambertian panel is proportional to the cube of
    /// the cosine: one factor for the incidence, two for the range.
    #[test]
    fn the_power_of_a_lambertian_panel_is_proportional_to_the_cube_of_the_cosine() {
        let power = ReflectanceModel::default().power(1.0);
        assert!((power - 1.0_f64.cos().powi(3)).abs() < 1e-12);
    }

    #[test]
    fn the_backscatter_of_the_material_equals_the_model() {
        let model = ReflectanceModel {
            slope_sd: 0.3,
            facets: Some(Facets {
                roughness: 0.6,
                share: 0.4,
            }),
            ..ReflectanceModel::default()
        };
        let material = model.material(0.5);
        for cos in [1.0, 0.7, 0.3] {
            let expected = 0.5 / PI * model.backscatter(cos);
            let found = material.backscatter(cos, Side::Front);
            assert!((found / expected - 1.0).abs() < 1e-9, "{cos}");
        }
    }
}
