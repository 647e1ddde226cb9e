//! Pulse shapes over time.

use crate::{SPEED_OF_LIGHT, Scalar};
use std::f64::consts::{LN_2, PI};

/// Shape of a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PulseShape {
    /// $e^{-t^2/2\sigma^2}$.
    Gaussian,
    /// $\cos^2(\pi t / 2T)$ within $|t| \le T$, with $T$ the full width at half maximum: the form
    /// used for automotive lidars (Rasshofer, Spies, Spies 2011, eq. 6,
    /// doi:10.5194/ars-9-49-2011).
    SquaredSine,
    /// $(t/\tau)^2 e^{-t/\tau}$, quick to rise and slow to fall as laser diodes and Q-switched
    /// lasers do (Steinvall 2000, eq. 21, doi:10.1364/AO.39.004381, there with
    /// $\tau = T_{1/2}/3.5$; here with the exact 3.3948).
    LaserDiode,
}

/// A pulse: its shape and its width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulse<S = f64> {
    /// Shape.
    pub shape: PulseShape,
    /// Full width at half maximum, s.
    pub fwhm: S,
}

/// FWHM of a Gaussian over its standard deviation: $2\sqrt{2\ln 2}$.
pub(crate) const GAUSSIAN_FWHM_OVER_SD: f64 = 2.354_820_045_030_949_3;
/// FWHM of $x^2 e^{-x}$.
const DIODE_FWHM_OVER_TAU: f64 = 3.394_846_187_5;

impl Pulse {
    /// Gaussian pulse with the full width at half maximum `fwhm`, s.
    pub fn gaussian(fwhm: f64) -> Self {
        Self {
            shape: PulseShape::Gaussian,
            fwhm,
        }
    }

    /// Times before and after the peak within which the power is above a millionth of the peak
    /// power, s.
    pub fn support(&self) -> [f64; 2] {
        let [before, after] = match self.shape {
            PulseShape::Gaussian => [2.2325, 2.2325],
            PulseShape::SquaredSine => [1.0, 1.0],
            PulseShape::LaserDiode => [0.5892, 5.46],
        };
        [before * self.fwhm, after * self.fwhm]
    }

    /// Standard deviation of the power over time, s.
    pub fn sd(&self) -> f64 {
        self.fwhm
            * match self.shape {
                PulseShape::Gaussian => 1.0 / GAUSSIAN_FWHM_OVER_SD,
                PulseShape::SquaredSine => (1.0 / 3.0 - 2.0 / (PI * PI)).sqrt(),
                PulseShape::LaserDiode => 3.0_f64.sqrt() / DIODE_FWHM_OVER_TAU,
            }
    }

    /// Standard deviation in the range domain, m: $c\sigma_t/2$.
    pub fn range_sd(&self) -> f64 {
        0.5 * SPEED_OF_LIGHT * self.sd()
    }

    /// Energy over peak power, s: $\int p\\,dt$.
    pub fn energy_over_peak(&self) -> f64 {
        self.fwhm
            * match self.shape {
                PulseShape::Gaussian => (PI / (4.0 * LN_2)).sqrt(),
                PulseShape::SquaredSine => 1.0,
                PulseShape::LaserDiode => 0.5 * 2.0_f64.exp() / DIODE_FWHM_OVER_TAU,
            }
    }
}

impl<S: Scalar> Pulse<S> {
    /// Power at the time `t` (s) from the pulse's peak, relative to the peak.
    ///
    /// ```
    /// use etendue_physics::pulse::Pulse;
    /// let pulse = Pulse::gaussian(5e-9);
    /// assert_eq!(pulse.power(0.0), 1.0);
    /// assert!((pulse.power(2.5e-9) - 0.5).abs() < 1e-12);
    /// ```
    pub fn power(&self, t: S) -> S {
        let x = t / self.fwhm;
        match self.shape {
            PulseShape::Gaussian => (x * (-4.0 * LN_2) * x).exp(),
            PulseShape::SquaredSine if x.value().abs() < 1.0 => (x * (0.5 * PI)).cos().powi(2),
            PulseShape::SquaredSine => S::zero(),
            PulseShape::LaserDiode => diode(x * DIODE_FWHM_OVER_TAU),
        }
    }

    /// The pulse without its derivatives.
    pub fn plain(&self) -> Pulse {
        Pulse {
            shape: self.shape,
            fwhm: self.fwhm.value(),
        }
    }
}

/// $x'^2 e^{-x'}$ with its peak (at $x' = 2$) moved to zero and scaled to one.
fn diode<S: Scalar>(x: S) -> S {
    let from_start = x + 2.0;
    if from_start.value() <= 0.0 {
        return S::zero();
    }
    from_start * 0.25 * from_start * (-x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [PulseShape; 3] = [
        PulseShape::Gaussian,
        PulseShape::SquaredSine,
        PulseShape::LaserDiode,
    ];

    fn over_time(pulse: Pulse) -> impl Iterator<Item = (f64, f64)> {
        (-60_000..120_000).map(move |i| {
            let t = f64::from(i) * 1e-4 * pulse.fwhm;
            (t, pulse.power(t))
        })
    }

    #[test]
    fn the_peak_is_one_at_time_zero_and_the_width_at_half_of_it_is_the_fwhm() {
        for shape in SHAPES {
            let pulse = Pulse { shape, fwhm: 3e-9 };
            assert_eq!(pulse.power(0.0), 1.0);
            let above = over_time(pulse).filter(|(_, p)| *p >= 0.5).count() as f64 * 1e-4;
            assert!((above - 1.0).abs() < 3e-4, "{shape:?}: {above}");
            assert!(over_time(pulse).all(|(_, p)| p <= 1.0));
        }
    }

    #[test]
    fn energy_sd_and_support_match_the_pulse_shape() {
        for shape in SHAPES {
            let pulse = Pulse { shape, fwhm: 2e-9 };
            let step = 1e-4 * pulse.fwhm;
            let sum: f64 = over_time(pulse).map(|(_, p)| p).sum();
            let mean: f64 = over_time(pulse).map(|(t, p)| t * p).sum::<f64>() / sum;
            let variance: f64 = over_time(pulse)
                .map(|(t, p)| (t - mean).powi(2) * p)
                .sum::<f64>()
                / sum;
            assert!(
                (sum * step / pulse.energy_over_peak() - 1.0).abs() < 1e-6,
                "{shape:?}"
            );
            assert!(
                (variance.sqrt() / pulse.sd() - 1.0).abs() < 2e-5,
                "{shape:?}"
            );
            let [before, after] = pulse.support();
            assert!(over_time(pulse).all(|(t, p)| p < 1.1e-6 || (-before..=after).contains(&t)));
        }
    }
}
