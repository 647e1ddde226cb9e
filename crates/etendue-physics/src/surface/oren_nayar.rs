//! Diffuse reflection of a rough surface.

use super::angle::{facing, quarter_turn_squared, sine, tan_squared, three_halves};
use crate::Scalar;
use nalgebra::Vector3;
use std::f64::consts::PI;

/// A surface of Lambertian facets whose slopes are spread as a Gaussian (Oren and Nayar 1994,
/// doi:10.1145/192161.192213).
///
/// With $\alpha, \beta$ the larger and the smaller of the two angles to the normal:
///
/// - qualitative (eq. 30): $f = \frac{\rho}{\pi}[A + B\max(0,\cos\Delta\phi)\sin\alpha\tan\beta]$,
///   $A = 1 - \tfrac12\frac{\sigma^2}{\sigma^2+0.33}$, $B = 0.45\frac{\sigma^2}{\sigma^2+0.09}$;
/// - full (eqs. 26-28): $C_1..C_3$, and the light that goes from facet to facet.
///
/// Both are fits, and for facets that reflect everything they return up to 1.5 % (the full model
/// with the light between facets 5 %) more than arrives at grazing angles;
/// [`Material::validate`](super::Material::validate) refuses such a reflectance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrenNayar<T> {
    /// Reflectance of a facet.
    pub reflectance: T,
    /// Standard deviation of the facets' slope, **rad** (not a roughness from 0 to 1).
    pub slope_sd: T,
    /// Which of the paper's models.
    pub form: OrenNayarForm,
}

/// Which of Oren and Nayar's models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrenNayarForm {
    /// The qualitative model: $A$ and $B$ only.
    #[default]
    Qualitative,
    /// $C_1..C_3$.
    Full {
        /// Adds the light reflected from one facet to another (eq. 28).
        inter_reflection: bool,
    },
}

/// The coefficients that depend on the slopes alone.
struct Fit<S> {
    constant: S,
    tangent: S,
    both_grazing: S,
    /// Of the light between facets, with the reflectance folded in.
    second: S,
}

impl<S: Scalar> OrenNayar<S> {
    /// $\frac{\rho}{\pi}[A + B\sin\theta\tan\theta]$, for the full model plus the light between
    /// facets.
    pub(crate) fn backscatter(&self, cos_incidence: S) -> S {
        let cos = facing(cos_incidence);
        let fit = self.fit();
        let first = fit.constant + fit.tangent * tan_squared(cos) * cos;
        let second = fit.second * (-quarter_turn_squared(cos) + 1.0);
        self.reflectance / PI * (first + second)
    }

    pub(crate) fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>) -> S {
        let pair = Pair::of(incoming, outgoing);
        let shape = match self.form {
            OrenNayarForm::Qualitative => pair.qualitative(&self.fit()),
            OrenNayarForm::Full { .. } => pair.full(&self.fit()),
        };
        self.reflectance / PI * shape
    }

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
        let (cos_in, cos_out) = (facing(incoming.z), facing(outgoing.z));
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
