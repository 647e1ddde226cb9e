//! One beam: its returns, its truth, its rays, and the signal that its receiver measured.

use super::paths::{RayPath, paths};
use crate::message::sweep::shot_at;
use crate::refusal::Refusal;
use crate::session::{Inputs, Loaded, SimulatedSweep};
use etendue::physics::SPEED_OF_LIGHT;
use etendue::physics::phase::PhaseSignal;
use etendue::scene::CastScratch;
use etendue::sensors::lidar::{PhaseReceiver, PulsedReceiver, Receiver, Shot, waveform};
use etendue::sensors::transport::{LightRay, World, trace_tree};
use serde::Serialize;

/// A beam of the sweep.
#[derive(Serialize)]
pub struct BeamAnswer {
    revision: u64,
    ring: u16,
    column: u32,
    azimuth_deg: f64,
    elevation_deg: f64,
    /// Time since the start of the run, s.
    time: f64,
    outcome: String,
    returns: Vec<ReturnAnswer>,
    truth: Option<TruthAnswer>,
    signal: SignalAnswer,
    /// Rays of the axis of the beam, one per surface that returns light.
    paths: Vec<RayPath>,
}

/// A reported echo.
#[derive(Serialize)]
struct ReturnAnswer {
    range: f64,
    /// Range along the beam, without the offset of the channel, m.
    half_path: f64,
    intensity: f64,
    power: f64,
    object: Option<String>,
    material: Option<String>,
    incidence_deg: Option<f64>,
    /// Half the true optical path of the light, m.
    true_range: Option<f64>,
}

/// First surface on the axis of the beam.
#[derive(Serialize)]
struct TruthAnswer {
    range: f64,
    object: String,
    material: String,
    incidence_deg: f64,
}

/// What the receiver measured.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum SignalAnswer {
    /// Received power over half the optical path.
    Waveform {
        /// Half the optical path at the first sample, and between samples, m.
        start: f64,
        step: f64,
        /// Power of each sample, 1/(m² sr).
        samples: Vec<f64>,
        /// Least power of an echo.
        threshold: f64,
    },
    /// Received waves of the two modulation frequencies, from the rays of the axis.
    Phasors {
        frequencies_hz: [f64; 2],
        /// Real and imaginary part, 1/(m² sr).
        waves: [[f64; 2]; 2],
        /// Range after which the phase of each frequency repeats, m.
        ambiguities: [f64; 2],
        /// Range of each frequency within the first period, m.
        wrapped: [f64; 2],
        combined_ambiguity: f64,
        /// Least amplitude of a detection and of a range.
        detectable: f64,
        sufficient: f64,
    },
    /// The receiver has no signal that is shown.
    None,
}

/// The beam at an index of the range image.
///
/// # Errors
/// If no beam was fired there.
pub fn beam(
    inputs: &Inputs,
    loaded: &Loaded,
    simulated: &SimulatedSweep,
    pixel: u32,
) -> Result<BeamAnswer, Refusal> {
    let sweep = &simulated.sweep;
    let number = shot_at(sweep, pixel)
        .ok_or_else(|| Refusal::new("no beam was fired here", "choose another pixel"))?;
    let shot = sweep.shots.at(number);
    let lidar = loaded.lidar();
    let channel = &lidar.channels[usize::from(shot.channel)];
    let world = loaded.world()?;
    let names = Names { loaded };
    let returns = sweep.points_of(number).iter().map(|point| ReturnAnswer {
        range: point.range,
        half_path: point.range - channel.range_offset,
        intensity: point.intensity,
        power: point.power,
        object: point.source.map(|source| names.object(source.instance.0)),
        material: point.source.map(|source| names.material(source.material.0)),
        incidence_deg: point.source.map(|source| source.incidence().to_degrees()),
        true_range: point.source.map(|source| source.range),
    });
    let truth = sweep.axis_truths.get(number).copied().flatten();
    let axis = axis(loaded, &shot);
    Ok(BeamAnswer {
        revision: simulated.revision,
        ring: channel.ring,
        column: shot.column,
        azimuth_deg: shot.azimuth.to_degrees(),
        elevation_deg: shot.elevation.to_degrees(),
        time: shot.time,
        outcome: format!("{:?}", sweep.outcomes[number]),
        returns: returns.collect(),
        truth: truth.map(|truth| TruthAnswer {
            range: truth.range,
            object: names.object(truth.object.0),
            material: names.material(truth.material.0),
            incidence_deg: truth.incidence.to_degrees(),
        }),
        signal: match &lidar.receiver {
            Receiver::Pulsed(receiver) => pulsed(receiver, inputs, loaded, &world, number),
            Receiver::Phase(receiver) => phasors(receiver, &world, &axis),
            _ => SignalAnswer::None,
        },
        paths: paths(&world, &axis, lidar.limits.far),
    })
}

/// Names of objects and materials.
struct Names<'a> {
    loaded: &'a Loaded,
}

impl Names<'_> {
    fn object(&self, number: u32) -> String {
        let objects = self.loaded.scene.scene.objects();
        objects
            .get(number as usize)
            .map_or_else(String::new, |object| object.name.clone())
    }

    fn material(&self, number: u32) -> String {
        let materials = self.loaded.scene.scene.materials();
        materials
            .get(number as usize)
            .map_or_else(String::new, |material| material.name.clone())
    }
}

/// The axis of a beam in the world.
fn axis(loaded: &Loaded, shot: &Shot) -> LightRay<f64> {
    let pose = loaded.pose_at(shot.time);
    LightRay {
        time: shot.time,
        ..LightRay::new(pose * shot.origin, pose.rotation * shot.direction())
    }
}

fn pulsed(
    receiver: &PulsedReceiver,
    inputs: &Inputs,
    loaded: &Loaded,
    world: &World<f64>,
    number: usize,
) -> SignalAnswer {
    let settings = loaded.settings(inputs);
    let pose = |time| loaded.pose_at(time);
    let Some(waveform) = waveform(world, loaded.lidar(), &settings, number, pose) else {
        return SignalAnswer::None;
    };
    // Samples after the last one above the threshold show nothing
    let last = waveform
        .samples
        .iter()
        .rposition(|power| *power > receiver.threshold);
    let shown = last.map_or(waveform.samples.len(), |last| {
        (last * 5 / 4 + 40).min(waveform.samples.len())
    });
    SignalAnswer::Waveform {
        start: 0.5 * SPEED_OF_LIGHT * waveform.time(0.0),
        step: 0.5 * SPEED_OF_LIGHT * waveform.interval,
        samples: waveform.samples[..shown].to_vec(),
        threshold: receiver.threshold,
    }
}

fn phasors(receiver: &PhaseReceiver, world: &World<f64>, axis: &LightRay<f64>) -> SignalAnswer {
    // Superpose the light of the axis
    let modulation = &receiver.modulation;
    let mut signal = PhaseSignal::nothing();
    let mut scratch = CastScratch::new();
    let settings = etendue::sensors::transport::TreeSettings::default();
    trace_tree(world, axis, &settings, &mut scratch, |light| {
        signal.add(modulation, light.optical_range, light.power);
    });
    // Ranges within the first period
    let phases = signal
        .waves
        .map(|wave| wave.phase().rem_euclid(std::f64::consts::TAU));
    SignalAnswer::Phasors {
        frequencies_hz: modulation.frequencies(),
        waves: signal.waves.map(|wave| [wave.re, wave.im]),
        ambiguities: modulation.ambiguities(),
        wrapped: modulation.wrapped_ranges(phases),
        combined_ambiguity: modulation.combined_ambiguity(),
        detectable: receiver.detectable,
        sufficient: receiver.sufficient,
    }
}
