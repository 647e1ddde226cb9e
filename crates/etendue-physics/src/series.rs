//! Elementary functions by series: the same bits on every machine and with any instructions, and made
//! for vector instructions.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, LN_2, LOG2_E, TAU};

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
    /// $1/n!$.
    const TERMS: [f64; 13] = {
        let mut terms = [1.0; 13];
        let (mut i, mut n) = (1, 1.0);
        while i < 13 {
            terms[i] = terms[i - 1] / n;
            i += 1;
            n += 1.0;
        }
        terms
    };
    let x = x.clamp(-700.0, 700.0);
    let rounded = x * LOG2_E + ROUNDER;
    let k = rounded - ROUNDER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let (square, fourth) = (r * r, (r * r) * (r * r));
    let high = four::<8>(&TERMS, r, square) + TERMS[12] * fourth;
    let low = four::<0>(&TERMS, r, square) + four::<4>(&TERMS, r, square) * fourth;
    let sum = low + high * (fourth * fourth);
    sum * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// $\arccos x$ for $x$ in [0, 1], rad, to 1e-13.
///
/// By $\arccos x = \tfrac\pi2 - \arcsin x$ below a half and $2\arcsin\sqrt{(1-x)/2}$ above, with a
/// polynomial of the arc sine up to a half.
#[inline(always)]
pub(crate) fn acos(x: f64) -> f64 {
    /// Of $\arcsin\sqrt z/\sqrt z$ for $z$ in [0, 1/4]: off by 2.6e-16 at most (Chebyshev).
    const TERMS: [f64; 12] = [
        0.9999999999999998,
        0.16666666666689706,
        0.07499999995624415,
        0.04464286038603156,
        0.030381820752221768,
        0.022374928823605693,
        0.017313700945909897,
        0.01432423514994457,
        0.009376473481056654,
        0.01825637024213353,
        -0.011693559679531318,
        0.03150477675162431,
    ];
    let above = 0.5 * (1.0 - x);
    let (square, sine) = if x < 0.5 {
        (x * x, x)
    } else {
        (above, above.sqrt())
    };
    let (second, fourth) = (square * square, (square * square) * (square * square));
    let high = four::<8>(&TERMS, square, second);
    let low = four::<0>(&TERMS, square, second) + four::<4>(&TERMS, square, second) * fourth;
    let sum = low + high * (fourth * fourth);
    let arc = sine * sum;
    if x < 0.5 { FRAC_PI_2 - arc } else { 2.0 * arc }
}

/// Four terms of a polynomial, two of them made at the same time.
#[expect(clippy::inline_always, reason = "one of a loop over many lanes")]
#[inline(always)]
fn four<const FROM: usize>(terms: &[f64], x: f64, square: f64) -> f64 {
    (terms[FROM] + terms[FROM + 1] * x) + (terms[FROM + 2] + terms[FROM + 3] * x) * square
}

/// The natural logarithm of a normal positive number.
///
/// With $x = 2^e m$ and $m$ in $[1/\\sqrt2, \\sqrt2)$, $\\ln x = e \\ln 2 + 2 \\operatorname{artanh} s$,
/// $s = (m - 1)/(m + 1)$; of the series in $s^2 < 0.03$ the first term that is left out is below
/// 1e-18.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    const FROM_ROOT: u64 = FRAC_1_SQRT_2.to_bits();
    let above = x.to_bits().wrapping_sub(FROM_ROOT);
    let exponent = ((above >> 32) as i32) >> 20;
    #[expect(clippy::cast_sign_loss, reason = "shifted back where it came from")]
    let scale = u64::from(exponent as u32) << 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub(scale));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut sum = 1.0 / 23.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * z + 1.0 / odd;
    }
    f64::from(exponent) * LN_2 + 2.0 * (s * sum)
}

/// Cosine and sine of so many turns.
///
/// Within an eighth of a turn of the nearest quarter by their series, whose first terms that are
/// left out are below 1e-17; the quarter then says which is which.
#[inline(always)]
pub(crate) fn cos_sin_of_turns(turns: f64) -> [f64; 2] {
    const TERMS: usize = 9;
    /// $(-1)^k/(2k)!$ and $(-1)^k/(2k+1)!$.
    const COS: [f64; TERMS] = inverse_factorials(0.0);
    const SIN: [f64; TERMS] = inverse_factorials(1.0);
    const fn inverse_factorials(mut n: f64) -> [f64; TERMS] {
        let mut all = [1.0; TERMS];
        let mut k = 1;
        while k < TERMS {
            all[k] = -all[k - 1] / ((n + 1.0) * (n + 2.0));
            n += 2.0;
            k += 1;
        }
        all
    }
    // Adding this rounds to a whole number, which then stands in the lowest bits.
    const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64;
    let rounded = 4.0 * turns + ROUNDER;
    let quarter = rounded.to_bits();
    let angle = TAU * (turns - 0.25 * (rounded - ROUNDER));
    let z = angle * angle;
    let [mut cos, mut sin] = [COS[TERMS - 1], SIN[TERMS - 1]];
    for k in (0..TERMS - 1).rev() {
        cos = cos * z + COS[k];
        sin = sin * z + SIN[k];
    }
    sin *= angle;
    let [x, y] = if quarter & 1 == 0 {
        [cos, sin]
    } else {
        [sin, cos]
    };
    // Negative in the second and third quarter, and in the third and fourth.
    let signed = |value: f64, bit: u64| f64::from_bits(value.to_bits() ^ ((bit & 2) << 62));
    [signed(x, quarter.wrapping_add(1)), signed(y, quarter)]
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

    /// From the least that a draw takes, 2^-53, to 1. Measured against the machine's own
    /// logarithm: 3.3e-16.
    #[test]
    fn the_logarithm_is_right_to_the_last_bits() {
        let least = 0.5_f64.powi(53);
        let near_one = (1..1000).map(|i| 1.0 - f64::from(i) * f64::from(i) * least);
        let spread = (0..20_000).map(|i| 2.0_f64.powf(-53.0 * f64::from(i) / 20_000.0));
        let worst = near_one
            .chain(spread)
            .filter(|x| *x != 1.0)
            .map(|x| (ln(x) / x.ln() - 1.0).abs());
        let worst = worst.fold(0.0, f64::max);
        assert!(worst < 5e-16, "{worst:e}");
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn cosine_and_sine_are_right_to_the_last_bits() {
        let mut worst = 0.0_f64;
        for i in 0..100_000 {
            let turns = f64::from(i) / 100_000.0;
            let [cos, sin] = cos_sin_of_turns(turns);
            let angle = TAU * turns;
            // The machine's own are of an angle that is rounded: by up to 4.4e-16.
            worst = worst
                .max((cos - angle.cos()).abs())
                .max((sin - angle.sin()).abs());
        }
        assert!(worst < 8e-16, "{worst:e}");
        assert_eq!(cos_sin_of_turns(0.0), [1.0, 0.0]);
        assert_eq!(cos_sin_of_turns(0.25), [-0.0, 1.0]);
        assert_eq!(cos_sin_of_turns(0.5), [-1.0, -0.0]);
    }
}
