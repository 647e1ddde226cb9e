//! Phase receiver: range from the phase of light that is amplitude-modulated at two frequencies.
//!
//! The waves of all light on the detector superpose to one phasor per frequency ([`PhaseSignal`]). The
//! receiver measures both phasors, subtracts its bias, and resolves the number of whole periods
//! ([`Ambiguity`]). It reports one range per beam, or the reason for a missing one ([`NoDetection`]).
//! Several surfaces in one beam are not separated: their sum gives one range between or outside them, a
//! mixed pixel.
//!
//! Light from the air adds to the phasors like light from surfaces: fog biases ranges towards the sensor
//! instead of causing separate echoes.
//!
//! Equations and sources: [`etendue_physics::phase`].

mod lanes;

pub(in crate::lidar) use lanes::RangeLanes;

use super::detection::{Detected, Detection, Reception};
use crate::lidar::beam::Beam;
use crate::lidar::domain::{OutsideDomain, zero_or_more};
use crate::lidar::light::{ShotLight, SurfaceReturn};
use crate::lidar::range_limits::RangeLimits;
use crate::transport::World;
use etendue_physics::atmosphere::Overlap;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Modulation, NoDetection, PhaseReceiverNoise, PhaseSignal, Phasor,
    PowerDependentBias, Resolved, SAMPLES, SamplingScheme, phase_noise,
};
use etendue_physics::{Purpose, Scalar, Stream};
use thiserror::Error;

/// Model of the measurement of a modulated wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PhaseMethod {
    /// Closed form: the phasor plus Gaussian noise whose variance follows from that of the samples. Exact
    /// for noise that is small against the range of the converter, and fast.
    #[default]
    ClosedForm,
    /// Samples of the wave, each with noise, amplified, clipped and quantised; the phasor is their
    /// least-squares sine.
    Sampled,
}

/// Phase receiver: measures the range from light that is amplitude-modulated at two frequencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseReceiver<S = f64> {
    /// The two modulation frequencies.
    pub modulation: Modulation,
    /// Instants at which the converter samples the wave.
    pub sampling: SamplingScheme,
    /// Resolution of the analogue-to-digital converter, bits; none for a converter without quantisation.
    pub converter_bits: Option<u32>,
    /// Automatic gain control.
    pub gain: AutomaticGain,
    /// Noise of each sample.
    pub noise: PhaseReceiverNoise,
    /// Field of view and optical filter for ambient light; none for a receiver without ambient light.
    pub window: Option<ReceiverWindow>,
    /// Minimum amplitude of a detection, 1/(m² sr).
    pub detectable: f64,
    /// Minimum amplitude of a range measurement, 1/(m² sr).
    pub sufficient: f64,
    /// Search of the whole periods, and combination of the ranges of both frequencies.
    pub ambiguity: Ambiguity,
    /// Bias of phase and range as a function of the received power.
    pub bias: PowerDependentBias<S>,
    /// Model of the measurement: closed form or samples.
    pub method: PhaseMethod,
    /// Smallest range at which all backscatter of the air falls on the detector, m
    /// ([`Overlap::full_from`]).
    pub full_overlap: f64,
}

/// Range measured by a phase receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseDetection<S> {
    /// Range, m.
    pub range: S,
    /// Absolute difference between the unwrapped ranges of both frequencies, m.
    pub disagreement: f64,
}

/// Largest slack of the range limits, m.
const MAX_SLACK: f64 = 1000.0;

/// Invalid parameter of a phase receiver.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InvalidPhaseReceiver {
    /// A quantity that must be positive and finite is not.
    #[error("{name} is {value}, it must be positive and finite")]
    NotPositive {
        /// The quantity.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A quantity that must be zero or more is negative or not finite.
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
    /// The frequency multiples are zero, equal, or have a common factor.
    #[error("frequency multiples {multiples:?} must be two different coprime numbers above zero")]
    Multiples {
        /// The multiples.
        multiples: [u32; 2],
    },
    /// The slack of the range limits is too large: the receiver tries every period within it.
    #[error("the slack of the range limits is {slack} m, it must be at most 1000 m")]
    Slack {
        /// The slack, m.
        slack: f64,
    },
    /// The number of bits of the converter is not in 1 to 32.
    #[error("the converter has {bits} bits, it must have 1 to 32")]
    Bits {
        /// The number of bits.
        bits: u32,
    },
}

impl<S: Scalar> PhaseReceiver<S> {
    /// Measures the range of the received light, within the range limits of the device.
    ///
    /// Failures and the numbers of whole periods are decided on values. Noise and the numbers of whole
    /// periods are constant under differentiation.
    ///
    /// # Errors
    /// The [`NoDetection`] for which the device reports an error code instead of a range.
    pub fn measure(
        &self,
        received: &PhaseSignal<S>,
        limits: &RangeLimits,
        stream: &mut Stream,
    ) -> Result<PhaseDetection<S>, NoDetection> {
        self.measure_with(received, limits, || stream.normal_pair())
    }

    /// [`PhaseReceiver::measure`] with pairs of standard normal draws.
    fn measure_with(
        &self,
        received: &PhaseSignal<S>,
        limits: &RangeLimits,
        normal_pairs: impl FnMut() -> [f64; 2],
    ) -> Result<PhaseDetection<S>, NoDetection> {
        // Set the gain and check for saturation.
        let power = received.power.value();
        if power <= 0.0 {
            return Err(NoDetection::NothingReceived);
        }
        let gain = self.gain.at(power);
        if gain * power > 1.0 {
            return Err(NoDetection::StrongReflector);
        }
        // Measure the phasors with noise and check their amplitudes.
        let waves = self.disturbed(received, gain, normal_pairs);
        self.check_intensity(&waves)?;
        // Convert the phases to wrapped ranges and unwrap them.
        let bias = self.bias.phase(received.power);
        let wrapped = self
            .modulation
            .wrapped_ranges([waves[0].phase() - bias, waves[1].phase() - bias]);
        self.resolve(wrapped, self.bias.range(received.power), limits)
    }

    /// Checks that the smaller amplitude of both waves reaches the limits of detection and of ranging.
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

    /// Resolves the ambiguity of the wrapped ranges (m) of both frequencies, subtracts the `bias` (m) and
    /// applies the range limits.
    fn resolve(
        &self,
        wrapped: [S; 2],
        bias: S,
        limits: &RangeLimits,
    ) -> Result<PhaseDetection<S>, NoDetection> {
        // Search the whole periods for which both ranges agree within the gate.
        let found = self.search(wrapped, limits);
        let gate = self.ambiguity.gate;
        let Some(resolved) = found.filter(|found| found.disagreement <= gate) else {
            return Err(self.beyond(wrapped, bias, limits));
        };
        // Correct the bias and apply the range limits.
        let range = resolved.range - bias;
        if range.value() < limits.near {
            return Err(NoDetection::TooNear {
                range: range.value(),
            });
        }
        if range.value() > limits.far {
            return Err(NoDetection::BeyondRange {
                range: range.value(),
            });
        }
        Ok(PhaseDetection {
            range,
            disagreement: resolved.disagreement,
        })
    }

    /// The range within the limits for which both wrapped ranges (m) differ least.
    fn search(&self, wrapped: [S; 2], limits: &RangeLimits) -> Option<Resolved<S>> {
        let range_limits = [limits.near, limits.far];
        self.ambiguity
            .search(&self.modulation, wrapped, range_limits)
    }

    /// The failure where the ranges of both frequencies agree nowhere within the limits.
    ///
    /// It is [`NoDetection::BeyondRange`] if they agree, within the gate, at a range beyond the farthest
    /// one in the combined ambiguity interval ([`Ambiguity::whole`]), else
    /// [`NoDetection::Disagreement`] with their smallest difference (m).
    fn beyond(&self, wrapped: [S; 2], bias: S, limits: &RangeLimits) -> NoDetection {
        let whole = self.ambiguity.whole(&self.modulation, wrapped);
        let range = (whole.range - bias).value();
        if whole.disagreement <= self.ambiguity.gate && range > limits.far {
            return NoDetection::BeyondRange { range };
        }
        let disagreement = self
            .search(wrapped, limits)
            .map_or(whole.disagreement, |best| best.disagreement);
        NoDetection::Disagreement { disagreement }
    }

    /// The phasors of both frequencies as measured at a gain: the received ones with the noise, and the
    /// quantisation if sampled, of the converter. Their derivatives are those of the received phasors.
    fn disturbed(
        &self,
        received: &PhaseSignal<S>,
        gain: f64,
        mut normal_pairs: impl FnMut() -> [f64; 2],
    ) -> [Phasor<S>; 2] {
        let power = received.power.value() + received.background;
        let mut of = |k: usize| {
            let wave = &received.waves[k];
            let measured = match self.method {
                PhaseMethod::ClosedForm => {
                    self.with_noise(wave.value(), power, gain, &mut normal_pairs)
                }
                PhaseMethod::Sampled => {
                    let offset = self.modulation.offsets[k];
                    let wave = wave.value().delayed(-offset);
                    self.sampled(&wave, power, gain, &mut normal_pairs)
                        .delayed(offset)
                }
            };
            wave.moved_to(&measured)
        };
        [of(0), of(1)]
    }

    /// A phasor with Gaussian noise (closed form).
    ///
    /// The real and the imaginary part of the least-squares phasor of $N$ samples each have the variance
    /// $2\sigma_n^2/N$ ([`SAMPLES`]). The variance $\sigma_n^2$ of a sample at the optical `power`
    /// includes the quantisation noise $\delta^2/12$ of converter steps $\delta$, referred to the input.
    fn with_noise(
        &self,
        wave: Phasor<f64>,
        power: f64,
        gain: f64,
        normal_pairs: &mut impl FnMut() -> [f64; 2],
    ) -> Phasor<f64> {
        let variance = self.sample_variance(power, gain);
        if variance == 0.0 {
            return wave;
        }
        let sd = (2.0 * variance / SAMPLES as f64).sqrt();
        let [a, b] = normal_pairs();
        Phasor {
            re: wave.re + sd * a,
            im: wave.im + sd * b,
        }
    }

    /// Variance of a sample at an optical power (1/(m² sr)) and a gain, referred to the input.
    fn sample_variance(&self, power: f64, gain: f64) -> f64 {
        let rounding = self.converter_step().unwrap_or(0.0) / gain;
        self.noise.variance(power, gain) + rounding * rounding / 12.0
    }

    /// Standard deviation of the range of one surface by the noise of the receiver, m, at a received power
    /// in ambient light (1/(m² sr)).
    ///
    /// Both phases have the standard deviation $\sqrt{2/N}\,\sigma_n/A$ ([`phase_noise`]), with the
    /// amplitude $A$ equal to the power.
    pub fn range_sd(&self, power: f64, ambient: f64) -> f64 {
        let variance = self.sample_variance(power + ambient, self.gain.at(power));
        let phase = phase_noise(variance.sqrt(), power);
        phase * self.ambiguity.combination.range_per_phase(&self.modulation)
    }

    /// The phasor of noisy, amplified, clipped and quantised samples of a wave. `power` is the mean optical
    /// power on the detector.
    fn sampled(
        &self,
        wave: &Phasor<f64>,
        power: f64,
        gain: f64,
        normal_pairs: &mut impl FnMut() -> [f64; 2],
    ) -> Phasor<f64> {
        let step = self.converter_step();
        let mut normals = std::iter::repeat_with(normal_pairs).flatten();
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

    /// Checks the range of full overlap; [`PhaseReceiver::check`] checks the other parameters.
    pub(super) fn check_overlap(&self) -> Result<(), OutsideDomain> {
        zero_or_more(&[("the range of full overlap, m,", self.full_overlap)])
    }

    /// The same receiver without noise and without quantisation.
    #[must_use]
    pub fn without_noise(self) -> Self {
        Self {
            converter_bits: None,
            noise: PhaseReceiverNoise::default(),
            method: PhaseMethod::ClosedForm,
            ..self
        }
    }

    /// Overlap of the emitted beam and the field of view: zero below the nearest range.
    pub fn overlap(&self, limits: &RangeLimits) -> Overlap {
        Overlap {
            none_until: limits.near,
            full_from: self.full_overlap,
        }
    }

    /// Quantisation step of the converter, as a fraction of half its range; none without quantisation.
    pub fn converter_step(&self) -> Option<f64> {
        self.converter_bits.map(|bits| 2.0 / (1_u64 << bits) as f64)
    }
}

/// A phase receiver, prepared for a sweep.
#[derive(Clone, Copy)]
pub(in crate::lidar) struct PreparedPhase<S = f64> {
    /// The receiver; noise-free if the settings disable noise.
    pub receiver: PhaseReceiver<S>,
    /// Half the larger of the beam's two divergences, rad.
    pub spread: f64,
    /// Whether light transport is by ray trees.
    by_trees: bool,
}

impl<S: Scalar> PreparedPhase<S> {
    /// Prepares the receiver of a beam.
    pub fn new(receiver: PhaseReceiver<S>, beam: &Beam<S>, by_trees: bool) -> Self {
        let divergence = beam.width().plain().divergence;
        Self {
            receiver,
            spread: 0.5 * divergence.horizontal.max(divergence.vertical),
            by_trees,
        }
    }

    /// Field of view and optical filter for ambient light; none if the receiver has no shot noise.
    pub fn window(&self) -> Option<ReceiverWindow> {
        let has_shot_noise = self.receiver.noise.shot > 0.0;
        self.receiver.window.filter(|_| has_shot_noise)
    }

    /// The superposition of all light of a shot: phasors of direct returns, then of returns by way of
    /// mirrors and glass, then of the air, with the light of its whole cells before the first surface.
    pub fn superposed(
        &self,
        world: &World<S>,
        air: Option<&PhaseSignal<S>>,
        light: &ShotLight<S>,
    ) -> PhaseSignal<S> {
        let mut signal = PhaseSignal::nothing();
        let is_direct = |one: &SurfaceReturn<S>| {
            self.by_trees && one.back.depth == 1 && world.returns_directly(&one.back.hit)
        };
        // Sum the direct returns first: floating-point sums depend on the order in their last bits, and
        // the vectorised pipeline sums the direct returns of sixteen shots before any ray tree.
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

    /// Adds the backscatter of the air before the first surface: the precomputed sum of the whole cells
    /// before it, the partial cell that the surface truncates, and single drops.
    pub fn add_air(
        &self,
        whole_cells: Option<&PhaseSignal<S>>,
        light: &ShotLight<S>,
        signal: &mut PhaseSignal<S>,
    ) {
        let Some(whole) = whole_cells else {
            return;
        };
        // Add the whole cells.
        for (wave, cells) in signal.waves.iter_mut().zip(&whole.waves) {
            wave.re += cells.re;
            wave.im += cells.im;
        }
        signal.power += whole.power;
        // Add the partial cell and the drops, which follow the surfaces in the list of returns.
        for one in &light.returns[light.surfaces.len()..] {
            signal.add(&self.receiver.modulation, one.range, one.power);
        }
    }

    /// Measures the superposed signal of a shot: appends a detection or sets the failure.
    pub fn detect(&self, reception: &Reception<S>, detected: &mut Detected<S>) {
        let Some(signal) = &detected.signal else {
            return;
        };
        let mut noise = (reception.stream)(Purpose::ReceiverNoise);
        match self.detection(signal, reception.limits, || noise.normal_pair()) {
            Ok(detection) => detected.detections.push(detection),
            Err(failure) => detected.failure = Some(failure),
        }
    }

    /// The detection of a signal, with pairs of standard normal draws for the noise.
    pub fn detection(
        &self,
        signal: &PhaseSignal<S>,
        limits: &RangeLimits,
        normal_pairs: impl FnMut() -> [f64; 2],
    ) -> Result<Detection<S>, NoDetection> {
        let measured = self.receiver.measure_with(signal, limits, normal_pairs)?;
        Ok(Detection {
            range: measured.range,
            power: signal.power,
            width: S::zero(),
            velocity: None,
            intensity: None,
        })
    }
}

/// Power of the air's backscatter in the light of a shot, given the light of the whole cells of air before its
/// first surface, 1/(m² sr).
pub(in crate::lidar) fn power_of_air<S: Scalar>(
    whole_cells: Option<&PhaseSignal<S>>,
    light: &ShotLight<S>,
) -> f64 {
    let Some(whole) = whole_cells else {
        return 0.0;
    };
    let single = light.returns[light.surfaces.len()..].iter();
    single.fold(whole.power.value(), |sum, one| sum + one.power.value())
}

/// A range (m) rounded to a multiple of the device's `step` (m); a step of 0 does not round.
///
/// It divides by the number of steps per metre: multiplication by the step gives 1.7550000000000001 for
/// 1.755.
pub(in crate::lidar) fn rounded(range: f64, step: f64) -> f64 {
    if step > 0.0 {
        (range / step).round() / step.recip()
    } else {
        range
    }
}

/// The voltage of the converter's code for `volts`, as a fraction of half its range: a code represents the
/// middle of its step.
fn quantised(volts: f64, step: f64) -> f64 {
    let highest = 1.0 - step / 2.0;
    (((volts / step).floor() + 0.5) * step).clamp(-highest, highest)
}

impl<T> PhaseReceiver<T> {
    /// The same receiver with every differentiable parameter mapped by `f`.
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

    /// Checks the domains of all parameters.
    ///
    /// # Errors
    /// The first invalid parameter.
    pub fn check(&self) -> Result<(), InvalidPhaseReceiver> {
        // Frequencies and converter.
        let [m1, m2] = self.modulation.multiples;
        if m1.min(m2) == 0 || m1 == m2 || gcd(m1, m2) != 1 {
            let multiples = self.modulation.multiples;
            return Err(InvalidPhaseReceiver::Multiples { multiples });
        }
        if let Some(bits) = self.converter_bits.filter(|bits| !(1..=32).contains(bits)) {
            return Err(InvalidPhaseReceiver::Bits { bits });
        }
        // Parameters that must be positive.
        positive("base frequency", self.modulation.base_frequency)?;
        positive("gain target", self.gain.target)?;
        positive("weakest power", self.gain.weakest)?;
        positive("disagreement gate", self.ambiguity.gate)?;
        if let Some(window) = &self.window {
            positive("emitted power", window.emitted_power)?;
            positive("field of view", window.field_of_view)?;
            positive("bandwidth of the filter", window.bandwidth)?;
        }
        // Parameters that must not be negative.
        for (name, value) in [
            ("amplifier noise", self.noise.amplifier),
            ("shot noise", self.noise.shot),
            ("background power", self.noise.background),
            ("converter noise", self.noise.converter),
            ("detectable power", self.detectable),
            ("slack of the range limits", self.ambiguity.slack),
        ] {
            not_negative(name, value)?;
        }
        let slack = self.ambiguity.slack;
        if slack > MAX_SLACK {
            return Err(InvalidPhaseReceiver::Slack { slack });
        }
        // Order of limits.
        let gain = &self.gain;
        ordered(
            ("weakest power", gain.weakest),
            ("strongest power", gain.strongest),
        )
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
