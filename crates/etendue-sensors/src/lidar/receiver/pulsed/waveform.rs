//! Detection of echoes in sampled waveforms.

use super::PulsedReceiver;
use super::sections::{Section, sections};
use crate::lidar::backscatter::{Backscatter, FAINT};
use etendue_physics::pulse::{
    AnalyticFinder, Digitiser, Echo, EchoFinder, PulseReturn, SamplingWindow, Waveform,
    WaveformModel,
};
use etendue_physics::{Scalar, Stream};
use std::cell::OnceCell;

/// Search for echoes in waveforms, for receivers that sample and for air whose backscatter may form echoes.
pub(super) struct WaveformSearch<'a, S> {
    pub receiver: &'a PulsedReceiver<S>,
    pub finder: &'a EchoFinder<S>,
    /// Finder of echoes outside of the backscatter, for receivers with a closed form.
    pub analytic: Option<&'a AnalyticFinder<S>>,
    /// Whether samples are rounded to the converter's codes.
    pub rounding: bool,
}

impl<S: Scalar> WaveformSearch<'_, S> {
    /// Appends the echoes of returns (sorted in place) and of the backscatter.
    ///
    /// Only sections are sampled whose power plus six standard deviations of noise reaches the threshold.
    /// False alarms between them are not simulated here.
    pub fn find(
        &self,
        returns: &mut [PulseReturn<S>],
        backscatter: Option<&Backscatter<S>>,
        mut noise: Option<&mut Stream>,
        echoes: &mut Vec<Echo<S>>,
    ) {
        let receiver = self.receiver;
        returns.sort_unstable_by(|a, b| a.range.value().total_cmp(&b.range.value()));
        let threshold = receiver.threshold.value();
        let faint = backscatter.map_or(0.0, |_| FAINT * threshold);
        let pulse = receiver.pulse.plain();
        sections(
            returns,
            backscatter,
            &pulse,
            &receiver.detector,
            |section| {
                if let (false, Some(analytic)) = (section.bright, self.analytic) {
                    let mut returns = section.returns.to_vec();
                    return analytic.find(&mut returns, noise.as_deref_mut(), echoes);
                }
                let powers = section.returns.iter().map(|one| one.power.value().max(0.0));
                let most = powers.sum::<f64>() + faint;
                if section.bright || most + 6.0 * receiver.detector.noise(most) >= threshold {
                    self.find_in(&section, backscatter, noise.as_deref_mut(), echoes);
                }
            },
        );
    }

    /// Appends the echoes in the waveform of one section. They get the jitter of the clock where
    /// echoes of the closed form, which includes it in its spread, are next to them.
    ///
    /// Echoes are found in the noisy samples; the few samples that an echo is read from carry the
    /// derivatives of the mean waveform.
    fn find_in(
        &self,
        section: &Section<S>,
        backscatter: Option<&Backscatter<S>>,
        mut noise: Option<&mut Stream>,
        echoes: &mut Vec<Echo<S>>,
    ) {
        // Sample the waveform.
        let receiver = self.receiver;
        let interval = receiver.interval;
        let pulse = receiver.pulse.plain();
        let window = SamplingWindow::around(&pulse, interval, section.near, section.far);
        let noise_of_samples = noise.as_deref_mut();
        let waveform = receiver.waveform(
            section.returns,
            backscatter,
            window,
            noise_of_samples,
            self.rounding,
        );
        // Light of the samples, and the tail after saturation, with derivatives.
        let mean = WaveformModel {
            pulse: &receiver.pulse,
            returns: section.returns,
            start: S::from(window.start),
            interval: S::from(interval),
        };
        let first = (window.start / interval).round();
        let top = receiver.detector.saturation();
        let light = |i: usize| {
            let of_air = backscatter.map_or(S::zero(), |air| air.power(first + i as f64));
            mean.power(i) + of_air
        };
        let tail = OnceCell::new();
        let tail_at = |i: usize| {
            let recovery = receiver.detector.recovery()?;
            let light = || (0..waveform.samples.len()).map(light).collect::<Vec<S>>();
            let tail = tail.get_or_init(|| recovery.tail(&light(), interval, top));
            Some(tail[i])
        };
        let sample = |i: usize| {
            S::with_derivatives_of(waveform.samples[i], || {
                let power = light(i) + tail_at(i).unwrap_or(S::zero());
                power.min(S::from(top))
            })
        };
        // Find the echoes.
        let before = echoes.len();
        self.finder
            .find_with(&waveform, sample, |echo| echoes.push(echo));
        // Add the jitter of the clock.
        if let (Some(noise), Some(_)) = (noise, self.analytic) {
            for echo in &mut echoes[before..] {
                echo.range += receiver.jitter * noise.normal();
            }
        }
    }
}

impl<S: Scalar> PulsedReceiver<S> {
    /// The sampled waveform of returns and backscatter, with noise, saturation and quantisation.
    pub(in crate::lidar) fn waveform(
        &self,
        returns: &[PulseReturn<S>],
        backscatter: Option<&Backscatter<S>>,
        window: SamplingWindow,
        noise: Option<&mut Stream>,
        rounding: bool,
    ) -> Waveform {
        // Sum the power of returns and backscatter.
        let mut waveform = Waveform::received(&self.pulse.plain(), returns, window);
        if let Some(backscatter) = backscatter {
            backscatter.add_to(&mut waveform);
        }
        // Add noise, clip and quantise.
        match noise {
            Some(stream) => self.detector.read(&mut waveform, stream),
            None => self.detector.read_mean(&mut waveform),
        }
        if rounding {
            let digitiser = Digitiser {
                interval: self.interval,
                bits: self.bits,
                full_scale: self.detector.saturation(),
            };
            digitiser.quantise(&mut waveform);
        }
        waveform
    }
}
