//! Elementary functions by series: the same bits on every machine and with any instructions, and made
//! for vector instructions.

pub(crate) use crate::random::ln;
use std::f64::consts::{FRAC_PI_2, LN_2, LOG2_E};

/// $e^x$; of numbers outside of ±700 that of the nearest within.
///
/// With $x = k\ln2 + r$, $|r| \le \tfrac12\ln2$, $e^x = 2^k e^r$; of the series in $r$ the first term
/// that is left out is below 2e-16.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // Adding this rounds to a whole number, which then stands in the lowest bits.
    const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64;
    // Of few bits, so that its multiples are exact.
    const LN_2_HIGH: f64 = f64::from_bits(LN_2.to_bits() & !0xffff_ffff);
    // From Cody and Waite, to 1e-27: ln 2 = 0.6931471805599453094172321215.
    const LN_2_LOW: f64 = (LN_2 - LN_2_HIGH) + 2.319_046_813_846_3e-17;
    let x = x.clamp(-700.0, 700.0);
    let rounded = x * LOG2_E + ROUNDER;
    let k = rounded - ROUNDER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = 1.0;
    for n in [
        12.0, 11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0,
    ] {
        sum = 1.0 + sum * (r * (1.0 / n));
    }
    sum * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// $\arccos x$ for $x$ in [0, 1], rad, to 1e-13.
///
/// By $\arccos x = \tfrac\pi2 - \arcsin x$ below a half and $2\arcsin\sqrt{(1-x)/2}$ above, with the
/// series of the arc sine up to a half.
#[inline(always)]
pub(crate) fn acos(x: f64) -> f64 {
    const TERMS: usize = 18;
    /// Ratios of each term to the one before, less the square: $(2n-1)^2/(2n(2n+1))$.
    const RATIOS: [f64; TERMS] = {
        let mut ratios = [0.0; TERMS];
        let (mut i, mut n) = (0, 1.0);
        while i < TERMS {
            ratios[i] = (2.0 * n - 1.0) * (2.0 * n - 1.0) / (2.0 * n * (2.0 * n + 1.0));
            i += 1;
            n += 1.0;
        }
        ratios
    };
    let above = 0.5 * (1.0 - x);
    let (square, sine) = if x < 0.5 {
        (x * x, x)
    } else {
        (above, above.sqrt())
    };
    let mut sum = 1.0;
    for ratio in RATIOS.iter().rev() {
        sum = 1.0 + sum * (ratio * square);
    }
    let arc = sine * sum;
    if x < 0.5 { FRAC_PI_2 - arc } else { 2.0 * arc }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured: 3.3e-16.
    #[test]
    fn the_exponential_is_right_to_the_last_bits() {
        let worst = (-69_000..69_000)
            .map(|i| f64::from(i) * 0.010_1)
            .map(|x| (exp(x) / x.exp() - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-15, "{worst:e}");
        assert_eq!(exp(0.0), 1.0);
        assert_eq!([exp(1e9), exp(-1e9)], [exp(700.0), exp(-700.0)]);
    }

    /// Measured: 1.6e-14.
    #[test]
    fn the_arc_cosine_is_right_to_1e_13() {
        let worst = (0..=200_000)
            .map(|i| f64::from(i) / 200_000.0)
            .map(|x| (acos(x) - x.acos()).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-13, "{worst:e}");
        assert_eq!([acos(0.0), acos(1.0)], [FRAC_PI_2, 0.0]);
    }
}
