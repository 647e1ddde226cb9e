//! Elementary functions by series, suited to vector instructions. Results are bit-identical on
//! every machine and instruction set.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, PI, SQRT_2, TAU};

/// $e^x$; arguments outside of ±700 are clamped.
///
/// With $x = k\ln2 + r$, $|r| \le \tfrac12\ln2$, $e^x = 2^k e^r$; the first omitted term of the
/// series in $r$ is below 2e-16.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // Adding this rounds to an integer, which is then in the lowest bits.
    const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64;
    // The high part has few bits, so that its multiples are exact.
    const LN_2_HIGH: f64 = f64::from_bits(LN_2.to_bits() & !0xffff_ffff);
    // The low part, to 1e-27 (Cody and Waite): ln 2 = 0.6931471805599453094172321215.
    const LN_2_LOW: f64 = (LN_2 - LN_2_HIGH) + 2.319_046_813_846_3e-17;
    /// $1/n!$.
    const TERMS: [f64; 13] = {
        let mut terms = [1.0; 13];
        let mut i = 1;
        let mut n = 1.0;
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
    let square = r * r;
    let fourth = square * square;
    let high = four::<8>(&TERMS, r, square) + TERMS[12] * fourth;
    let low = four::<0>(&TERMS, r, square) + four::<4>(&TERMS, r, square) * fourth;
    let sum = low + high * (fourth * fourth);
    sum * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// $\arccos x$ for $x$ in [0, 1], rad, to 1e-13.
///
/// Uses $\arccos x = \tfrac\pi2 - \arcsin x$ below 1/2 and $2\arcsin\sqrt{(1-x)/2}$ above, with a
/// polynomial of the arc sine up to 1/2.
#[inline(always)]
pub(crate) fn acos(x: f64) -> f64 {
    /// Coefficients of $\arcsin\sqrt z/\sqrt z$ for $z$ in [0, 1/4]: error at most 2.6e-16
    /// (Chebyshev).
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
    // Reduce the argument to the interval of the polynomial.
    let above = 0.5 * (1.0 - x);
    let (square, sine) = if x < 0.5 {
        (x * x, x)
    } else {
        (above, above.sqrt())
    };
    // Evaluate the arc sine.
    let second = square * square;
    let fourth = second * second;
    let high = four::<8>(&TERMS, square, second);
    let low = four::<0>(&TERMS, square, second) + four::<4>(&TERMS, square, second) * fourth;
    let sum = low + high * (fourth * fourth);
    let arc = sine * sum;
    // Undo the reduction.
    if x < 0.5 { FRAC_PI_2 - arc } else { 2.0 * arc }
}

/// Angle of the point (x, y), rad, in [-π, π]; zero at the origin.
///
/// With the ratio $q$ of the smaller to the larger coordinate, $\arctan q = \tfrac\pi4 - \arctan\frac{1-q}{1+q}$ above
/// $\tan\tfrac\pi8$, and $\arctan q = q + q^3 P(q^2)$ below.
#[inline(always)]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    /// Coefficients of $P(z)$ for $z$ in [0, 0.1716]: error of $zP$ at most 5.4e-18 (Chebyshev).
    const TERMS: [f64; 11] = [
        -0.3333333333333333,
        0.1999999999999552,
        -0.14285714284666542,
        0.11111111015256361,
        -0.09090904578123873,
        0.07692183190825433,
        -0.06664511447372731,
        0.058581489127221394,
        -0.0508544973752125,
        0.03923165828348216,
        -0.019176887104237525,
    ];
    /// $\tan\tfrac\pi8$.
    const LIMIT: f64 = SQRT_2 - 1.0;
    // Reduce the angle to the interval of the polynomial.
    let [a, b] = [x.abs(), y.abs()];
    let [least, most] = if b < a { [b, a] } else { [a, b] };
    let [above, below, start] = if least > LIMIT * most {
        [least - most, least + most, FRAC_PI_4]
    } else {
        [least, most, 0.0]
    };
    let ratio = above / below.max(f64::MIN_POSITIVE);
    let z = ratio * ratio;
    let octant = start + ratio * (1.0 + z * polynomial(&TERMS, z));
    // Undo the reduction.
    let quarter = if b > a { FRAC_PI_2 - octant } else { octant };
    let half = if x < 0.0 { PI - quarter } else { quarter };
    half.copysign(y)
}

/// Four terms of a polynomial, evaluated as two independent pairs.
#[expect(clippy::inline_always, reason = "one of a loop over many lanes")]
#[inline(always)]
fn four<const FROM: usize>(terms: &[f64], x: f64, square: f64) -> f64 {
    (terms[FROM] + terms[FROM + 1] * x) + (terms[FROM + 2] + terms[FROM + 3] * x) * square
}

/// Value of a polynomial; the constant term is first.
#[expect(clippy::inline_always, reason = "one of a loop over many lanes")]
#[inline(always)]
fn polynomial<const N: usize>(terms: &[f64; N], x: f64) -> f64 {
    let mut sum = terms[N - 1];
    for term in terms[..N - 1].iter().rev() {
        sum = sum * x + term;
    }
    sum
}

/// Natural logarithm of a normal positive number.
///
/// With $x = 2^e m$ and $m$ in $[1/\\sqrt2, \\sqrt2)$, $\\ln x = e \\ln 2 + 2 \\operatorname{artanh} s$,
/// $s = (m - 1)/(m + 1)$, and $\\operatorname{artanh} s = s + s^3 P(s^2)$.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    const FROM_ROOT: u64 = FRAC_1_SQRT_2.to_bits();
    /// Coefficients of $P(z)$ for $z$ in [0, 0.0295]: error of $zP$ at most 4.7e-18 (Chebyshev).
    const TERMS: [f64; 7] = [
        0.3333333333333335,
        0.19999999999949752,
        0.14285714312987768,
        0.11111105567393861,
        0.09091444562876047,
        0.07665860792611794,
        0.07308224933140835,
    ];
    let above = x.to_bits().wrapping_sub(FROM_ROOT);
    let exponent = ((above >> 32) as i32) >> 20;
    #[expect(clippy::cast_sign_loss, reason = "shifted back where it came from")]
    let scale = u64::from(exponent as u32) << 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub(scale));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    f64::from(exponent) * LN_2 + 2.0 * (s * (1.0 + z * polynomial(&TERMS, z)))
}

/// Cosine and sine of an angle in turns.
///
/// Within an eighth of a turn of the nearest quarter, $\cos x = 1 + x^2 C(x^2)$ and $\sin x = x +
/// x^3 S(x^2)$; the quarter determines their order and signs.
#[inline(always)]
pub(crate) fn cos_sin_of_turns(turns: f64) -> [f64; 2] {
    /// Coefficients of $C(z)$ for $z$ in [0, 0.617]: error of $zC$ at most 4.2e-19 (Chebyshev).
    const COS: [f64; 7] = [
        -0.5,
        0.04166666666666664,
        -0.0013888888888880775,
        2.4801587293693456e-05,
        -2.755731556634078e-07,
        2.0875886737870168e-09,
        -1.136799864362574e-11,
    ];
    /// Coefficients of $S(z)$ on the same interval: error of $zS$ at most 1.8e-17 (Chebyshev).
    const SIN: [f64; 6] = [
        -0.16666666666666666,
        0.008333333333330948,
        -0.00019841269836758574,
        2.755731610255148e-06,
        -2.5051131844805e-08,
        1.5918129280607273e-10,
    ];
    // Adding this rounds to an integer, which is then in the lowest bits.
    const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64;
    let rounded = 4.0 * turns + ROUNDER;
    let quarter = rounded.to_bits();
    let angle = TAU * (turns - 0.25 * (rounded - ROUNDER));
    let z = angle * angle;
    let cos = 1.0 + z * polynomial(&COS, z);
    let sin = angle * (1.0 + z * polynomial(&SIN, z));
    let [x, y] = if quarter & 1 == 0 {
        [cos, sin]
    } else {
        [sin, cos]
    };
    // The cosine is negative in the second and third quarter, the sine in the third and fourth.
    let signed = |value: f64, bit: u64| f64::from_bits(value.to_bits() ^ ((bit & 2) << 62));
    [signed(x, quarter.wrapping_add(1)), signed(y, quarter)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured: 3.3e-16.
    #[test]
    fn the_exponential_is_accurate_to_the_last_bits() {
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
    fn the_arc_cosine_is_accurate_to_1e_13() {
        let worst = (0..=200_000)
            .map(|i| f64::from(i) / 200_000.0)
            .map(|x| (acos(x) - x.acos()).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-13, "{worst:e}");
        assert_eq!([acos(0.0), acos(1.0)], [FRAC_PI_2, 0.0]);
    }

    /// From 2^-53, the smallest positive draw, to 1. Measured against the standard library's
    /// logarithm: 3.3e-16.
    #[test]
    fn the_logarithm_is_accurate_to_the_last_bits() {
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

    /// All quadrants, on both sides of every octant, from 1e-300 to 1e300. Measured against the standard library's
    /// function: 4.5e-16 rad.
    #[test]
    fn the_angle_of_a_point_is_accurate_to_the_last_bits() {
        let mut worst = 0.0_f64;
        for i in 0..100_000 {
            let (sin, cos) = (1e-4 * f64::from(i)).sin_cos();
            for size in [1.0, 3e-300, 7e299] {
                let [x, y] = [size * cos, size * sin];
                worst = worst.max((atan2(y, x) - y.atan2(x)).abs());
            }
        }
        assert!(worst < 1e-15, "{worst:e}");
        for (y, x) in [(0.0, 2.0), (0.0, -2.0), (3.0, 0.0), (-3.0, 0.0), (0.0, 0.0)] {
            assert_eq!(atan2(y, x), f64::atan2(y, x));
        }
    }

    #[test]
    fn cosine_and_sine_are_accurate_to_the_last_bits() {
        let mut worst = 0.0_f64;
        for i in 0..100_000 {
            let turns = f64::from(i) / 100_000.0;
            let [cos, sin] = cos_sin_of_turns(turns);
            let angle = TAU * turns;
            // The standard library's functions take a rounded angle: they differ by up to 4.4e-16.
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
