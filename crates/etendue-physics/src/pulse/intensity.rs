//! Reported intensities.

use crate::Scalar;
use std::f64::consts::PI;

/// Response of the reported intensity to the peak power of an echo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntensityResponse {
    /// Proportional to the power.
    Power {
        /// Counts per unit power.
        counts: f64,
    },
    /// Logarithmic: `per_decade` counts per decade, zero at the power `zero`.
    Log {
        /// Power at which the intensity is zero.
        zero: f64,
        /// Counts per factor of ten.
        per_decade: f64,
    },
    /// Range-corrected reflectivity $100\\,\pi R^2 L$, in percent of a white Lambertian surface at normal
    /// incidence, with the range $R$ (m) and the power $L$ (1/(m² sr)).
    Reflectivity {
        /// Conversion of percent to counts.
        scale: ReflectivityScale,
    },
}

/// Conversion of reflectivity to counts of one byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReflectivityScale {
    /// One count per percent (Hesai, Livox's lower part).
    Percent,
    /// 0 to 100 for diffuse surfaces in percent, 101 to 255 logarithmically for
    /// retro-reflectors (Velodyne VLP-16 user manual, section 6.1; Ouster firmware manual,
    /// "calibrated reflectivity").
    DiffuseThenRetro {
        /// Reflectivity of 255 counts, percent.
        full_scale: f64,
    },
}

impl IntensityResponse {
    /// Reported intensity of an echo with the peak power `power` at `range` (m), in counts from
    /// zero to `top`, rounded to whole counts if `top` is given.
    ///
    /// ```
    /// use etendue_physics::pulse::{IntensityResponse, ReflectivityScale, reference_power};
    /// let response = IntensityResponse::Reflectivity { scale: ReflectivityScale::Percent };
    /// for range in [2.0, 20.0, 80.0] {
    ///     assert_eq!(response.report(reference_power(0.4, range), range, Some(255.0)), 40.0);
    /// }
    /// ```
    pub fn report(&self, power: f64, range: f64, top: Option<f64>) -> f64 {
        whole(self.counts(power, range), top)
    }

    /// [`IntensityResponse::report`] for sixteen echoes, bit-equal. The loops compile to the caller's vector
    /// instructions.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub fn report_lanes(
        &self,
        powers: &[f64; 16],
        ranges: &[f64; 16],
        top: Option<f64>,
    ) -> [f64; 16] {
        // Compute the counts before rounding.
        let mut counts = [0.0; 16];
        match *self {
            Self::Power { counts: factor } => {
                let response = Self::Power { counts: factor };
                for i in 0..16 {
                    counts[i] = response.counts(powers[i], ranges[i]);
                }
            }
            Self::Reflectivity { scale } => {
                for i in 0..16 {
                    counts[i] = percent(powers[i], ranges[i]);
                }
                for count in counts.iter_mut().filter(|count| **count > 100.0) {
                    *count = scale.counts(*count);
                }
            }
            Self::Log { .. } => {
                for i in 0..16 {
                    counts[i] = self.counts(powers[i], ranges[i]);
                }
            }
        }
        // Round and clip; the branch is outside of the loops, so that they vectorise.
        match top {
            Some(top) => each(&mut counts, |counts| whole_up_to(counts, top)),
            None => each(&mut counts, |counts| counts.max(0.0)),
        }
        counts
    }

    /// Intensity before rounding and clipping, in a scalar that may carry derivatives.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub fn counts<S: Scalar>(&self, power: S, range: S) -> S {
        match *self {
            Self::Power { counts } => power * counts,
            Self::Log { zero, per_decade } if power.value() > zero => {
                (power / zero).log10() * per_decade
            }
            Self::Log { .. } => S::zero(),
            Self::Reflectivity { scale } => scale.counts(percent(power, range)),
        }
    }
}

/// Reflectivity, percent, of a surface that returns a power (1/(m² sr)) from a range (m).
#[expect(clippy::inline_always, reason = "for the caller's instructions")]
#[inline(always)]
fn percent<S: Scalar>(power: S, range: S) -> S {
    range * (100.0 * PI) * range * power
}

#[expect(clippy::inline_always, reason = "for the caller's instructions")]
#[inline(always)]
fn each(counts: &mut [f64; 16], reported: impl Fn(f64) -> f64) {
    for count in counts {
        *count = reported(*count);
    }
}

/// Intensity rounded to whole counts and limited to `top`, if it is given.
#[inline]
fn whole(counts: f64, top: Option<f64>) -> f64 {
    match top {
        Some(top) => whole_up_to(counts, top),
        None => counts.max(0.0),
    }
}

#[inline]
fn whole_up_to(counts: f64, top: f64) -> f64 {
    counts.round().clamp(0.0, top)
}

impl ReflectivityScale {
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn counts<S: Scalar>(self, percent: S) -> S {
        match self {
            Self::DiffuseThenRetro { full_scale } if percent.value() > 100.0 => {
                (percent / 100.0).ln() * 155.0 / (full_scale / 100.0).ln() + 100.0
            }
            Self::Percent | Self::DiffuseThenRetro { .. } => percent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pulse::reference_power;

    #[test]
    fn a_log_response_adds_a_constant_per_decade() {
        let response = IntensityResponse::Log {
            zero: 1e-6,
            per_decade: 50.0,
        };
        let read = [1e-5, 1e-4, 1e-3].map(|p| response.report(p, 1.0, None));
        for (read, expected) in read.iter().zip([50.0, 100.0, 150.0]) {
            assert!((read - expected).abs() < 1e-9);
        }
        assert_eq!(response.report(1e-7, 1.0, None), 0.0);
    }

    #[test]
    fn retro_reflectors_fill_the_upper_part_of_the_scale() {
        let scale = ReflectivityScale::DiffuseThenRetro { full_scale: 1e5 };
        let response = IntensityResponse::Reflectivity { scale };
        let at =
            |reflectance| response.report(reference_power(reflectance, 30.0), 30.0, Some(255.0));
        assert_eq!([0.1, 1.0, 1000.0, 1e5].map(at), [10.0, 100.0, 255.0, 255.0]);
        assert!((100.0..255.0).contains(&at(30.0)));
    }
}
