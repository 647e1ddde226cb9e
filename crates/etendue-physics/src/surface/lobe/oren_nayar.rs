//! Diffuse reflection of a rough surface.

use crate::Scalar;
use crate::surface::cosine::{facing, quarter_turn_squared, sine, tan_squared, three_halves};
use crate::surface::interaction::Side;
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter, REFLECTANCE};
use crate::surface::sampling::{cosine_hemisphere_pdf, sample_cosine_hemisphere};
use nalgebra::Vector3;
use std::f64::consts::PI;

const SLOPE_SD: Domain = Domain {
    name: "slope_sd",
    least: 0.0,
    most: 1.5,
    remedy: "it is the facets' slope, rad",
};

/// A surface of Lambertian facets whose slopes are spread as a Gaussian (Oren and Nayar 1994,
/// doi:10.1145/192161.192213).
///
/// With the reflectance $\rho$ and the slope deviation $\sigma$ of the facets, the larger and the smaller of
/// the angles to the normal $\alpha, \beta$, and the difference of the azimuths $\Delta\phi$:
///
/// - qualitative (eq. 30): $f = \frac{\rho}{\pi}[A + B\max(0,\cos\Delta\phi)\sin\alpha\tan\beta]$,
///   $A = 1 - \tfrac12\frac{\sigma^2}{\sigma^2+0.33}$, $B = 0.45\frac{\sigma^2}{\sigma^2+0.09}$;
/// - full (eqs. 26-28): $C_1..C_3$, and interreflection between facets.
///
/// Both are fits. For facets of reflectance 1 they return up to 1.5 % (the full model with
/// interreflection 5 %) more than arrives at grazing angles;
/// [`Material::validate`](crate::surface::Material::validate) rejects such a reflectance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrenNayar<T> {
    /// Reflectance of a facet.
    pub reflectance: T,
    /// Standard deviation of the facets' slope, **rad** (not a roughness from 0 to 1).
    pub slope_sd: T,
    /// Form of the model.
    pub form: OrenNayarForm,
}

/// Form of the Oren-Nayar model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrenNayarForm {
    /// The qualitative model: $A$ and $B$ only.
    #[default]
    Qualitative,
    /// $C_1..C_3$.
    Full {
        /// Adds interreflection between facets (eq. 28).
        inter_reflection: bool,
    },
}

/// Coefficients of the fit that depend only on the slopes.
struct Fit<S> {
    constant: S,
    tangent: S,
    both_grazing: S,
    /// Interreflection, with the reflectance folded in.
    second: S,
}

impl<T> OrenNayar<T> {
    pub(super) fn try_map<U, E>(
        &self,
        f: &mut MapParameter<'_, T, U, E>,
    ) -> Result<OrenNayar<U>, E> {
        Ok(OrenNayar {
            reflectance: f(&REFLECTANCE, &self.reflectance)?,
            slope_sd: f(&SLOPE_SD, &self.slope_sd)?,
            form: self.form,
        })
    }
}

impl<T> Classify for OrenNayar<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "oren-nayar",
            scatters: true,
            is_specular: false,
            transmits: false,
        }
    }
}

impl<S: Scalar> Scatter<S> for OrenNayar<S> {
    /// $\frac{\rho}{\pi}[A + B\sin\theta\tan\theta]$, for the full model plus the
    /// interreflection.
    fn backscatter(&self, cos_incidence: S, _side: Side) -> S {
        let cos = facing(cos_incidence);
        let fit = self.fit();
        let first = fit.constant + fit.tangent * tan_squared(cos) * cos;
        let second = fit.second * (-quarter_turn_squared(cos) + 1.0);
        self.reflectance / PI * (first + second)
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, _side: Side) -> S {
        let pair = Pair::of(incoming, outgoing);
        let shape = match self.form {
            OrenNayarForm::Qualitative => pair.qualitative(&self.fit()),
            OrenNayarForm::Full { .. } => pair.full(&self.fit()),
        };
        self.reflectance / PI * shape
    }
}

impl<S: Scalar> OrenNayar<S> {
    /// Multiplies the reflectance by a factor in [0, 1].
    pub(super) fn tint(&mut self, factor: S) {
        self.reflectance *= factor;
    }
}

impl SampleLobe for OrenNayar<f64> {
    fn importance(&self, _cos_incidence: f64) -> f64 {
        self.reflectance
    }

    fn sample(
        &self,
        _incoming: &Vector3<f64>,
        _side: Side,
        [_, u, v]: [f64; 3],
    ) -> Option<Vector3<f64>> {
        Some(sample_cosine_hemisphere([u, v]))
    }

    fn pdf(&self, _incoming: &Vector3<f64>, outgoing: &Vector3<f64>, _side: Side) -> f64 {
        cosine_hemisphere_pdf(outgoing.z)
    }
}

impl<S: Scalar> OrenNayar<S> {
    fn fit(&self) -> Fit<S> {
        let variance = self.slope_sd * self.slope_sd;
        let near = variance / (variance + 0.09);
        let (both_grazing, second) = match self.form {
            OrenNayarForm::Qualitative => (S::zero(), S::zero()),
            OrenNayarForm::Full { inter_reflection } => {
                let share = if inter_reflection { 0.17 } else { 0.0 };
                let second = self.reflectance * variance / (variance + 0.13) * share;
                (near * 0.125, second)
            }
        };
        Fit {
            constant: -variance / (variance + 0.33) * 0.5 + 1.0,
            tangent: near * 0.45,
            both_grazing,
            second,
        }
    }
}

/// Two directions: $\alpha$ is the larger angle to the normal, $\beta$ the smaller.
struct Pair<S> {
    cos_alpha: S,
    cos_beta: S,
    /// $\sin\alpha\sin\beta\cos\Delta\phi$.
    aligned: S,
}

impl<S: Scalar> Pair<S> {
    fn of(incoming: &Vector3<S>, outgoing: &Vector3<S>) -> Self {
        let cos_in = facing(incoming.z);
        let cos_out = facing(outgoing.z);
        let (cos_alpha, cos_beta) = if cos_in.value() > cos_out.value() {
            (cos_out, cos_in)
        } else {
            (cos_in, cos_out)
        };
        Self {
            cos_alpha,
            cos_beta,
            aligned: incoming.x * outgoing.x + incoming.y * outgoing.y,
        }
    }

    fn qualitative(&self, fit: &Fit<S>) -> S {
        if self.aligned.value() <= 0.0 {
            return fit.constant;
        }
        fit.constant + fit.tangent * self.aligned / self.cos_beta
    }

    fn full(&self, fit: &Fit<S>) -> S {
        let cos_azimuth = self.cos_azimuth();
        let (sided, sideways) = if cos_azimuth.value() >= 0.0 {
            (
                fit.tangent * self.aligned / self.cos_beta,
                -cos_azimuth + 1.0,
            )
        } else {
            (self.away(fit) * cos_azimuth, cos_azimuth + 1.0)
        };
        let second = fit.second * (-cos_azimuth * quarter_turn_squared(self.cos_beta) + 1.0);
        fit.constant + sided + sideways * self.grazing(fit) + second
    }

    fn cos_azimuth(&self) -> S {
        let sines = sine(self.cos_alpha) * sine(self.cos_beta);
        if sines.value() < 1e-12 {
            S::zero()
        } else {
            self.aligned / sines
        }
    }

    /// $C_2\tan\beta$ on the side away from the light; at most $C_1$, so that the BRDF stays
    /// positive where the fit does not (steep slopes, both directions grazing).
    fn away(&self, fit: &Fit<S>) -> S {
        let turn = three_halves(quarter_turn_squared(self.cos_beta));
        let tan_beta = sine(self.cos_beta) / self.cos_beta;
        let term = fit.tangent * (sine(self.cos_alpha) - turn) * tan_beta;
        if term.value() > fit.constant.value() {
            fit.constant
        } else {
            term
        }
    }

    /// $C_3\tan\frac{\alpha+\beta}{2}$.
    fn grazing(&self, fit: &Fit<S>) -> S {
        let turns = quarter_turn_squared(self.cos_alpha) * quarter_turn_squared(self.cos_beta);
        let tangent =
            (sine(self.cos_alpha) + sine(self.cos_beta)) / (self.cos_alpha + self.cos_beta);
        fit.both_grazing * turns * tangent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Lobe;
    use crate::surface::lobe::conformance::{assert_lobe_conforms, cos_degrees, material};

    const FORMS: [OrenNayarForm; 3] = [
        OrenNayarForm::Qualitative,
        OrenNayarForm::Full {
            inter_reflection: false,
        },
        OrenNayarForm::Full {
            inter_reflection: true,
        },
    ];

    #[test]
    fn energy_is_conserved_and_the_brdf_is_reciprocal() {
        for form in FORMS {
            assert_lobe_conforms(Lobe::OrenNayar(OrenNayar {
                reflectance: 0.9,
                slope_sd: 0.5,
                form,
            }));
        }
    }

    /// Greatest albedo at grazing incidence over all slopes.
    fn greatest_albedo(form: OrenNayarForm, reflectance: f64) -> f64 {
        let slopes = (1..30).map(|i| f64::from(i) * 0.03);
        let albedos = slopes.flat_map(|slope_sd| {
            let material = material(Lobe::OrenNayar(OrenNayar {
                reflectance,
                slope_sd,
                form,
            }));
            [60.0, 75.0, 85.0, 89.9]
                .map(|degrees| material.albedo(cos_degrees(degrees), Side::Front).reflected)
        });
        albedos.fold(0.0, f64::max)
    }

    /// Measured: 1.0150, 1.0037 and 1.0515 for facets of reflectance 1, at most 0.940 for 0.9.
    #[test]
    fn the_fits_create_light_only_for_perfectly_reflecting_facets() {
        for (form, expected) in FORMS.into_iter().zip([1.015, 1.004, 1.052]) {
            let greatest = greatest_albedo(form, 1.0);
            assert!((greatest - expected).abs() < 0.002, "{form:?}: {greatest}");
            assert!(greatest_albedo(form, 0.9) < 1.0);
        }
    }
}
