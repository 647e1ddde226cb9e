//! Sampled received power over time.

use super::{Pulse, PulseReturn};
use crate::{SPEED_OF_LIGHT, Scalar};

/// Time window of the receiver on its sampling clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingWindow {
    /// Time of the first sample after emission of the pulse, s.
    pub start: f64,
    /// Time between samples, s.
    pub interval: f64,
    /// Number of samples.
    pub samples: usize,
}

/// Samples of the received power.
#[derive(Clone, Debug, PartialEq)]
pub struct Waveform {
    /// Time of the first sample after emission of the pulse, s.
    pub start: f64,
    /// Time between samples, s.
    pub interval: f64,
    /// Power at each sample.
    pub samples: Vec<f64>,
}

/// Received power of returns on a sampling clock, evaluated sample by sample in a scalar that may carry
/// derivatives: recomputes samples that were selected on a [`Waveform`].
#[derive(Clone, Copy, Debug)]
pub struct WaveformModel<'a, S> {
    /// The pulse.
    pub pulse: &'a Pulse<S>,
    /// Returns of light.
    pub returns: &'a [PulseReturn<S>],
    /// Time of sample 0 after emission of the pulse, s.
    pub start: S,
    /// Time between samples, s.
    pub interval: S,
}

impl<S: Scalar> WaveformModel<'_, S> {
    /// Power of a sample: that of [`Waveform::received`] on the same clock.
    pub fn power(&self, sample: usize) -> S {
        let [before, after] = self.pulse.plain().support();
        let mut power = S::zero();
        for one in self.returns {
            let arrival = one.range * 2.0 / SPEED_OF_LIGHT - self.start;
            let t = -arrival + self.interval * sample as f64;
            if (-before..after).contains(&t.value()) {
                power += one.power * self.pulse.power(t);
            }
        }
        power
    }
}

impl SamplingWindow {
    /// Window on a clock with `interval` (s) that contains the pulses of all returns between two ranges (m).
    pub fn around(pulse: &Pulse, interval: f64, near: f64, far: f64) -> Self {
        let [before, after] = pulse.support();
        let first = ((2.0 * near / SPEED_OF_LIGHT - before) / interval).floor();
        let last = ((2.0 * far / SPEED_OF_LIGHT + after) / interval).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive whole number of samples"
        )]
        let samples = (last - first).max(0.0) as usize + 1;
        Self {
            start: first * interval,
            interval,
            samples,
        }
    }
}

impl Waveform {
    /// The waveform of `returns` in `window`, without background or noise:
    /// $P(t_i) = \sum_j L_j\\,p(t_i - 2R_j/c)$ with the power $L_j$ and half optical path $R_j$ of each return
    /// and the pulse $p$.
    ///
    /// ```
    /// use etendue_physics::pulse::{Pulse, PulseReturn, SamplingWindow, Waveform};
    /// let pulse = Pulse::gaussian(5e-9);
    /// let window = SamplingWindow::around(&pulse, 1e-9, 10.0, 10.0);
    /// let waveform = Waveform::received(&pulse, &[PulseReturn { range: 10.0, power: 0.2 }], window);
    /// let peak = waveform.samples.iter().copied().fold(0.0, f64::max);
    /// assert!((0.19..=0.2).contains(&peak));
    /// ```
    pub fn received<S: Scalar>(
        pulse: &Pulse,
        returns: &[PulseReturn<S>],
        window: SamplingWindow,
    ) -> Self {
        let mut waveform = Self {
            start: window.start,
            interval: window.interval,
            samples: vec![0.0; window.samples],
        };
        for one in returns {
            let one = PulseReturn {
                range: one.range.value(),
                power: one.power.value(),
            };
            waveform.add(pulse, &one);
        }
        waveform
    }

    /// Adds the power of one return.
    fn add(&mut self, pulse: &Pulse, one: &PulseReturn) {
        let arrival = 2.0 * one.range / SPEED_OF_LIGHT - self.start;
        let [before, after] = pulse.support();
        let [from, to] = [arrival - before, arrival + after].map(|t| self.index_within(t));
        for (i, sample) in self.samples[from..to].iter_mut().enumerate() {
            let t = (from + i) as f64 * self.interval - arrival;
            *sample += one.power * pulse.power(t);
        }
    }

    /// The first sample not before `t` (s from the start), within the waveform.
    fn index_within(&self, t: f64) -> usize {
        let index = (t / self.interval).ceil().max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and saturating"
        )]
        let index = index as usize;
        index.min(self.samples.len())
    }

    /// Time of a (fractional) sample after emission of the pulse, s.
    pub fn time(&self, sample: f64) -> f64 {
        self.start + sample * self.interval
    }

    /// Clips every sample at `top`, the power at which the detector saturates.
    pub fn saturate(&mut self, top: f64) {
        for sample in &mut self.samples {
            *sample = sample.min(top);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_energy_of_a_waveform_is_the_sum_of_its_returns() {
        let pulse = Pulse::gaussian(4e-9);
        let returns = [(20.0, 0.3), (21.5, 0.1), (60.0, 0.02)]
            .map(|(range, power)| PulseReturn { range, power });
        let window = SamplingWindow::around(&pulse, 0.5e-9, 20.0, 60.0);
        let waveform = Waveform::received(&pulse, &returns, window);
        let energy = waveform.samples.iter().sum::<f64>() * waveform.interval;
        let expected = 0.42 * pulse.energy_over_peak();
        assert!(
            (energy / expected - 1.0).abs() < 1e-6,
            "{energy} {expected}"
        );
    }

    #[test]
    fn a_return_after_the_end_of_the_window_is_not_recorded() {
        let pulse = Pulse::gaussian(4e-9);
        let window = SamplingWindow::around(&pulse, 1e-9, 1.0, 2.0);
        let waveform = Waveform::received(
            &pulse,
            &[PulseReturn {
                range: 50.0,
                power: 1.0,
            }],
            window,
        );
        assert!(!waveform.samples.is_empty());
        assert!(waveform.samples.iter().all(|p| *p == 0.0));
    }
}
