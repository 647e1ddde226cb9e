//! Evaluation of a noise profile: the distribution of the return of a beam.

use super::aspect::Aspect;
use super::distribution::ReturnDistribution;
use super::noise_profile::{Knot, Profile};
use super::reflectance::{logistic, logit};
use crate::normal;

impl Profile {
    /// The widest recorded incidence, rad.
    pub fn recorded_to(&self) -> f64 {
        let recorded = self.knots.iter().rev().find(|knot| !knot.extrapolated);
        recorded
            .or(self.knots.last())
            .map_or(0.0, |knot| knot.incidence)
    }

    /// Expected return of a beam at an incidence (rad, or an [`Aspect`] with its side) and a range (m). The
    /// side has an effect near the normal if there is a [`glare`](Profile::glare).
    ///
    /// Between knots, values are linear in the incidence $\theta$ (the spread in its logarithm, the drop-out
    /// in its logit). Beyond the last knot, the drop-out follows the fitted reflectance model, the spread is
    /// proportional to the inverse square root of the model's power, and the bias is constant. The
    /// [`law`](Profile::law) scales the values from the measured distance to $d = R\cos\theta$, the distance
    /// of the surface's plane at the range $R$.
    pub fn at(&self, aspect: impl Into<Aspect>, range: f64) -> ReturnDistribution {
        let aspect = aspect.into();
        let incidence = aspect.incidence;
        // Interpolate or extrapolate at the measured distance.
        let (last, beyond) = match self.knots.last() {
            Some(last) => (*last, incidence > last.incidence),
            None => return self.nothing(),
        };
        let mut here = if beyond {
            self.beyond(&last, incidence)
        } else {
            self.between(incidence)
        };

        // Add the glare, then scale to the distance.
        let ratio = range * incidence.cos() / self.distance;
        if let Some(glare) = &self.glare {
            let shift = self.law.glare_shift(glare.centre, ratio);
            glare.add(&mut here, aspect, shift, self.intensity);
        }
        here.bias = self.law.bias(here.bias, ratio);
        here.spread = self.law.spread(here.spread, ratio);
        let exponent = self.law.power_exponent();
        if exponent != 0.0 && here.drop_out < 1.0 {
            let shift = self.reflectance.drop_out.slope * exponent * ratio.max(1e-6).ln();
            here.drop_out = logistic(logit(here.drop_out) + shift);
        }
        here
    }

    /// The expected return of a profile without knots: drop-out with certainty.
    fn nothing(&self) -> ReturnDistribution {
        ReturnDistribution {
            bias: 0.0,
            spread: 0.0,
            fixed_pattern: 0.0,
            drop_out: 1.0,
            intensity: 0.0,
            intensity_spread: 0.0,
            extrapolated: self.knots.is_empty(),
        }
    }

    /// Interpolation between knots at the measured distance.
    fn between(&self, incidence: f64) -> ReturnDistribution {
        // Find the adjacent knots.
        let next = self
            .knots
            .partition_point(|knot| knot.incidence < incidence)
            .clamp(1, self.knots.len() - 1);
        let a = &self.knots[next - 1];
        let b = &self.knots[next];
        let t = ((incidence - a.incidence) / (b.incidence - a.incidence)).clamp(0.0, 1.0);
        // Interpolate the spread in its logarithm and the drop-out in its logit, if possible.
        let mix = |a: f64, b: f64| a + t * (b - a);
        let spread = if a.spread > 0.0 && b.spread > 0.0 {
            a.spread * (b.spread / a.spread).powf(t)
        } else {
            mix(a.spread, b.spread)
        };
        let drop_out = if a.drop_out == b.drop_out {
            a.drop_out
        } else {
            logistic(mix(logit(a.drop_out), logit(b.drop_out)))
        };
        ReturnDistribution {
            bias: mix(a.bias, b.bias),
            spread,
            fixed_pattern: self.correlation.fixed_pattern(),
            drop_out,
            intensity: mix(a.intensity, b.intensity),
            intensity_spread: mix(a.intensity_spread, b.intensity_spread),
            extrapolated: self.extrapolated || (a.extrapolated || b.extrapolated) && t > 0.0,
        }
    }

    /// Extrapolation beyond the last knot at the measured distance.
    fn beyond(&self, last: &Knot, incidence: f64) -> ReturnDistribution {
        let power = self.reflectance.power(incidence) / self.reflectance.power(last.incidence);
        let fall = -power.max(1e-30).ln();
        ReturnDistribution {
            bias: last.bias,
            spread: last.spread * (0.5 * fall).exp().min(1e3),
            fixed_pattern: self.correlation.fixed_pattern(),
            drop_out: logistic(logit(last.drop_out) + self.reflectance.drop_out.slope * fall),
            intensity: last.intensity,
            intensity_spread: last.intensity_spread,
            extrapolated: true,
        }
    }

    /// Probability that the device reports the range `reported` (m, a multiple of its step) for a surface at
    /// `range` (m), given that the beam returns: the integral of the normal distribution over one step, or
    /// over an interval of `resolution` (m) if the device has no steps.
    pub fn probability(
        &self,
        here: &ReturnDistribution,
        range: f64,
        reported: f64,
        resolution: f64,
    ) -> f64 {
        let step = match self.steps.at(reported) {
            0.0 => resolution,
            step => step,
        };
        let spread = here.spread.max(1e-9);
        let middle = (reported - range - here.bias) / spread;
        let half = 0.5 * step / spread;
        normal::between(middle - half, middle + half)
    }
}
