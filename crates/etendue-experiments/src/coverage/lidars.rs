//! Lidars of the coverage experiments: one of each receiver, with few beams.

use crate::arena::urg_04lx;
use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
use etendue_physics::phase::{PhaseReceiverNoise, PowerDependentBias};
use etendue_physics::pulse::{
    Discriminator, IntensityResponse, Pulse, ReflectivityScale, ReturnMode, reference_power,
};
use etendue_sensors::lidar::{
    Beam, Channel, Columns, CorrelatedNoise, EchoModel, Encoder, Intensity, Lidar, PulsedReceiver,
    RangeLimits, Receiver, ScanPattern, Sensitivity, Spinning, Triangulation,
};

/// A URG-04LX with independent noise, 3 mrad of azimuth jitter and rounding, and every second of its beams.
pub(super) fn phase() -> Lidar {
    let mut lidar = urg_04lx();
    lidar.pattern = ScanPattern::Encoder(Encoder {
        rate: 10.0,
        columns: 341,
        first: -340.0 * std::f64::consts::TAU / 1024.0,
        step: 2.0 * std::f64::consts::TAU / 1024.0,
    });
    lidar.beam.azimuth_jitter = 3e-3;
    lidar.limits.step = 1e-3;
    if let Receiver::Phase(receiver) = &mut lidar.receiver {
        receiver.noise = PhaseReceiverNoise {
            amplifier: 7.8e-4,
            shot: 8.5e-7,
            background: 0.0,
            converter: 0.0136,
        };
        receiver.converter_bits = Some(10);
        receiver.bias = PowerDependentBias::Range([0.0; 3]);
    }
    lidar
}

/// A URG-04LX as its preset describes it: all of its beams, and neighbours with correlated noise.
pub(super) fn preset() -> Lidar {
    let sensor = etendue_config::sensor::preset("hokuyo-urg-04lx");
    sensor.expect("the name of a preset").lidar
}

/// A planar pulsed scanner with 15 mm of jitter in the timing of the echo.
pub(super) fn pulsed() -> Lidar {
    planar(
        "pulsed scanner",
        360,
        Receiver::Pulsed(pulsed_receiver(15e-3)),
    )
}

/// A planar triangulating scanner with the noise of an RPLIDAR A1.
pub(super) fn triangulating() -> Lidar {
    let receiver = Triangulation {
        baseline: 0.05,
        angle_noise: 11e-6,
        angle_step: 0.0,
        threshold: reference_power(0.05, 12.0),
    };
    planar(
        "triangulating scanner",
        360,
        Receiver::Triangulation(receiver),
    )
}

/// Sixteen spinning pulsed lasers between -15 and 15 degrees, with intensities.
pub(super) fn spinning() -> Lidar {
    let channel = |number: u32| Channel {
        elevation: (2.0 * f64::from(number) - 15.0).to_radians(),
        ..Channel::default()
    };
    let mut lidar = planar(
        "spinning scanner",
        120,
        Receiver::Pulsed(pulsed_receiver(12e-3)),
    );
    lidar.channels = (0..16).map(channel).collect();
    lidar.beam = beam(1);
    lidar.limits.step = 2e-3;
    lidar.intensity = Intensity {
        response: IntensityResponse::Reflectivity {
            scale: ReflectivityScale::DiffuseThenRetro { full_scale: 1e5 },
        },
        top: Some(255.0),
    };
    lidar
}

/// A lidar with noise that neighbouring beams and whole scans share, and fixed-pattern errors of channels and
/// beams, each of the order of the independent noise.
pub(super) fn with_correlated_noise(lidar: Lidar) -> Lidar {
    Lidar {
        noise: CorrelatedNoise {
            neighbour: 5e-3,
            neighbour_correlation: 0.6,
            channel: 6e-3,
            beam: 8e-3,
            beam_correlation: 0.4,
            scan: 3e-3,
        },
        ..lidar
    }
}

/// Spinning lidar of one channel in the plane.
fn planar(name: &str, columns: u32, receiver: Receiver) -> Lidar {
    Lidar {
        name: name.into(),
        source: "of no maker, near data sheets".into(),
        wavelength: 905e-9,
        channels: vec![Channel::default()],
        pattern: ScanPattern::Spinning(Spinning {
            rate: 10.0,
            clockwise: false,
            start: 0.0,
            columns: Columns::PerSweep {
                columns,
                fired: None,
            },
            nod: None,
        }),
        beam: beam(0),
        receiver,
        noise: CorrelatedNoise::default(),
        limits: RangeLimits {
            near: 0.05,
            far: 30.0,
            step: 1e-3,
        },
        intensity: Intensity {
            response: IntensityResponse::Power { counts: 1.0 },
            top: None,
        },
    }
}

/// Beam of 3 mrad, sampled by a number of rings of rays.
fn beam(rings: u32) -> Beam {
    let round = |width| Divergence {
        horizontal: width,
        vertical: width,
        at: DivergenceAt::InverseESquared,
    };
    let width = BeamWidth {
        shape: BeamShape::Gaussian,
        divergence: round(3e-3),
        exit: round(5e-3),
    };
    Beam::elliptic(width, rings)
}

/// Pulsed receiver with a timing jitter (m).
fn pulsed_receiver(jitter: f64) -> PulsedReceiver {
    let sensitivity = Sensitivity {
        reflectance: 0.1,
        range: 30.0,
        probability: 0.9,
        threshold_over_noise: 5.0,
    };
    let (threshold, detector) = sensitivity.analogue(1e5, 0.0);
    PulsedReceiver {
        pulse: Pulse::gaussian(5e-9),
        discriminator: Discriminator::ConstantFraction { fraction: 0.5 },
        returns: ReturnMode::Strongest,
        threshold,
        reference: 1e3 * threshold,
        detector,
        interval: 1e-9,
        bits: None,
        jitter,
        echoes: EchoModel::Analytic,
        window: None,
        false_alarms: false,
        full_overlap: 0.0,
    }
}
