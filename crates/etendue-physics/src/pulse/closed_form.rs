//! Closed form of width, peak and timing of a Gaussian echo.

use super::merge::MergedReturns;
use super::shape::GAUSSIAN_FWHM_OVER_SD;
use super::{Discriminator, Echo, Pulse};
use crate::{SPEED_OF_LIGHT, Scalar};

/// Closed form of the echoes of one pulse and discriminator: the constants that all echoes share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClosedForm<S = f64> {
    /// Distance within which returns merge, m.
    pub length: f64,
    /// Standard deviation of the pulse in range, m.
    pulse_sd: S,
    /// Detection threshold, in the unit of power.
    threshold: S,
    /// Timed feature.
    timed: TimedFeature<S>,
}

/// Timed feature of the pulse, with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TimedFeature<S = f64> {
    /// The whole pulse.
    Pulse,
    /// A point of the leading edge, `level` standard deviations before the peak.
    Edge { level: f64 },
    /// The crossing of the threshold; the reference echo crosses it `zero` (m) before its peak.
    Threshold { zero: S },
}

/// Number of standard deviations from its peak at which a Gaussian is $1/q$ of the peak, with `ratio` $q$:
/// $\sqrt{2\ln q}$; 0 for $q < 1$.
fn level<S: Scalar>(ratio: S) -> S {
    (ratio.max(S::one()).ln() * 2.0).sqrt()
}

impl<S: Scalar> ClosedForm<S> {
    /// Computes the constants of a pulse and a discriminator. Echoes reach the power `threshold`; those of
    /// the peak power `reference` have no bias.
    pub fn new(pulse: &Pulse<S>, discriminator: Discriminator, threshold: S, reference: S) -> Self {
        let pulse_sd = pulse.fwhm * (0.5 * SPEED_OF_LIGHT) / GAUSSIAN_FWHM_OVER_SD;
        let timed = match discriminator {
            Discriminator::Peak | Discriminator::Centroid => TimedFeature::Pulse,
            Discriminator::LeadingEdge => TimedFeature::Edge { level: 1.0 },
            Discriminator::ConstantFraction { fraction } => TimedFeature::Edge {
                level: level(1.0 / fraction),
            },
            Discriminator::Threshold => TimedFeature::Threshold {
                zero: pulse_sd * level(reference / threshold),
            },
        };
        Self {
            length: 0.5 * SPEED_OF_LIGHT * pulse.fwhm.value(),
            pulse_sd,
            threshold,
            timed,
        }
    }

    /// Standard deviation of the pulse in range, without derivatives, m.
    pub fn pulse_sd(&self) -> f64 {
        self.pulse_sd.value()
    }

    /// Full width at half maximum of the echo of a single return, s.
    pub fn single_width(&self) -> f64 {
        self.pulse_sd.value() * 2.0 * GAUSSIAN_FWHM_OVER_SD / SPEED_OF_LIGHT
    }

    /// Timed feature of the pulse.
    pub fn timed(&self) -> TimedFeature<S> {
        self.timed
    }

    /// The same pulse with another timed feature.
    pub fn timing(self, timed: TimedFeature<S>) -> Self {
        Self { timed, ..self }
    }

    /// Standard deviation of the echo of merged returns, m: $\sqrt{\sigma_p^2 + \operatorname{var} R}$.
    #[inline]
    pub fn sd(&self, merged: &MergedReturns<S>) -> S {
        (self.pulse_sd * self.pulse_sd + merged.variance).sqrt()
    }

    /// Peak power of an echo with the standard deviation `sd` (m): $L\\,\sigma_p/\sigma$ of the merged power
    /// $L$.
    #[inline]
    pub fn peak(&self, merged: &MergedReturns<S>, sd: S) -> S {
        merged.power * (self.pulse_sd / sd)
    }

    /// Echo of merged returns with a standard deviation (m) and a peak power, as the discriminator times it.
    #[inline]
    pub fn echo(&self, merged: &MergedReturns<S>, sd: S, peak: S) -> Echo<S> {
        Echo {
            range: merged.range + self.bias(sd, peak),
            power: peak,
            width: sd * 2.0 * GAUSSIAN_FWHM_OVER_SD / SPEED_OF_LIGHT,
        }
    }

    /// Range measured by the discriminator minus the mean range of an echo with a standard deviation (m) and
    /// a peak power, m.
    #[inline]
    fn bias(&self, sd: S, peak: S) -> S {
        match self.timed {
            TimedFeature::Pulse => S::zero(),
            TimedFeature::Edge { level } => (self.pulse_sd - sd) * level,
            TimedFeature::Threshold { zero } => zero - sd * level(peak / self.threshold),
        }
    }
}
