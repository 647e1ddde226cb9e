//! Closed-form reading of a discriminator for a Gaussian echo.

use super::merge::Merged;
use super::shape::GAUSSIAN_FWHM_OVER_SD;
use super::{AnalyticReceiver, Discriminator, Echo};
use crate::{SPEED_OF_LIGHT, Scalar};

/// Constants shared by all echoes of one pulse and discriminator, in a scalar that may carry
/// derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClosedForm<S = f64> {
    /// Distance within which returns merge, m.
    pub length: f64,
    /// Standard deviation of the pulse, m.
    pulse_sd: S,
    threshold: S,
    timed: Timed<S>,
}

/// Timed feature of the pulse, with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Timed<S = f64> {
    /// The whole pulse.
    Pulse,
    /// The leading edge, `level` standard deviations before the peak.
    Edge { level: f64 },
    /// The threshold; the reference echo crosses it `zero` (m) before its peak.
    Threshold { zero: S },
}

/// Number of standard deviations before its peak at which a Gaussian is `1 / ratio` of it.
fn level<S: Scalar>(ratio: S) -> S {
    (ratio.max(S::one()).ln() * 2.0).sqrt()
}

impl<S: Scalar> ClosedForm<S> {
    pub fn new(receiver: &AnalyticReceiver<S>) -> Self {
        let pulse_sd = receiver.pulse.fwhm * (0.5 * SPEED_OF_LIGHT) / GAUSSIAN_FWHM_OVER_SD;
        let timed = match receiver.discriminator {
            Discriminator::Peak | Discriminator::Centroid => Timed::Pulse,
            Discriminator::LeadingEdge => Timed::Edge { level: 1.0 },
            Discriminator::ConstantFraction { fraction } => Timed::Edge {
                level: level(1.0 / fraction),
            },
            Discriminator::Threshold => Timed::Threshold {
                zero: pulse_sd * level(receiver.reference / receiver.threshold),
            },
        };
        Self {
            length: 0.5 * SPEED_OF_LIGHT * receiver.pulse.fwhm.value(),
            pulse_sd,
            threshold: receiver.threshold,
            timed,
        }
    }

    /// Timed feature of the pulse.
    pub fn timed(&self) -> Timed<S> {
        self.timed
    }

    /// The same pulse with another timed feature.
    pub fn timing(self, timed: Timed<S>) -> Self {
        Self { timed, ..self }
    }

    /// Standard deviation of the echo of merged returns, m: $\sqrt{\sigma_p^2 + \operatorname{var} R}$.
    #[inline]
    pub fn sd(&self, merged: &Merged<S>) -> S {
        (self.pulse_sd * self.pulse_sd + merged.variance).sqrt()
    }

    /// Peak power of an echo with the given standard deviation.
    #[inline]
    pub fn peak(&self, merged: &Merged<S>, sd: S) -> S {
        merged.power * (self.pulse_sd / sd)
    }

    /// Echo of merged returns as read by the discriminator, with the given peak power.
    #[inline]
    pub fn echo(&self, merged: &Merged<S>, sd: S, peak: S) -> Echo<S> {
        Echo {
            range: merged.range + self.bias(sd, peak),
            power: peak,
            width: sd * 2.0 * GAUSSIAN_FWHM_OVER_SD / SPEED_OF_LIGHT,
        }
    }

    /// Reading of the discriminator for an echo of the given width and peak, less its mean range,
    /// m.
    #[inline]
    fn bias(&self, sd: S, peak: S) -> S {
        match self.timed {
            Timed::Pulse => S::zero(),
            Timed::Edge { level } => (self.pulse_sd - sd) * level,
            Timed::Threshold { zero } => zero - sd * level(peak / self.threshold),
        }
    }
}
