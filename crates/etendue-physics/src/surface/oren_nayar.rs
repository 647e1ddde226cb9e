//! Diffuse reflection of a rough surface.

use super::angle::{facing, quarter_turn_squared, sine, tan_squared, three_halves};
use crate::Scalar;
use nalgebra::Vector3;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// A surface of Lambertian facets whose slopes are spread as a Gaussian (Oren and Nayar 1994,
/// doi:10.1145/192161.192213).
///
/// With $\alpha, \beta$ the smaller and the larger of the two angles to the normal:
///
/// - qualitative (eq. 30): $f = \frac{\rho}{\pi}[A + B\max(0,\cos\Delta\phi)\sin\alpha\tan\beta]$,
///   $A = 1 - \tfrac12\frac{\sigma^2}{\sigma^2+0.33}$, $B = 0.45\frac{\sigma^2}{\sigma^2+0.09}$;
/// - full (eqs. 26-28): $C_1..C_3$, and the light that goes from facet to facet.
///
/// Both are fits that grow without bound at grazing angles. Where the fit alone would reflect
/// more light than arrived, $E(\theta) > 1$, it is divided by $E$ at either end of the path:
/// reciprocal, at most one, and the formula itself everywhere else.
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
    /// BRDF back into the direction of the light, 1/sr:
    /// $\frac{\rho}{\pi}[A + B\sin\theta\tan\theta]$, for the full model plus the light between
    /// facets.
    pub(crate) fn backscatter(&self, cos_incidence: S) -> S {
        let cos = facing(cos_incidence);
        let fit = self.fit();
        let first = fit.constant + fit.tangent * tan_squared(cos) * cos;
        let second = fit.second * (-quarter_turn_squared(cos) + 1.0);
        let limit = self.energy_limit(cos);
        self.reflectance / PI * (first + second) * limit * limit
    }

    /// BRDF, 1/sr. Both directions point away from the surface.
    pub(crate) fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>) -> S {
        let (cos_in, cos_out) = (facing(incoming.z), facing(outgoing.z));
        let (cos_small, cos_large) = if cos_in.value() > cos_out.value() {
            (cos_in, cos_out)
        } else {
            (cos_out, cos_in)
        };
        // sin alpha sin beta cos(delta azimuth)
        let aligned = incoming.x * outgoing.x + incoming.y * outgoing.y;
        let pair = Pair {
            cos_small,
            cos_large,
            aligned,
        };
        let shape = match self.form {
            OrenNayarForm::Qualitative => pair.qualitative(&self.fit()),
            OrenNayarForm::Full { .. } => pair.full(&self.fit()),
        };
        self.reflectance / PI * shape * self.energy_limit(cos_in) * self.energy_limit(cos_out)
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

    /// One over the fit's own directional albedo where that exceeds one, else one.
    fn energy_limit(&self, cos: S) -> S {
        if self.to_value().fitted_albedo(cos.value()) <= 1.0 {
            return S::one();
        }
        S::one() / self.fitted_albedo(cos)
    }

    fn to_value(self) -> OrenNayar<f64> {
        OrenNayar {
            reflectance: self.reflectance.value(),
            slope_sd: self.slope_sd.value(),
            form: self.form,
        }
    }

    /// Fraction of the power that the fit reflects before it is limited.
    fn fitted_albedo(&self, cos: S) -> S {
        let fit = self.fit();
        let spread = match self.form {
            OrenNayarForm::Qualitative => fit.tangent * qualitative_integral(cos) * (2.0 / PI),
            OrenNayarForm::Full { .. } => full_integral(&fit, cos),
        };
        self.reflectance * (fit.constant + spread + fit.second)
    }
}

/// $\int\sin\alpha\tan\beta\cos\theta_r\sin\theta_r\\,\mathrm{d}\theta_r = \tfrac13\tan\theta\sin^3\theta + \sin\theta\\,(\tfrac\pi4 - \tfrac\theta2 + \tfrac14\sin2\theta)$.
fn qualitative_integral<S: Scalar>(cos: S) -> S {
    let sin = sine(cos);
    let sin2 = sin * sin;
    let toward_grazing = -cos.acos() * 0.5 + sin * cos * 0.5 + FRAC_PI_4;
    sin2 * sin2 / cos / 3.0 + sin * toward_grazing
}

/// The full model's terms beyond the constant, integrated over outgoing directions: exactly over
/// azimuth, by Gauss' rule over the angle to the normal, in two pieces that meet at the kink.
fn full_integral<S: Scalar>(fit: &Fit<S>, cos: S) -> S {
    let incidence = cos.acos();
    let below = gauss(|x| full_ring(fit, incidence * x, cos)) * incidence;
    let rest = -incidence + FRAC_PI_2;
    let above = gauss(|x| full_ring(fit, incidence + rest * x, cos)) * rest;
    (below + above) / PI
}

/// One ring of outgoing directions at the angle `outgoing` to the normal.
fn full_ring<S: Scalar>(fit: &Fit<S>, outgoing: S, cos_in: S) -> S {
    let (cos, sin) = (facing(outgoing.cos()), outgoing.sin());
    let (cos_small, cos_large) = if cos.value() > cos_in.value() {
        (cos, cos_in)
    } else {
        (cos_in, cos)
    };
    let pair = Pair {
        cos_small,
        cos_large,
        aligned: S::zero(),
    };
    // The mean of |cos| over either half turn is 2/pi: each half integrates to 2.
    let azimuth = (pair.toward(fit) - pair.away(fit)) * 2.0 + pair.grazing(fit) * (2.0 * PI - 4.0);
    azimuth * sin * cos
}

/// Gauss and Legendre's rule with eight points on [0, 1].
fn gauss<S: Scalar>(f: impl Fn(f64) -> S) -> S {
    const NODES: [(f64, f64); 4] = [
        (0.183_434_642_495_649_8, 0.362_683_783_378_362),
        (0.525_532_409_916_329, 0.313_706_645_877_887_3),
        (0.796_666_477_413_626_7, 0.222_381_034_453_374_47),
        (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
    ];
    NODES.iter().fold(S::zero(), |sum, &(x, weight)| {
        sum + (f(0.5 + 0.5 * x) + f(0.5 - 0.5 * x)) * (0.5 * weight)
    })
}

/// A pair of directions: cosines of the smaller and the larger angle to the normal.
struct Pair<S> {
    cos_small: S,
    cos_large: S,
    aligned: S,
}

impl<S: Scalar> Pair<S> {
    fn qualitative(&self, fit: &Fit<S>) -> S {
        if self.aligned.value() <= 0.0 {
            return fit.constant;
        }
        fit.constant + fit.tangent * self.aligned / self.cos_large
    }

    fn full(&self, fit: &Fit<S>) -> S {
        let cos_azimuth = self.cos_azimuth();
        let (sided, away) = if cos_azimuth.value() >= 0.0 {
            (fit.tangent * self.aligned / self.cos_large, cos_azimuth)
        } else {
            (self.away(fit) * cos_azimuth, -cos_azimuth)
        };
        let second = fit.second * (-cos_azimuth * quarter_turn_squared(self.cos_large) + 1.0);
        fit.constant + sided + (-away + 1.0) * self.grazing(fit) + second
    }

    fn cos_azimuth(&self) -> S {
        let sines = sine(self.cos_small) * sine(self.cos_large);
        if sines.value() < 1e-12 {
            S::zero()
        } else {
            self.aligned / sines
        }
    }

    /// $C_2\tan\beta$ on the light's side.
    fn toward(&self, fit: &Fit<S>) -> S {
        fit.tangent * sine(self.cos_small) * sine(self.cos_large) / self.cos_large
    }

    /// $C_2\tan\beta$ on the far side; at most $C_1$, so that the BRDF stays positive where the
    /// fit does not.
    fn away(&self, fit: &Fit<S>) -> S {
        let turn = three_halves(quarter_turn_squared(self.cos_large));
        let term =
            fit.tangent * (sine(self.cos_small) - turn) * sine(self.cos_large) / self.cos_large;
        if term.value() > fit.constant.value() {
            fit.constant
        } else {
            term
        }
    }

    /// $C_3\tan\frac{\alpha+\beta}{2}$.
    fn grazing(&self, fit: &Fit<S>) -> S {
        let turns = quarter_turn_squared(self.cos_small) * quarter_turn_squared(self.cos_large);
        let tangent =
            (sine(self.cos_small) + sine(self.cos_large)) / (self.cos_small + self.cos_large);
        fit.both_grazing * turns * tangent
    }
}
