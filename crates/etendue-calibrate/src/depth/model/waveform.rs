//! Waveform model of the depth bias: the pulse is stretched by an inclined surface.

use etendue_physics::pulse::constant_fraction_bias;
use etendue_physics::{Dual, DualParts, Scalar};

/// Greatest incidence of the closed form, rad.
const GRAZING: f64 = 85.0 * std::f64::consts::PI / 180.0;
/// Least derivative of the measured depth with respect to the true depth in a Newton step.
const LEAST_SLOPE: f64 = 0.2;
/// Greatest number of Newton steps of the correction.
const NEWTON_STEPS: usize = 6;

/// Bias of a constant-fraction discriminator on an inclined plane: the measured depth is
/// $d = \hat d + \Delta_f(\hat d, \gamma; \sigma_p, \sigma_a)$ with the closed form of
/// [`constant_fraction_bias`]; the correction solves this equation for $\hat d$ by Newton's method.
///
/// Its two physical parameters extrapolate to unobserved distances and incidences. Beyond 85 degrees the
/// bias is that at 85 degrees: the closed form is of first order in $\sigma_a\tan\gamma$, the footprint
/// extends beyond the surface, and a wrong incidence at an edge would displace its point by metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaveformBias {
    /// Standard deviation $\sigma_p$ of the pulse in range, m (FWHM in time times c/2, over
    /// 2.3548).
    pub pulse_sd: f64,
    /// The beam's angular standard deviation $\sigma_a$, rad.
    pub angular_sd: f64,
    /// Timed fraction of the peak, in (0, 1); not a weight.
    pub fraction: f64,
}

/// Interval of the pulse width during training, m: pulses of 0.16 to 47 ns (full width at half maximum).
const PULSE_SD: WidthRange = WidthRange {
    least: 0.01,
    greatest: 3.0,
};
/// Interval of the angular width during training, rad: beams of 0.2 to 47 mrad (full width at half maximum).
const ANGULAR_SD: WidthRange = WidthRange {
    least: 1e-4,
    greatest: 2e-2,
};
/// Share of the weights' range that counts as the bound.
const AT_BOUND: f64 = 0.02;

/// Physical interval of a width, with a smooth map from all real weights to it.
///
/// The width of the weight $u$ is $a\,(b/a)^{s(u)}$ with $s(u) = 1/(1 + e^{-4u/\ln(b/a)})$: in the middle a
/// change of $u$ is a change of the logarithm of the width.
struct WidthRange {
    /// Least width $a$.
    least: f64,
    /// Greatest width $b$.
    greatest: f64,
}

impl WidthRange {
    /// Logarithm of the ratio of the bounds.
    fn span(&self) -> f64 {
        (self.greatest / self.least).ln()
    }

    /// Position $s$ of a width in the interval, within (0, 1).
    fn share(&self, width: f64) -> f64 {
        ((width / self.least).ln() / self.span()).clamp(1e-6, 1.0 - 1e-6)
    }

    /// Width of a weight.
    fn width(&self, weight: f64) -> f64 {
        let share = 1.0 / (1.0 + (-4.0 * weight / self.span()).exp());
        self.least * (share * self.span()).exp()
    }

    /// Weight of a width.
    fn weight(&self, width: f64) -> f64 {
        let share = self.share(width);
        0.25 * self.span() * (share / (1.0 - share)).ln()
    }

    /// Derivative of a width with respect to its weight.
    fn slope(&self, width: f64) -> f64 {
        let share = self.share(width);
        4.0 * share * (1.0 - share) * width
    }

    /// Whether a width is at a bound.
    fn is_bound(&self, width: f64) -> bool {
        !(AT_BOUND..=1.0 - AT_BOUND).contains(&self.share(width))
    }
}

impl WaveformBias {
    /// Weights of the training: all real numbers give widths within their physical intervals.
    pub(super) fn weights(&self) -> [f64; 2] {
        [
            PULSE_SD.weight(self.pulse_sd),
            ANGULAR_SD.weight(self.angular_sd),
        ]
    }

    /// The same discriminator with the widths of other weights.
    pub(super) fn reweighted(&self, weights: [f64; 2]) -> Self {
        Self {
            pulse_sd: PULSE_SD.width(weights[0]),
            angular_sd: ANGULAR_SD.width(weights[1]),
            ..*self
        }
    }

    /// Whether a width is at the bound of its physical interval.
    pub(super) fn is_at_bound(&self) -> bool {
        PULSE_SD.is_bound(self.pulse_sd) || ANGULAR_SD.is_bound(self.angular_sd)
    }

    /// Start of the training: a pulse of 3 ns and a beam of 3 mrad (full widths at half maximum), timed at
    /// half the peak.
    pub const START: Self = Self {
        pulse_sd: 0.191,
        angular_sd: 1.3e-3,
        fraction: 0.5,
    };

    /// Bias of the measured depth of an inclined plane at the true `depth` (m), m.
    pub(super) fn shift(&self, depth: f64, incidence: f64) -> f64 {
        constant_fraction_bias(
            depth,
            self.angular_sd,
            incidence.min(GRAZING),
            self.pulse_sd,
            self.fraction,
        )
    }

    pub(super) fn correct(&self, depth: f64, incidence: f64) -> f64 {
        let mut slopes = [0.0; 2];
        self.correct_with_slopes(depth, incidence, &mut slopes)
    }

    /// Corrected depth with its derivatives with respect to the weights, by the implicit function theorem.
    pub(super) fn correct_with_slopes(
        &self,
        depth: f64,
        incidence: f64,
        slopes: &mut [f64],
    ) -> f64 {
        // Solve for the true depth
        let mut corrected = depth;
        for _ in 0..NEWTON_STEPS {
            let shift = self.dual_shift(corrected, incidence);
            let slope = (1.0 + shift.gradient()[0]).max(LEAST_SLOPE);
            let step = (corrected + shift.value() - depth) / slope;
            corrected -= step;
            if step.abs() < 1e-13 * depth {
                break;
            }
        }

        // Differentiate the solution
        let [by_depth, by_pulse, by_angle] = self.dual_shift(corrected, incidence).gradient();
        let slope = (1.0 + by_depth).max(LEAST_SLOPE);
        slopes[0] = -by_pulse * PULSE_SD.slope(self.pulse_sd) / slope;
        slopes[1] = -by_angle * ANGULAR_SD.slope(self.angular_sd) / slope;
        corrected
    }

    /// The shift with its derivatives with respect to depth, pulse width and beam width.
    fn dual_shift(&self, depth: f64, incidence: f64) -> Dual<3> {
        constant_fraction_bias(
            Dual::variable(depth, 0),
            Dual::variable(self.angular_sd, 2),
            Dual::from(incidence.min(GRAZING)),
            Dual::variable(self.pulse_sd, 1),
            self.fraction,
        )
    }
}
