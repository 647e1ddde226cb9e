//! Fresnel reflectance of a plane interface.

use super::cosine::facing;
use crate::Scalar;

/// A power fraction for each of the two linear polarisations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polarised<S> {
    /// Electric field perpendicular to the plane of incidence.
    pub s: S,
    /// Electric field in the plane of incidence.
    pub p: S,
}

impl<S: Scalar> Polarised<S> {
    /// Reflectance for unpolarised light: the mean of both.
    pub fn mean(self) -> S {
        (self.s + self.p) * 0.5
    }

    /// Applies a function to each polarisation.
    #[must_use]
    pub fn map(self, f: impl Fn(S) -> S) -> Self {
        Self {
            s: f(self.s),
            p: f(self.p),
        }
    }
}

/// Squared cosine of refraction below which light is treated as totally reflected: the derivative diverges
/// at the critical angle.
const TOTAL_REFLECTION: f64 = 1e-14;

/// Cosine of the refracted ray's angle (Snell): $\cos\theta_t = \sqrt{1 - (1-\cos^2\theta)/n^2}$
/// with $n$ = `index`, the index of the medium behind over that of the medium in front.
/// `None` under total internal reflection.
pub fn cos_refracted<S: Scalar>(cos_incidence: S, index: S) -> Option<S> {
    let squared = -(-cos_incidence * cos_incidence + 1.0) / (index * index) + 1.0;
    (squared.value() > TOTAL_REFLECTION).then(|| squared.sqrt())
}

/// Reflectance of an interface between two clear media, `index` = index behind over index in front.
///
/// $R_s = \left(\frac{\cos\theta - n\cos\theta_t}{\cos\theta + n\cos\theta_t}\right)^2$,
/// $R_p = \left(\frac{n\cos\theta - \cos\theta_t}{n\cos\theta + \cos\theta_t}\right)^2$
/// (Born and Wolf, Principles of Optics, section 1.5.2); one under total internal reflection.
///
/// ```
/// use etendue_physics::surface::fresnel;
/// assert!((fresnel::dielectric(1.0, 1.5).mean() - 0.04).abs() < 1e-15);
/// // Brewster's angle reflects no p-polarised light.
/// assert!(fresnel::dielectric(1.5_f64.atan().cos(), 1.5).p < 1e-30);
/// // From inside, beyond 41.8 degrees.
/// assert_eq!(fresnel::dielectric(0.5, 1.0 / 1.5).mean(), 1.0);
/// ```
pub fn dielectric<S: Scalar>(cos_incidence: S, index: S) -> Polarised<S> {
    let cos = facing(cos_incidence);
    let Some(cos_t) = cos_refracted(cos, index) else {
        return Polarised {
            s: S::one(),
            p: S::one(),
        };
    };
    let s = (cos - index * cos_t) / (cos + index * cos_t);
    let p = (index * cos - cos_t) / (index * cos + cos_t);
    Polarised { s: s * s, p: p * p }
}

/// Reflectance of a metal of complex index $n + ik$ in air (Born and Wolf, section 14.2):
/// with $a^2 + b^2 = \sqrt{(n^2 - k^2 - \sin^2\theta)^2 + 4n^2k^2}$,
///
/// $R_s = \frac{a^2 + b^2 - 2a\cos\theta + \cos^2\theta}{a^2 + b^2 + 2a\cos\theta + \cos^2\theta}$,
/// $R_p = R_s\frac{\cos^2\theta(a^2+b^2) - 2a\cos\theta\sin^2\theta + \sin^4\theta}{\cos^2\theta(a^2+b^2) + 2a\cos\theta\sin^2\theta + \sin^4\theta}$.
pub fn conductor<S: Scalar>(cos_incidence: S, n: S, k: S) -> Polarised<S> {
    let cos = facing(cos_incidence);
    let cos2 = cos * cos;
    let sin2 = -cos2 + 1.0;
    let real = n * n - k * k - sin2;
    let imaginary = n * k * 2.0;
    let modulus = (real * real + imaginary * imaginary).sqrt();
    // The second form of a^2 = (modulus + real)/2 avoids a difference of nearly equal numbers.
    let a = if real.value() > 0.0 {
        ((modulus + real) * 0.5).sqrt()
    } else {
        (imaginary * imaginary / ((modulus - real) * 2.0)).sqrt()
    };
    let even_s = modulus + cos2;
    let odd_s = a * cos * 2.0;
    let even_p = cos2 * modulus + sin2 * sin2;
    let odd_p = odd_s * sin2;
    let s = (even_s - odd_s) / (even_s + odd_s);
    Polarised {
        s,
        p: s * (even_p - odd_p) / (even_p + odd_p),
    }
}

/// Schlick's approximation $F_0 + (1 - F_0)(1 - \cos\theta)^5$ (Schlick 1994,
/// doi:10.1111/1467-8659.1330233).
pub fn schlick<S: Scalar>(cos_incidence: S, at_normal: S) -> S {
    let away = -cos_incidence + 1.0;
    at_normal + (-at_normal + 1.0) * away.powi(5)
}

/// Reflectance of a clear medium at normal incidence, $F_0 = \left(\frac{n-1}{n+1}\right)^2$.
pub fn normal_reflectance<S: Scalar>(index: S) -> S {
    let amplitude = (index - 1.0) / (index + 1.0);
    amplitude * amplitude
}

/// Reflectance of a clear medium for diffuse light from outside, $2\int_0^1 R(\mu)\mu\\,\mathrm{d}\mu$,
/// in closed form (Duntley 1942, doi:10.1364/JOSA.32.000061); `index` above 1.
pub fn diffuse_reflectance<S: Scalar>(index: S) -> S {
    let n = index;
    let n2 = n * n;
    let n3 = n2 * n;
    let n4 = n2 * n2;
    let plus = n2 + 1.0;
    let minus = n2 - 1.0;
    let fourth = n4 - 1.0;
    let linear = (n - 1.0) * (n * 3.0 + 1.0) / ((n + 1.0) * (n + 1.0) * 6.0);
    let logarithm = n2 * minus * minus / (plus * plus * plus) * ((n - 1.0) / (n + 1.0)).ln();
    let rational = n3 * (n2 + n * 2.0 - 1.0) * 2.0 / (plus * fourth);
    let last = n4 * (n4 + 1.0) * 8.0 / (plus * fourth * fourth) * n.ln();
    linear + logarithm - rational + last + 0.5
}

/// Nodes and weights of Gauss's rule for $2\\int_0^1 f(\\mu)\\mu\\,\\mathrm{d}\\mu$.
const DIFFUSE_RULE: [(f64, f64); 6] = [
    (0.073_054_328_680_258_9, 0.017_476_603_627_219_12),
    (0.230_766_137_969_945_44, 0.087_910_331_101_017_95),
    (0.441_328_481_228_449_86, 0.197_322_301_781_310_44),
    (0.663_015_309_718_845_7, 0.281_585_107_576_397_7),
    (0.851_921_400_331_515_6, 0.271_084_994_463_047_37),
    (0.970_683_572_840_215_1, 0.144_620_661_451_017_15),
];

/// Reflectance of a metal of complex index $n + ik$ for diffuse light, $2\int_0^1 R(\mu)\mu\\,\mathrm{d}\mu$, by
/// Gauss's rule with six nodes.
///
/// ```
/// use etendue_physics::surface::fresnel;
/// // Gold at 905 nm: 0.978 at normal incidence, less near 85 degrees.
/// assert!((fresnel::conductor(1.0, 0.16_f64, 5.8).mean() - 0.982).abs() < 1e-3);
/// assert!((fresnel::diffuse_conductor(0.16_f64, 5.8) - 0.980).abs() < 1e-3);
/// ```
pub fn diffuse_conductor<S: Scalar>(n: S, k: S) -> S {
    DIFFUSE_RULE.iter().fold(S::zero(), |sum, &(cos, weight)| {
        sum + conductor(S::from(cos), n, k).mean() * weight
    })
}

/// [`schlick`] for diffuse light, $F_0 + (1 - F_0)/21$.
pub fn diffuse_schlick<S: Scalar>(at_normal: S) -> S {
    at_normal + (-at_normal + 1.0) / 21.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_is_the_same_in_both_directions_through_an_interface() {
        for degrees in [0.0, 20.0, 50.0, 80.0] {
            let cos = f64::to_radians(degrees).cos();
            let cos_inside = cos_refracted(cos, 1.5).expect("no total reflection from outside");
            let inward = dielectric(cos, 1.5);
            let outward = dielectric(cos_inside, 1.0 / 1.5);
            assert!((inward.s - outward.s).abs() < 1e-14);
            assert!((inward.p - outward.p).abs() < 1e-14);
        }
    }

    #[test]
    fn the_reflectance_for_diffuse_light_is_the_integral_over_incidence() {
        for index in [1.05, 1.33, 1.5, 2.4] {
            let steps = 200_000;
            let sum: f64 = (0..steps)
                .map(|i| {
                    let cos_squared = (f64::from(i) + 0.5) / f64::from(steps);
                    dielectric(cos_squared.sqrt(), index).mean() / f64::from(steps)
                })
                .sum();
            // Measured: 9e-9.
            assert!((diffuse_reflectance(index) - sum).abs() < 1e-7);
        }
    }

    #[test]
    fn the_reflectances_of_metals_and_of_schlick_for_diffuse_light_are_the_integrals() {
        let steps = 200_000;
        let mean = |reflectance: &dyn Fn(f64) -> f64| -> f64 {
            (0..steps)
                .map(|i| reflectance(((f64::from(i) + 0.5) / f64::from(steps)).sqrt()))
                .sum::<f64>()
                / f64::from(steps)
        };
        for (n, k) in [
            (0.15, 5.3),
            (1.5, 8.0),
            (2.9, 3.1),
            (0.2, 3.4),
            (1.5, 0.001),
        ] {
            let integral = mean(&|cos| conductor(cos, n, k).mean());
            let error = diffuse_conductor(n, k) - integral;
            // Measured: 1.1e-5, for aluminium.
            assert!(error.abs() < 5e-5, "{n} {k}: {error}");
        }
        let error = diffuse_schlick(0.3) - mean(&|cos| schlick(cos, 0.3));
        // The error of the midpoint rule. Measured: 2.4e-9.
        assert!(error.abs() < 1e-8, "{error}");
    }
}
