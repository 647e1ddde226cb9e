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

use super::{Detected, Detection, Reception};
use crate::lidar::air::PreparedAir;
use crate::lidar::beam::Beam;
use crate::lidar::check::{Wrong, zero_or_more};
use crate::lidar::light::{ShotLight, SurfaceReturn};
use crate::lidar::output::Outcome;
use crate::lidar::settings::{LightModel, SweepSettings};
use crate::transport::World;
use etendue_physics::atmosphere::Overlap;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Bias, Modulation, NoDetection, Noise, PhaseSignal, Phasor, SAMPLES,
    SamplingScheme,
};
use etendue_physics::{Purpose, Scalar, Stream};
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
    pub window: Option<ReceiverWindow>,
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

/// A phase receiver prepared for a sweep.
#[derive(Clone, Copy)]
pub(in crate::lidar) struct PreparedPhase<S = f64> {
    /// The receiver, without noise where the settings leave it out.
    pub receiver: PhaseReceiver<S>,
    /// Half the greater divergence of the beam, rad.
    pub spread: f64,
    /// Whether light follows ray trees.
    by_trees: bool,
}

impl<S: Scalar> PreparedPhase<S> {
    /// The receiver of a beam.
    pub fn new(receiver: &PhaseReceiver<S>, beam: &Beam<S>, settings: &SweepSettings) -> Self {
        let divergence = beam.width().plain().divergence;
        Self {
            receiver: if settings.without_noise {
                receiver.without_noise()
            } else {
                *receiver
            },
            spread: 0.5 * divergence.horizontal.max(divergence.vertical),
            by_trees: matches!(settings.light, LightModel::Tree(_)),
        }
    }

    /// Field of view and filter that admit ambient light, where it makes noise.
    pub fn window(&self) -> Option<ReceiverWindow> {
        let has_shot_noise = self.receiver.noise.shot > 0.0;
        self.receiver.window.filter(|_| has_shot_noise)
    }

    /// The sum of all light of a shot: the phasors of the surfaces that return the light directly, of
    /// the surfaces seen by way of mirrors and glass, and of the air.
    pub fn superposed(
        &self,
        world: &World<S>,
        air: &PreparedAir<S>,
        light: &ShotLight<S>,
    ) -> PhaseSignal<S> {
        let mut signal = PhaseSignal::nothing();
        let is_direct = |one: &SurfaceReturn<S>| {
            self.by_trees && one.back.depth == 1 && world.returns_directly(&one.back.hit)
        };
        for direct in [true, false] {
            let surfaces = light.surfaces.iter();
            for one in surfaces.filter(|one| is_direct(one) == direct) {
                signal.add(&self.receiver.modulation, one.back.optical_range, one.power);
            }
        }
        self.add_air(air, light, &mut signal);
        signal.background = light.ambient;
        signal
    }

    /// Adds the light of the air: of whole cells, of the cell that the surface cuts, and of drops.
    pub fn add_air(&self, air: &PreparedAir<S>, light: &ShotLight<S>, signal: &mut PhaseSignal<S>) {
        let Some(whole) = air.whole_cells(light) else {
            return;
        };
        for (wave, cells) in signal.waves.iter_mut().zip(&whole.waves) {
            wave.re += cells.re;
            wave.im += cells.im;
        }
        signal.power += whole.power;
        for one in &light.returns[light.surfaces.len()..] {
            signal.add(&self.receiver.modulation, one.range, one.power);
        }
    }

    /// Measures the sum of all light of a shot.
    pub fn detect(&self, reception: &Reception<S>, detected: &mut Detected<S>) {
        let Some(signal) = &detected.signal else {
            return;
        };
        let mut noise = (reception.stream)(Purpose::ReceiverNoise);
        match self.detection(signal, &mut noise) {
            Ok(detection) => detected.detections.push(detection),
            Err(failure) => detected.failure = Some(failure),
        }
    }

    /// The detection in a signal.
    pub fn detection(
        &self,
        signal: &PhaseSignal<S>,
        noise: &mut Stream,
    ) -> Result<Detection<S>, NoDetection> {
        Ok(Detection {
            range: self.receiver.measure(signal, noise)?.range,
            power: signal.power,
            width: S::zero(),
            velocity: None,
            intensity: None,
        })
    }
}

/// Power of the light of the air of a shot, 1/(m² sr).
pub(in crate::lidar) fn power_of_air<S: Scalar>(air: &PreparedAir<S>, light: &ShotLight<S>) -> f64 {
    let Some(whole) = air.whole_cells(light) else {
        return 0.0;
    };
    let single = light.returns[light.surfaces.len()..].iter();
    single.fold(whole.power.value(), |sum, one| sum + one.power.value())
}

/// A range (m) rounded to a step of the device; 0 for none. The steps of a metre divide: multiplying by
/// the step gives 1.7550000000000001 for 1.755.
pub(in crate::lidar) fn rounded(range: f64, step: f64) -> f64 {
    if step > 0.0 {
        (range / step).round() / step.recip()
    } else {
        range
    }
}

/// The outcome of a shot without a detection.
pub(in crate::lidar) fn outcome(failure: &NoDetection) -> Outcome {
    match failure {
        NoDetection::TooNear { .. } => Outcome::TooNear,
        reason => match reason.urg_code() {
            Some(0) | None => Outcome::NoReturn,
            Some(code) => Outcome::Error(code),
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
