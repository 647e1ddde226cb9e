//! Comparison of normal numbers with tail probabilities.

use crate::normal;
use crate::profile::reflectance::logistic;

/// Largest $|z|$ at which the polynomial is used.
const REACH: f64 = 5.0;

/// Coefficients of $\mathrm{logit}\,\Phi(z)/z$ in powers of $z^2$ (Chebyshev fit on $|z|\le5$).
const TERMS: [f64; 4] = [
    1.59356182369,
    0.0757668374381,
    -0.000992195536125,
    9.31153011103e-6,
];

/// Twice the largest error of the polynomial, measured 2.6e-3.
const MARGIN: f64 = 5.2e-3;

/// Whether $\Phi(z) \ge p$, for standard normal numbers $z$ and probabilities $p$ with the given logits,
/// with the standard normal distribution function $\Phi$.
///
/// It compares a polynomial approximation of $\mathrm{logit}\,\Phi(z)$ with $\mathrm{logit}\,p$. Where
/// their difference is within the error of the polynomial (about once in a thousand), it compares the
/// exact probabilities.
#[expect(
    clippy::inline_always,
    reason = "loops over a batch are compiled for the caller's target features"
)]
#[inline(always)]
pub(super) fn above<const N: usize>(draws: &[f64; N], logits: &[f64; N]) -> [bool; N] {
    let mut gaps = [0.0; N];
    let mut near = false;
    for i in 0..N {
        gaps[i] = logit(draws[i]) - logits[i];
        near |= is_near(draws[i], gaps[i]);
    }
    let mut above = [false; N];
    for i in 0..N {
        above[i] = gaps[i] >= 0.0;
    }
    if near {
        for i in 0..N {
            if is_near(draws[i], gaps[i]) && logits[i].is_finite() {
                above[i] = normal::probability(draws[i]) >= logistic(logits[i]);
            }
        }
    }
    above
}

/// Whether the difference is within the error of the polynomial, or the number outside its domain.
#[expect(clippy::inline_always, reason = "body of a loop over a batch")]
#[inline(always)]
fn is_near(draw: f64, gap: f64) -> bool {
    (gap.abs() < MARGIN) | (draw.abs() > REACH)
}

/// Approximation of $\ln\frac{\Phi(z)}{1-\Phi(z)}$.
#[expect(clippy::inline_always, reason = "body of a loop over a batch")]
#[inline(always)]
fn logit(z: f64) -> f64 {
    let square = z * z;
    let [a, b, c, d] = TERMS;
    z * ((a + b * square) + (c + d * square) * (square * square))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact in the upper tail as in the lower.
    fn exact(z: f64) -> f64 {
        let lower = normal::probability(-z.abs());
        -z.signum() * (lower / (1.0 - lower)).ln()
    }

    #[test]
    fn the_polynomial_is_exact_to_half_its_margin() {
        let worst = (-50_000..=50_000)
            .map(|i| 1e-4 * f64::from(i))
            .map(|z| (logit(z) - exact(z)).abs())
            .fold(0.0, f64::max);
        assert!(worst <= 0.5 * MARGIN, "{worst:e}");
    }

    #[test]
    fn decisions_equal_those_of_the_exact_probabilities() {
        for probability in [1e-4_f64, 1.34e-3, 0.0227, 0.158, 0.499, 0.9, 0.9999] {
            let logit = (probability / (1.0 - probability)).ln();
            for draw in (-5000..5000).map(|i| f64::from(i) * 1e-3) {
                let plain = normal::probability(draw) >= logistic(logit);
                assert_eq!(above(&[draw], &[logit]), [plain], "{draw} {probability}");
            }
        }
        for draw in [-8.5, 0.0, 8.5] {
            assert_eq!(above(&[draw], &[f64::NEG_INFINITY]), [true]);
            assert_eq!(above(&[draw], &[f64::INFINITY]), [false]);
        }
    }
}
