//! Phase receiver: range from the phase of light that is amplitude-modulated at two frequencies.
//!
//! The waves of all light on the detector superpose to one phasor for each frequency
//! ([`PhaseSignal`]); the receiver measures both, subtracts its bias, and resolves the number of whole
//! periods ([`Ambiguity`]). It reports one range per beam, or the reason why there is none
//! ([`NoDetection`]): it cannot tell several surfaces in one beam apart, but returns a range between
//! or outside them (a mixed pixel).
//!
//! In weather, light from the air adds to the phasors like light from surfaces: fog pulls ranges
//! towards the sensor instead of making separate echoes.
//!
//! Equations and sources: [`etendue_physics::phase`].

use crate::RangeReading;
use crate::lidar::RangeLimits;
use crate::lidar::check::{Wrong, zero_or_more};
use etendue_physics::atmosphere::Overlap;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Bias, Modulation, NoDetection, Noise, PhaseSignal, Phasor, SAMPLES,
    SamplingScheme, Window,
};
use etendue_physics::{Scalar, Stream};
use thiserror::Error;

/// How a receiver measures a wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PhaseMethod {
    /// The phasor itself, plus noise of the size that the samples' noise would give it: exact for
    /// noise that is small against the converter's range, and fast.
    #[default]
    ClosedForm,
    /// Samples of the wave, each with noise, amplified, clipped and quantised, then summed.
    Sampled,
}

/// A receiver of light that is amplitude-modulated at two frequencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseReceiver<S = f64> {
    /// The two modulation frequencies.
    pub modulation: Modulation,
    /// Instants at which the converter samples the wave.
    pub sampling: SamplingScheme,
    /// Bits of the converter; none for a converter without quantisation.
    pub converter_bits: Option<u32>,
    /// Automatic gain.
    pub gain: AutomaticGain,
    /// Noise of each sample.
    pub noise: Noise,
    /// Field of view and filter that admit ambient light; none admits none.
    pub window: Option<Window>,
    /// Least amplitude that is detected, 1/(m² sr).
    pub detectable: f64,
    /// Least amplitude that gives a range, 1/(m² sr).
    pub sufficient: f64,
    /// Search of the whole periods between the range limits, and combination of both ranges.
    pub ambiguity: Ambiguity,
    /// Range error that depends on the received power.
    pub bias: Bias<S>,
    /// Closed form or samples.
    pub method: PhaseMethod,
    /// Smallest range at which all light of the air lands on the detector, m
    /// ([`Overlap::full_from`]).
    pub full_overlap: f64,
}

/// A measured range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseDetection<S> {
    /// Range, m.
    pub range: S,
    /// Difference between the ranges of both frequencies, m.
    pub disagreement: f64,
}

/// Why a receiver cannot work.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InvalidPhaseReceiver {
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

impl<S: Scalar> PhaseReceiver<S> {
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
    ) -> Result<PhaseDetection<S>, NoDetection> {
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

    fn resolve(&self, wrapped: [S; 2], bias: S) -> Result<PhaseDetection<S>, NoDetection> {
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
        Ok(PhaseDetection {
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
                PhaseMethod::ClosedForm => self.with_noise(wave.value(), power, gain, stream),
                PhaseMethod::Sampled => {
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

    /// Checks the range of full overlap; the other numbers are [`PhaseReceiver::check`]'s.
    pub(super) fn check_overlap(&self) -> Result<(), Wrong> {
        zero_or_more(&[("the range of full overlap, m,", self.full_overlap)])
    }

    /// The same receiver without noise and without the steps of its converter.
    #[must_use]
    pub fn without_noise(self) -> Self {
        Self {
            converter_bits: None,
            noise: Noise::default(),
            method: PhaseMethod::ClosedForm,
            ..self
        }
    }

    /// Overlap of emitted beam and field of view: no light of the air before the nearest range.
    pub fn overlap(&self) -> Overlap {
        Overlap {
            none_until: self.ambiguity.nearest,
            full_from: self.full_overlap,
        }
    }

    /// One step of the converter, in half ranges.
    fn converter_step(&self) -> Option<f64> {
        self.converter_bits.map(|bits| 2.0 / (1_u64 << bits) as f64)
    }
}

/// What the device reports of a measurement, its range rounded to the step of the limits.
pub(in crate::lidar) fn reading(
    outcome: &Result<PhaseDetection<f64>, NoDetection>,
    range_offset: f64,
    limits: &RangeLimits,
) -> RangeReading {
    match outcome {
        Ok(detection) => {
            // The steps of a metre divide: multiplying by the step gives 1.7550000000000001 for 1.755.
            let range = detection.range + range_offset;
            RangeReading::Range(if limits.step > 0.0 {
                (range / limits.step).round() / limits.step.recip()
            } else {
                range
            })
        }
        Err(NoDetection::TooNear { .. }) => RangeReading::TooNear,
        Err(reason) => match reason.urg_code() {
            Some(0) | None => RangeReading::NoReturn,
            Some(code) => RangeReading::Error(code),
        },
    }
}

/// A converter's codes stand for the middles of its steps.
fn quantised(volts: f64, step: f64) -> f64 {
    let highest = 1.0 - step / 2.0;
    (((volts / step).floor() + 0.5) * step).clamp(-highest, highest)
}

impl<T> PhaseReceiver<T> {
    /// The same receiver with every differentiable number replaced by `f` of it.
    pub fn map<U>(&self, f: impl FnMut(T) -> U) -> PhaseReceiver<U>
    where
        T: Copy,
    {
        PhaseReceiver {
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
            full_overlap: self.full_overlap,
        }
    }

    /// Whether every number makes sense.
    ///
    /// # Errors
    /// The first that does not, with its name.
    pub fn check(&self) -> Result<(), InvalidPhaseReceiver> {
        let [m1, m2] = self.modulation.multiples;
        if m1.min(m2) == 0 || m1 == m2 || gcd(m1, m2) != 1 {
            let multiples = self.modulation.multiples;
            return Err(InvalidPhaseReceiver::Multiples { multiples });
        }
        if let Some(bits) = self.converter_bits.filter(|bits| !(1..=32).contains(bits)) {
            return Err(InvalidPhaseReceiver::Bits { bits });
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

fn positive(name: &'static str, value: f64) -> Result<(), InvalidPhaseReceiver> {
    let fine = value > 0.0 && value.is_finite();
    fine.then_some(())
        .ok_or(InvalidPhaseReceiver::NotPositive { name, value })
}

fn not_negative(name: &'static str, value: f64) -> Result<(), InvalidPhaseReceiver> {
    let fine = value >= 0.0 && value.is_finite();
    fine.then_some(())
        .ok_or(InvalidPhaseReceiver::Negative { name, value })
}

fn ordered(
    lower: (&'static str, f64),
    upper: (&'static str, f64),
) -> Result<(), InvalidPhaseReceiver> {
    (lower.1 < upper.1)
        .then_some(())
        .ok_or(InvalidPhaseReceiver::Exchanged {
            lower_name: lower.0,
            lower: lower.1,
            upper_name: upper.0,
            upper: upper.1,
        })
}
