//! The pulse stretched by an inclined surface.

use etendue_physics::pulse::constant_fraction_bias;
use etendue_physics::{Dual, DualParts, Scalar};

/// The flattest incidence of the closed form, rad.
const FLATTEST: f64 = 85.0 * std::f64::consts::PI / 180.0;
/// Least slope of the measured depth over the true one that a Newton step is taken with.
const LEAST_SLOPE: f64 = 0.2;
/// Most Newton steps of the correction.
const NEWTON_STEPS: usize = 6;

/// A constant-fraction discriminator on the echo of an inclined plane: the measured depth is
/// $d = \hat d + \Delta_f(\hat d, \gamma; \sigma_p, \sigma_a)$ with the closed form of
/// [`constant_fraction_bias`]; the correction solves that for $\hat d$.
///
/// Two physical parameters in place of free weights, so that it extrapolates to distances and
/// incidences that were not seen. Beyond 85 degrees the shift is that of 85 degrees: the closed form is
/// of first order in $\sigma_a\tan\gamma$, the far side of the footprint leaves the surface, and an
/// incidence that is read wrong at an edge would throw its point metres away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaveformBias {
    /// Standard deviation $\sigma_p$ of the pulse in range, m (FWHM in time times c/2, over
    /// 2.3548).
    pub pulse_sd: f64,
    /// The beam's angular standard deviation $\sigma_a$, rad.
    pub angular_sd: f64,
    /// Fraction of the peak that is timed, in (0, 1); not learnt.
    pub fraction: f64,
}

impl WaveformBias {
    /// Where learning starts: a pulse of 3 ns (full width at half maximum), a beam of 3 mrad (full
    /// angle there), timed at half the peak.
    pub const START: Self = Self {
        pulse_sd: 0.191,
        angular_sd: 1.3e-3,
        fraction: 0.5,
    };

    /// What an inclined plane at the true `depth` (m) adds to the reading, m.
    pub(super) fn shift(&self, depth: f64, incidence: f64) -> f64 {
        let (angular, pulse) = (self.angular_sd, self.pulse_sd);
        constant_fraction_bias(
            depth,
            angular,
            incidence.min(FLATTEST),
            pulse,
            self.fraction,
        )
    }

    pub(super) fn correct(&self, depth: f64, incidence: f64) -> f64 {
        let mut slopes = [0.0; 2];
        self.correct_with_slopes(depth, incidence, &mut slopes)
    }

    /// With derivatives over the logarithms of the parameters, by the implicit function.
    pub(super) fn correct_with_slopes(
        &self,
        depth: f64,
        incidence: f64,
        slopes: &mut [f64],
    ) -> f64 {
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
        let [by_depth, by_pulse, by_angle] = self.dual_shift(corrected, incidence).gradient();
        let slope = (1.0 + by_depth).max(LEAST_SLOPE);
        slopes[0] = -by_pulse * self.pulse_sd / slope;
        slopes[1] = -by_angle * self.angular_sd / slope;
        corrected
    }

    /// The shift with its derivatives over depth, pulse and angle.
    fn dual_shift(&self, depth: f64, incidence: f64) -> Dual<3> {
        constant_fraction_bias(
            Dual::variable(depth, 0),
            Dual::variable(self.angular_sd, 2),
            Dual::from(incidence.min(FLATTEST)),
            Dual::variable(self.pulse_sd, 1),
            self.fraction,
        )
    }
}
