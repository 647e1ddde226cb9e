//! Receivers in the form of the shaders.

use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::numbers::double_single;
use crate::phase::PhaseBuffers;
use crate::sampled::SampledBuffers;
use crate::shaders::{Detector, MOST_BEAM_RAYS};
use crate::steps::Steps;
use bytemuck::{Pod, Zeroable};
use etendue_physics::SPEED_OF_LIGHT;
use etendue_physics::pulse::{
    DualPair, EchoForm, EchoTiming, Fmcw, IntensityResponse, ReflectivityScale, ReturnMode,
};
use etendue_sensors::lidar::{
    AveragedNormals, CorrelatedDraws, DirectRay, DirectReceiver, DirectSweep, Triangulation,
};
use wgpu::ComputePipeline;

/// Parameters of the shader that detects echoes.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ReceiveParameters {
    pub counts: [u32; 4],
    pub environments: [u32; 4],
    pub key: [u32; 4],
    kinds: [u32; 4],
    light: [f32; 4],
    receiver: [f32; 4],
    timing: [f32; 4],
    limits: [f32; 4],
    step: [f32; 4],
    response: [f32; 4],
    ambient: [f32; 4],
    neighbour: [f32; 4],
    pattern: [f32; 4],
    pub weights: [f32; MOST_BEAM_RAYS],
}

/// Kinds of receivers.
const TRIANGULATION: u32 = 3;
const PHASE: u32 = 4;
const FMCW: u32 = 5;
const ON_THE_HOST: u32 = 6;

impl ReceiveParameters {
    /// Sets the index of the sweep of the first environment.
    pub fn set_sweep(&mut self, sweep: u32) {
        self.key[2] = sweep;
    }
}

/// Most echoes that a receiver reports of a shot; `None` without a limit.
pub(crate) fn most_reported(receiver: &DirectReceiver) -> Option<usize> {
    match receiver {
        DirectReceiver::Pulsed { returns, .. } => returns.limit(),
        DirectReceiver::Sampled(own) => own.receiver.returns.limit(),
        DirectReceiver::Fmcw(_) | DirectReceiver::OnHost(_) => None,
        DirectReceiver::Triangulation(_) | DirectReceiver::Phase { .. } => Some(1),
    }
}

/// Range offset of every channel, the errors common to all its shots, and its row in images, the highest ring first.
pub(crate) fn channel_records<'a>(
    sweep: &'a DirectSweep,
    noise: Option<&'a CorrelatedDraws>,
) -> impl Iterator<Item = [f32; 4]> + 'a {
    let channels = &sweep.lidar().channels;
    let last = index(channels.len()) - 1;
    channels.iter().enumerate().map(move |(number, channel)| {
        let common = noise.map_or(0.0, |noise| noise.common[number]);
        let [[offset, rest], [common, _]] = [channel.range_offset, common].map(double_single);
        let row = last - u32::from(channel.ring);
        [offset, rest, common, f32::from_bits(row)]
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves of the seed; the shaders compute powers in f32"
)]
pub(crate) fn receive_parameters(
    sweep: &DirectSweep,
    noise: Option<&CorrelatedDraws>,
    beam: &[DirectRay],
) -> ReceiveParameters {
    // Receiver.
    let settings = sweep.settings();
    let lidar = sweep.lidar();
    let receiver = ReceiverNumbers::of(sweep.receiver());
    let mut weights = [0.0; MOST_BEAM_RAYS];
    for (weight, ray) in weights.iter_mut().zip(beam) {
        *weight = ray.weight as f32;
    }

    // Intensity.
    let (response, numbers) = match lidar.intensity.response {
        IntensityResponse::Power { counts } => (0, [counts, 0.0]),
        IntensityResponse::Log { zero, per_decade } => (1, [zero, per_decade]),
        IntensityResponse::Reflectivity {
            scale: ReflectivityScale::Percent,
        } => (2, [0.0; 2]),
        IntensityResponse::Reflectivity {
            scale: ReflectivityScale::DiffuseThenRetro { full_scale },
        } => (3, [155.0 / (full_scale / 100.0).ln(), 0.0]),
    };

    // Limits and noise.
    let pair = |a: f64, b: f64| {
        let [a, b] = [a, b].map(double_single);
        [a[0], a[1], b[0], b[1]]
    };
    let limits = &lidar.limits;
    let inverse = if limits.step > 0.0 {
        1.0 / limits.step
    } else {
        0.0
    };
    let averages = |own: Option<&AveragedNormals>| own.map_or([0.0; 4], averages);
    ReceiveParameters {
        counts: [0, 0, 0, index(lidar.channels.len())],
        environments: [0; 4],
        key: [
            settings.seed as u32,
            (settings.seed >> 32) as u32,
            settings.sweep,
            settings.sensor << 20,
        ],
        kinds: [
            receiver.timing,
            response,
            u32::from(!settings.without_noise),
            receiver.reported,
        ],
        light: [
            receiver.length as f32,
            sweep.two_way_extinction() as f32,
            sweep.echo_reach() as f32,
            lidar.intensity.top.unwrap_or(-1.0) as f32,
        ],
        receiver: receiver.powers.map(|number| number as f32),
        timing: receiver.ranges,
        limits: pair(limits.near, limits.far),
        step: pair(limits.step, inverse),
        response: [numbers[0] as f32, numbers[1] as f32, 0.0, 0.0],
        ambient: {
            let saturation = match sweep.receiver() {
                DirectReceiver::Pulsed { form, .. } => form.saturation_per_ambient,
                DirectReceiver::Sampled(own) => own.form.saturation_per_ambient,
                _ => 0.0,
            };
            let is_lit = f32::from(u8::from(sweep.ambient().is_some()));
            [is_lit, saturation as f32, 0.0, 0.0]
        },
        neighbour: averages(noise.map(|noise| &noise.neighbour)),
        pattern: averages(noise.map(|noise| &noise.beam)),
        weights,
    }
}

/// The weights of a moving average times its standard deviation.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute noise in f32"
)]
pub(crate) fn averages(own: &AveragedNormals) -> [f32; 4] {
    own.weights.map(|weight| (own.sd * weight) as f32)
}

/// The shader that detects, with the parameters of the receiver.
pub(crate) struct Detecting<'a> {
    pub detector: Detector,
    pub pipeline: ComputePipeline,
    pub own: OwnBuffers<'a>,
}

/// Parameters of a receiver that has its own.
pub(crate) enum OwnBuffers<'a> {
    None,
    Phase(PhaseBuffers<'a>),
    Sampled(SampledBuffers<'a>),
}

impl<'a> Detecting<'a> {
    /// The entry point of the shader for the receiver of a sweep.
    pub fn new(
        device: &'a GpuDevice,
        sweep: &DirectSweep,
        steps: &Steps,
        entry: &'static str,
    ) -> Result<Self, GpuError> {
        let reports_one = most_reported(sweep.receiver()) == Some(1);
        let (detector, own) = match sweep.receiver() {
            DirectReceiver::Phase { receiver, spread } => {
                let own = PhaseBuffers::new(device, sweep, receiver, *spread)?;
                (Detector::Phase, OwnBuffers::Phase(own))
            }
            DirectReceiver::Sampled(own) => {
                let buffers = SampledBuffers::new(device, sweep, own)?;
                let detector = if reports_one {
                    Detector::SampledEcho
                } else {
                    Detector::SampledEchoes
                };
                (detector, OwnBuffers::Sampled(buffers))
            }
            DirectReceiver::Fmcw(_) => (Detector::Fmcw, OwnBuffers::None),
            DirectReceiver::OnHost(_) => (Detector::Light, OwnBuffers::None),
            DirectReceiver::Pulsed { .. } | DirectReceiver::Triangulation(_) if reports_one => {
                (Detector::Echo, OwnBuffers::None)
            }
            DirectReceiver::Pulsed { .. } | DirectReceiver::Triangulation(_) => {
                (Detector::Echoes, OwnBuffers::None)
            }
        };
        Ok(Self {
            detector,
            pipeline: device.pipeline(steps.receive(detector), entry)?,
            own,
        })
    }
}

/// A receiver in the form of the shader.
struct ReceiverNumbers {
    /// What is timed; 3 for triangulation; 4 for phase; 5 for frequency-modulated waves.
    timing: u32,
    /// Which echo is reported.
    reported: u32,
    /// Distance within which returns merge, m.
    length: f64,
    /// Threshold, saturation, and variances of the power.
    powers: [f64; 4],
    /// Jitter, standard deviation of the pulse, noise of the pulse or zero of the threshold, level of the edge; noise and
    /// step of the angle and the baseline in double-single numbers; time of the beat of a velocity in double-single numbers,
    /// and the noise of a beat.
    ranges: [f32; 4],
}

impl ReceiverNumbers {
    fn of(receiver: &DirectReceiver) -> Self {
        match receiver {
            DirectReceiver::Pulsed { form, returns } => Self::pulsed(form, *returns),
            DirectReceiver::Sampled(own) => Self::pulsed(&own.form, own.receiver.returns),
            DirectReceiver::Triangulation(own) => Self::triangulation(own),
            DirectReceiver::Fmcw(own) => Self::fmcw(own),
            DirectReceiver::Phase { .. } => Self::other(PHASE),
            DirectReceiver::OnHost(_) => Self::other(ON_THE_HOST),
        }
    }

    /// A receiver without such numbers.
    fn other(timing: u32) -> Self {
        Self {
            timing,
            reported: 0,
            length: 0.0,
            powers: [0.0; 4],
            ranges: [0.0; 4],
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute errors of ranges in f32"
    )]
    fn triangulation(own: &Triangulation) -> Self {
        let [baseline, rest] = double_single(own.baseline);
        let [noise, step] = [own.angle_noise, own.angle_step].map(|number| number as f32);
        Self {
            timing: TRIANGULATION,
            reported: 0,
            length: 0.0,
            powers: [own.threshold, 0.0, 0.0, 0.0],
            ranges: [noise, step, baseline, rest],
        }
    }

    /// Beats as ranges: a beat of the range $R$ has the frequency $2BR/cT$, one of the velocity $v$ $2v/\lambda$.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute errors of ranges in f32"
    )]
    fn fmcw(own: &Fmcw) -> Self {
        let range_per_frequency = SPEED_OF_LIGHT * own.chirp / (2.0 * own.bandwidth);
        let [time, rest] = double_single(2.0 / own.wavelength * range_per_frequency);
        let noise = own.beat_noise(1.0) * range_per_frequency;
        Self {
            timing: FMCW,
            reported: 3,
            length: own.resolution(),
            powers: [own.threshold * own.noise, 0.0, 0.0, 0.0],
            ranges: [time, rest, noise as f32, 0.0],
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute errors of ranges in f32"
    )]
    fn pulsed(form: &EchoForm, returns: ReturnMode) -> Self {
        let (timing, timed, level) = match form.timing {
            EchoTiming::Pulse { noise } => (0, noise, 0.0),
            EchoTiming::Edge { noise, level } => (1, noise, level),
            EchoTiming::Threshold { zero } => (2, zero, 0.0),
        };
        let [constant, per_power] = form.variance;
        Self {
            timing,
            reported: match returns {
                ReturnMode::Strongest => 0,
                ReturnMode::First => 1,
                ReturnMode::Last => 2,
                ReturnMode::All => 3,
                ReturnMode::Dual(DualPair::LastAndStrongest) => 4,
                ReturnMode::Dual(DualPair::TwoStrongest) => 5,
                ReturnMode::Dual(DualPair::FirstAndLast) => 6,
                ReturnMode::Dual(DualPair::TwoFirst) => 7,
            },
            length: form.length,
            powers: [
                form.threshold,
                form.saturation.min(1e30),
                constant,
                per_power,
            ],
            ranges: [form.jitter, form.pulse_sd, timed, level].map(|number| number as f32),
        }
    }
}
