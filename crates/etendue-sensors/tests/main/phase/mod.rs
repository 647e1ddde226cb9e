//! Sweeps of lidars with a phase receiver through small scenes.

mod ambient;
mod deforming;
mod derivatives;
mod golden;
mod moving;
mod physics;
mod scenes;
mod sweeps;

use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Combination, Modulation, PhaseReceiverNoise, PowerDependentBias,
    SamplingScheme,
};
use etendue_physics::pulse::IntensityResponse;
use etendue_sensors::Truth;
use etendue_sensors::lidar::{
    Beam, Channel, CorrelatedNoise, Encoder, Intensity, Lidar, PhaseMethod, PhaseReceiver,
    RangeLimits, Receiver, ScanPattern, SweepSettings, simulate,
};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;
use std::f64::consts::TAU;

/// A receiver without noise or thresholds.
pub fn ideal_receiver() -> PhaseReceiver {
    PhaseReceiver {
        modulation: Modulation::URG_04LX,
        sampling: SamplingScheme::Pair,
        converter_bits: None,
        gain: AutomaticGain {
            target: 0.5,
            strongest: 1e9,
            weakest: 1e-9,
        },
        noise: PhaseReceiverNoise::default(),
        window: None,
        detectable: 0.0,
        sufficient: 0.0,
        ambiguity: Ambiguity {
            slack: 0.1,
            gate: 1.0,
            combination: Combination::Mean,
        },
        bias: PowerDependentBias::None,
        method: PhaseMethod::ClosedForm,
        full_overlap: 0.0,
    }
}

/// Range limits of the reference device, without rounding.
pub const LIMITS: RangeLimits = RangeLimits {
    near: 0.0,
    far: 5.6,
    step: 0.0,
};

/// A lidar without noise, rounding or thresholds, with the columns of an encoder that rotates at 10 Hz.
pub fn encoder_lidar(columns: u32, first: f64, step: f64, pattern: SubRayPattern) -> Lidar {
    Lidar {
        name: "ideal".into(),
        source: String::new(),
        wavelength: 785e-9,
        channels: vec![Channel::default()],
        pattern: ScanPattern::Encoder(Encoder {
            rate: 10.0,
            columns,
            first,
            step,
        }),
        beam: Beam::cone(0.005, pattern),
        receiver: Receiver::Phase(ideal_receiver()),
        noise: CorrelatedNoise::default(),
        limits: LIMITS,
        intensity: Intensity {
            response: IntensityResponse::Power { counts: 1.0 },
            top: None,
        },
    }
}

/// The same with one column of simultaneous beams at these azimuths (degrees).
pub fn ideal(azimuths_deg: &[f64], pattern: SubRayPattern) -> Lidar {
    let channel = |azimuth: &f64| Channel {
        azimuth: azimuth.to_radians(),
        ..Channel::default()
    };
    Lidar {
        channels: azimuths_deg.iter().map(channel).collect(),
        ..encoder_lidar(1, 0.0, TAU, pattern)
    }
}

/// The same with the columns of the URG-04LX.
fn urg_columns(pattern: SubRayPattern) -> Lidar {
    let step = TAU / 1024.0;
    encoder_lidar(682, -340.0 * step, step, pattern)
}

/// The receiver of a lidar.
fn receiver<S>(lidar: &mut Lidar<S>) -> &mut PhaseReceiver<S> {
    match &mut lidar.receiver {
        Receiver::Phase(receiver) => receiver,
        _ => panic!("a phase receiver"),
    }
}

/// What a sweep reports of one shot.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    range: Option<f64>,
    power: f64,
    surfaces: u16,
    truth: Option<Truth>,
}

impl Measured {
    /// The range, which has to be there.
    fn range(&self) -> f64 {
        self.range.expect("a range")
    }
}

/// Simulates a sweep with the truth on the axes: one row per shot.
fn measure(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> Vec<Measured> {
    let settings = SweepSettings {
        with_truth: true,
        ..settings.clone()
    };
    let sweep = simulate(world, lidar, &settings, world_from_sensor);
    let shot = |number: usize| Measured {
        range: sweep.points_of(number).first().map(|point| point.range),
        power: sweep.powers[number],
        surfaces: sweep.surfaces[number],
        truth: sweep.axis_truths[number],
    };
    (0..sweep.shots.len()).map(shot).collect()
}
