//! From light to a range.

use super::{
    Ambiguity, AutomaticGain, Bias, Modulation, NoDetection, Noise, Phasor, SAMPLES,
    SamplingScheme, Window,
};
use crate::{Scalar, Stream};
use thiserror::Error;

/// How a receiver measures a wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The phasor itself, plus noise of the size that the samples' noise would give it: exact for
    /// noise that is small against the converter's range, and fast.
    #[default]
    ClosedForm,
    /// Samples of the wave, each with noise, amplified, clipped and quantised, then summed.
    Sampled,
}

/// The light of one beam that reached the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseSignal<S> {
    /// The wave of each frequency.
    pub waves: [Phasor<S>; 2],
    /// Sum of all returns' power.
    pub power: S,
    /// Light that is not the sensor's own, in units of received power: it adds photon noise.
    pub background: f64,
}

/// A receiver of continuous-wave light at two frequencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Receiver<S> {
    /// The frequencies.
    pub modulation: Modulation,
    /// When the converter samples.
    pub sampling: SamplingScheme,
    /// Bits of the converter; none for one that does not quantise.
    pub converter_bits: Option<u32>,
    /// The automatic gain.
    pub gain: AutomaticGain,
    /// Noise of each sample.
    pub noise: Noise,
    /// What lets ambient light in; none for a receiver that none is known of.
    pub window: Option<Window>,
    /// Below this amplitude nothing is detected, in units of received power.
    pub detectable: f64,
    /// Below this amplitude the intensity is too low for a range, in units of received power.
    pub sufficient: f64,
    /// How two phases become one range.
    pub ambiguity: Ambiguity,
    /// How the received power shifts the range.
    pub bias: Bias<S>,
    /// Closed form or samples.
    pub method: Method,
}

/// A range measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detection<S> {
    /// The range, m.
    pub range: S,
    /// By how much the two frequencies differ, m.
    pub disagreement: f64,
}

/// Why a receiver cannot work.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InvalidReceiver {
    /// A number that must be positive is not.
    #[error("{name} is {value}, it must be positive and finite")]
    NotPositive {
        /// The quantity.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number is negative.
    #[error("{name} is {value}, it must be zero or more")]
    Negative {
        /// The quantity.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A lower limit is not below its upper limit.
    #[error("{lower_name} {lower} is not below {upper_name} {upper}; are they exchanged?")]
    Exchanged {
        /// The lower limit.
        lower_name: &'static str,
        /// Its value.
        lower: f64,
        /// The upper limit.
        upper_name: &'static str,
        /// Its value.
        upper: f64,
    },
    /// The frequencies have a common factor, or there are not two.
    #[error("frequency multiples {multiples:?} must be two different coprime numbers above zero")]
    Multiples {
        /// The multiples.
        multiples: [u32; 2],
    },
    /// A converter of no or too many bits.
    #[error("a converter of {bits} bits cannot be; use 1 to 32")]
    Bits {
        /// The number of bits.
        bits: u32,
    },
}

impl<S: Scalar> PhaseSignal<S> {
    /// No light.
    pub fn nothing() -> Self {
        Self {
            waves: [Phasor::zero(); 2],
            power: S::zero(),
            background: 0.0,
        }
    }

    /// Adds a return from half the optical path `half_path` (m) with received power `power`.
    #[inline]
    pub fn add(&mut self, modulation: &Modulation, half_path: S, power: S) {
        let units = modulation.waves(half_path);
        for (wave, unit) in self.waves.iter_mut().zip(&units) {
            wave.add_scaled(power, unit);
        }
        self.power += power;
    }
}

impl<S: Scalar> Receiver<S> {
    /// The range of the light received, or why there is none.
    ///
    /// Choices (faults, whole periods) are made on values; noise and whole periods are constant
    /// under differentiation.
    ///
    /// # Errors
    /// A [`NoDetection`], where the device would report an error code.
    pub fn measure(
        &self,
        received: &PhaseSignal<S>,
        stream: &mut Stream,
    ) -> Result<Detection<S>, NoDetection> {
        let power = received.power.value();
        if power <= 0.0 {
            return Err(NoDetection::NothingReceived);
        }
        let gain = self.gain.at(power);
        if gain * power > 1.0 {
            return Err(NoDetection::StrongReflector);
        }
        let waves = self.disturbed(received, gain, stream);
        self.check_intensity(&waves)?;
        let bias = self.bias.phase(received.power);
        let wrapped = self
            .modulation
            .wrapped_ranges([waves[0].phase() - bias, waves[1].phase() - bias]);
        self.resolve(wrapped, self.bias.range(received.power))
    }

    fn check_intensity(&self, waves: &[Phasor<S>; 2]) -> Result<(), NoDetection> {
        let [a, b] = [waves[0].value().amplitude(), waves[1].value().amplitude()];
        match a.min(b) {
            amplitude if amplitude <= 0.0 || amplitude < self.detectable => {
                Err(NoDetection::NothingReceived)
            }
            amplitude if amplitude < self.sufficient => Err(NoDetection::LowIntensity),
            _ => Ok(()),
        }
    }

    fn resolve(&self, wrapped: [S; 2], bias: S) -> Result<Detection<S>, NoDetection> {
        let Ambiguity {
            nearest,
            farthest,
            gate,
            ..
        } = self.ambiguity;
        let found = self.ambiguity.search(&self.modulation, wrapped);
        let Some(resolved) = found.filter(|found| found.disagreement <= gate) else {
            return Err(self.beyond(wrapped, bias));
        };
        let range = resolved.range - bias;
        if range.value() < nearest {
            return Err(NoDetection::TooNear {
                range: range.value(),
            });
        }
        if range.value() > farthest {
            return Err(NoDetection::BeyondRange {
                range: range.value(),
            });
        }
        Ok(Detection {
            range,
            disagreement: resolved.disagreement,
        })
    }

    /// Why no candidate within the limits fits: the object is farther, or the phases contradict
    /// each other.
    fn beyond(&self, wrapped: [S; 2], bias: S) -> NoDetection {
        let whole = self.ambiguity.whole(&self.modulation, wrapped);
        let range = (whole.range - bias).value();
        if whole.disagreement <= self.ambiguity.gate && range > self.ambiguity.farthest {
            return NoDetection::BeyondRange { range };
        }
        let disagreement = self
            .ambiguity
            .search(&self.modulation, wrapped)
            .map_or(whole.disagreement, |best| best.disagreement);
        NoDetection::Disagreement { disagreement }
    }

    /// The waves as measured.
    fn disturbed(
        &self,
        received: &PhaseSignal<S>,
        gain: f64,
        stream: &mut Stream,
    ) -> [Phasor<S>; 2] {
        let power = received.power.value() + received.background;
        let mut of = |k: usize| {
            let wave = &received.waves[k];
            let measured = match self.method {
                Method::ClosedForm => self.with_noise(wave.value(), power, gain, stream),
                Method::Sampled => {
                    let offset = self.modulation.offsets[k];
                    self.sampled(&wave.value().delayed(-offset), power, gain, stream)
                        .delayed(offset)
                }
            };
            wave.moved_to(&measured)
        };
        [of(0), of(1)]
    }

    /// Each part of a phasor from N samples has the variance $2\sigma_n^2/N$.
    fn with_noise(
        &self,
        wave: Phasor<f64>,
        power: f64,
        gain: f64,
        stream: &mut Stream,
    ) -> Phasor<f64> {
        let rounding = self.converter_step().unwrap_or(0.0) / gain;
        let variance = self.noise.variance(power, gain) + rounding * rounding / 12.0;
        if variance == 0.0 {
            return wave;
        }
        let sd = (2.0 * variance / SAMPLES as f64).sqrt();
        let [a, b] = stream.normal_pair();
        Phasor {
            re: wave.re + sd * a,
            im: wave.im + sd * b,
        }
    }

    fn sampled(
        &self,
        wave: &Phasor<f64>,
        power: f64,
        gain: f64,
        stream: &mut Stream,
    ) -> Phasor<f64> {
        let step = self.converter_step();
        let mut normals = stream.normals();
        self.sampling.phasor(|carrier| {
            let signal = wave.re * carrier.sin - wave.im * carrier.cos;
            let sd = self.noise.variance(power + signal, gain).sqrt();
            let noise = if sd > 0.0 {
                sd * normals.next().expect("draws do not end")
            } else {
                0.0
            };
            let volts = (gain * (signal + noise)).clamp(-1.0, 1.0);
            step.map_or(volts, |step| quantised(volts, step)) / gain
        })
    }

    /// One step of the converter, in half ranges.
    fn converter_step(&self) -> Option<f64> {
        self.converter_bits.map(|bits| 2.0 / (1_u64 << bits) as f64)
    }
}

/// A converter's codes stand for the middles of its steps.
fn quantised(volts: f64, step: f64) -> f64 {
    let highest = 1.0 - step / 2.0;
    (((volts / step).floor() + 0.5) * step).clamp(-highest, highest)
}

impl<T> Receiver<T> {
    /// The same receiver with every differentiable number replaced by `f` of it.
    pub fn map<U>(&self, f: impl FnMut(T) -> U) -> Receiver<U>
    where
        T: Copy,
    {
        Receiver {
            modulation: self.modulation,
            sampling: self.sampling,
            converter_bits: self.converter_bits,
            gain: self.gain,
            noise: self.noise,
            window: self.window,
            detectable: self.detectable,
            sufficient: self.sufficient,
            ambiguity: self.ambiguity,
            bias: self.bias.map(f),
            method: self.method,
        }
    }

    /// Whether every number makes sense.
    ///
    /// # Errors
    /// The first that does not, with its name.
    pub fn check(&self) -> Result<(), InvalidReceiver> {
        let [m1, m2] = self.modulation.multiples;
        if m1.min(m2) == 0 || m1 == m2 || gcd(m1, m2) != 1 {
            let multiples = self.modulation.multiples;
            return Err(InvalidReceiver::Multiples { multiples });
        }
        if let Some(bits) = self.converter_bits.filter(|bits| !(1..=32).contains(bits)) {
            return Err(InvalidReceiver::Bits { bits });
        }
        positive("base frequency", self.modulation.base_frequency)?;
        positive("gain target", self.gain.target)?;
        positive("weakest power", self.gain.weakest)?;
        positive("disagreement gate", self.ambiguity.gate)?;
        if let Some(window) = &self.window {
            positive("emitted power", window.emitted_power)?;
            positive("field of view", window.field_of_view)?;
            positive("bandwidth of the filter", window.bandwidth)?;
        }
        for (name, value) in [
            ("amplifier noise", self.noise.amplifier),
            ("shot noise", self.noise.shot),
            ("background power", self.noise.background),
            ("converter noise", self.noise.converter),
            ("detectable power", self.detectable),
            ("slack of the range limits", self.ambiguity.slack),
            ("nearest range", self.ambiguity.nearest),
        ] {
            not_negative(name, value)?;
        }
        let powers = (self.gain.weakest, self.gain.strongest);
        ordered(("weakest power", powers.0), ("strongest power", powers.1))?;
        let limits = (self.ambiguity.nearest, self.ambiguity.farthest);
        ordered(("nearest range", limits.0), ("farthest range", limits.1))
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn positive(name: &'static str, value: f64) -> Result<(), InvalidReceiver> {
    let fine = value > 0.0 && value.is_finite();
    fine.then_some(())
        .ok_or(InvalidReceiver::NotPositive { name, value })
}

fn not_negative(name: &'static str, value: f64) -> Result<(), InvalidReceiver> {
    let fine = value >= 0.0 && value.is_finite();
    fine.then_some(())
        .ok_or(InvalidReceiver::Negative { name, value })
}

fn ordered(lower: (&'static str, f64), upper: (&'static str, f64)) -> Result<(), InvalidReceiver> {
    (lower.1 < upper.1)
        .then_some(())
        .ok_or(InvalidReceiver::Exchanged {
            lower_name: lower.0,
            lower: lower.1,
            upper_name: upper.0,
            upper: upper.1,
        })
}
