//! Echoes in a waveform.

use super::discriminator::EchoSamples;
use super::{Discriminator, Pulse, Return, Waveform, Window};
use crate::SPEED_OF_LIGHT;

/// One echo, as a device finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Echo<S = f64> {
    /// Range, m.
    pub range: S,
    /// Power at its peak.
    pub power: S,
    /// Full width at half maximum, s.
    pub width: S,
}

/// Finds echoes in sampled waveforms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EchoFinder {
    /// What is timed.
    pub discriminator: Discriminator,
    /// Power that an echo must reach.
    pub threshold: f64,
    /// Two peaks are two echoes where the power between them falls by at least this below the
    /// lower one; else they merge, as they do in the device.
    pub hysteresis: f64,
    /// What the discriminator reads for the reference echo less the time of its peak, s:
    /// subtracted from every reading.
    pub zero: f64,
}

impl EchoFinder {
    /// A finder whose range is right for a single pulse of the peak power `reference`.
    ///
    /// ```
    /// use etendue_physics::pulse::{Discriminator, EchoFinder, Pulse};
    /// let half = Discriminator::ConstantFraction { fraction: 0.5 };
    /// let finder = EchoFinder::calibrated(&Pulse::gaussian(4e-9), half, 1e-6, 2e-7, 1e-3);
    /// assert!((finder.zero + 2e-9).abs() < 1e-13);
    /// ```
    pub fn calibrated(
        pulse: &Pulse,
        discriminator: Discriminator,
        threshold: f64,
        hysteresis: f64,
        reference: f64,
    ) -> Self {
        let uncalibrated = Self {
            discriminator,
            threshold,
            hysteresis,
            zero: 0.0,
        };
        let (interval, one) = (
            pulse.fwhm * 1e-3,
            Return {
                range: 1.0,
                power: reference,
            },
        );
        let window = Window::around(pulse, interval, one.range, one.range);
        let echoes = uncalibrated.find(&Waveform::received(pulse, &[one], window));
        let read = echoes.first().map_or(one.range, |echo| echo.range);
        Self {
            zero: 2.0 * (read - one.range) / SPEED_OF_LIGHT,
            ..uncalibrated
        }
    }

    /// The echoes of a waveform, nearest first.
    pub fn find(&self, waveform: &Waveform) -> Vec<Echo> {
        let mut echoes = Vec::new();
        self.find_into(waveform, &mut echoes);
        echoes
    }

    /// [`EchoFinder::find`] that appends to `echoes`.
    pub fn find_into(&self, waveform: &Waveform, echoes: &mut Vec<Echo>) {
        let (samples, mut edge_from, mut i) = (&waveform.samples, 0, 0);
        while i < samples.len() {
            if samples[i] < self.threshold {
                i += 1;
                continue;
            }
            let echo = self.follow(samples, edge_from, i);
            echoes.push(self.measure(waveform, &echo));
            (edge_from, i) = (echo.to - 1, echo.to);
        }
    }

    /// Follows the echo that begins at `from` to where it falls below the threshold, or to the
    /// valley before the next one.
    fn follow<'a>(&self, samples: &'a [f64], edge_from: usize, from: usize) -> EchoSamples<'a> {
        let (mut peak, mut valley, mut to) = (from, from, samples.len());
        for i in from..samples.len() {
            if samples[i] < self.threshold {
                to = i;
                break;
            }
            if samples[i] > samples[peak] && samples[valley] > samples[peak] - self.hysteresis {
                (peak, valley) = (i, i);
            }
            if samples[i] < samples[valley] {
                valley = i;
            }
            let fell = samples[peak] - samples[valley] >= self.hysteresis;
            if fell && samples[i] - samples[valley] >= self.hysteresis {
                to = valley + 1;
                break;
            }
        }
        EchoSamples {
            samples,
            edge_from,
            from,
            to,
            peak,
        }
    }

    fn measure(&self, waveform: &Waveform, echo: &EchoSamples) -> Echo {
        let instant = waveform.time(self.discriminator.instant(echo, self.threshold));
        Echo {
            range: 0.5 * SPEED_OF_LIGHT * (instant - self.zero),
            power: echo.vertex().1,
            width: echo.width() * waveform.interval,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Discriminator; 5] = [
        Discriminator::Threshold,
        Discriminator::LeadingEdge,
        Discriminator::ConstantFraction { fraction: 0.5 },
        Discriminator::Peak,
        Discriminator::Centroid,
    ];

    fn echoes(discriminator: Discriminator, returns: &[(f64, f64)]) -> Vec<Echo> {
        let pulse = Pulse::gaussian(4e-9);
        let returns: Vec<Return> = returns
            .iter()
            .map(|&(range, power)| Return { range, power })
            .collect();
        let finder = EchoFinder::calibrated(&pulse, discriminator, 0.01, 0.002, 1.0);
        let far = returns.iter().fold(0.0, |far: f64, r| far.max(r.range));
        let window = Window::around(&pulse, 0.25e-9, 1.0, far);
        finder.find(&Waveform::received(&pulse, &returns, window))
    }

    /// Anywhere on the sampling grid of 0.25 ns (37 mm) the linear interpolation of the edge is
    /// good to 2 mm (measured 1.1, at the curved foot of the pulse that the threshold times).
    #[test]
    fn the_reference_echo_reads_its_own_range_with_every_discriminator() {
        for discriminator in ALL {
            for range in [7.0, 7.011, 7.023, 55.567] {
                let found = echoes(discriminator, &[(range, 1.0)]);
                assert_eq!(found.len(), 1);
                let error = (found[0].range - range).abs();
                assert!(error < 2e-3, "{discriminator:?} at {range}: {error}");
                assert!((found[0].width - 4e-9).abs() < 2e-11);
                assert!((found[0].power - 1.0).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn weak_echoes_read_long_by_a_threshold_and_right_by_a_constant_fraction() {
        let bias = |d| echoes(d, &[(20.0, 0.05)])[0].range - 20.0;
        assert!(bias(Discriminator::Threshold) > 0.15);
        assert!(bias(Discriminator::ConstantFraction { fraction: 0.5 }).abs() < 1e-3);
    }

    #[test]
    fn echoes_closer_than_the_pulse_merge_and_farther_ones_do_not() {
        // The pulse is 0.6 m long at half its peak.
        let count = |gap| echoes(Discriminator::Peak, &[(20.0, 0.5), (20.0 + gap, 0.5)]).len();
        assert_eq!([0.1, 0.3, 0.45].map(count), [1, 1, 1]);
        assert_eq!([0.65, 1.0, 5.0].map(count), [2, 2, 2]);
    }

    #[test]
    fn what_stays_below_the_threshold_is_not_there() {
        for discriminator in ALL {
            assert_eq!(echoes(discriminator, &[(20.0, 0.0099)]).len(), 0);
            assert_eq!(echoes(discriminator, &[(20.0, 0.0101)]).len(), 1);
        }
    }
}
