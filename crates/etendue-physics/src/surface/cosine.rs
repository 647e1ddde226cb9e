//! Functions of the cosine of an angle with finite derivatives where the derivative of acos diverges.

use crate::Scalar;
use std::f64::consts::FRAC_2_PI;

/// Lower bound on the cosine of grazing directions: BRDFs proportional to the inverse cosine stay finite,
/// and the error is negligible because they are multiplied by the cosine.
const LEAST_COSINE: f64 = 1e-6;

/// The cosine with a lower bound above zero.
pub(super) fn facing<S: Scalar>(cos: S) -> S {
    if cos.value() < LEAST_COSINE {
        S::from(LEAST_COSINE)
    } else {
        cos
    }
}

/// Sine of an angle in [0, pi] from its cosine; its derivative is zero at both ends.
pub(super) fn sine<S: Scalar>(cos: S) -> S {
    let squared = -cos * cos + 1.0;
    if squared.value() <= 0.0 {
        S::zero()
    } else {
        squared.sqrt()
    }
}

/// $\tan^2$ of an angle from its cosine.
pub(super) fn tan_squared<S: Scalar>(cos: S) -> S {
    let cos = facing(cos);
    let squared = cos * cos;
    (-squared + 1.0) / squared
}

/// $(2\beta/\pi)^2$ from $\cos\beta$: the squared ratio of the angle to a quarter turn. A series near
/// $\cos\beta = 1$, where the square is differentiable and acos is not.
pub(super) fn quarter_turn_squared<S: Scalar>(cos: S) -> S {
    let below = -cos + 1.0;
    let squared = if below.value() < 1e-3 {
        // acos^2 (1 - u) = 2u + u^2/3 + 4u^3/45 + u^4/35 + 16u^5/1575 + ...
        below
            * (below
                * (below * (below * (below * (16.0 / 1575.0) + 1.0 / 35.0) + 4.0 / 45.0)
                    + 1.0 / 3.0)
                + 2.0)
    } else {
        let angle = cos.acos();
        angle * angle
    };
    squared * (FRAC_2_PI * FRAC_2_PI)
}

/// $x^{3/2}$ with its derivative, which is zero at zero.
pub(super) fn three_halves<S: Scalar>(x: S) -> S {
    if x.value() <= 0.0 {
        S::zero()
    } else {
        x * x.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dual, DualParts};

    #[test]
    fn the_series_equals_acos_and_is_differentiable_at_normal_incidence() {
        let cos = 1.0 - 1e-3;
        let series = quarter_turn_squared::<f64>(cos + 1e-15);
        let exact = (FRAC_2_PI * f64::acos(cos)).powi(2);
        // Measured: 1e-12 relative.
        assert!((series / exact - 1.0).abs() < 1e-11);
        let at_normal = quarter_turn_squared(Dual::<1>::variable(1.0, 0));
        // d acos^2(c)/dc at 1 is -2.
        assert!((at_normal.gradient()[0] + 2.0 * FRAC_2_PI * FRAC_2_PI).abs() < 1e-12);
    }
}
