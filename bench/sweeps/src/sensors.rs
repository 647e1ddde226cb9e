//! Lidars with the beam patterns and receivers of the presets of the same names.

use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
use etendue_physics::pulse::{
    AnalogueDetector, Detector, Discriminator, IntensityResponse, Pulse, ReturnMode,
};
use etendue_sensors::lidar::{
    Beam, Channel, Columns, CorrelatedNoise, EchoModel, Intensity, Lidar, PulsedReceiver,
    RangeLimits, Receiver, ScanPattern, Spinning,
};

/// The lidars that are measured.
pub fn all() -> Vec<Lidar> {
    let vlp = (0..16).map(|laser: u32| Channel {
        // -15, 1, -13, 3 ... degrees in the order of firing.
        elevation: (f64::from(laser / 2) * 2.0 + f64::from(laser % 2) * 16.0 - 15.0).to_radians(),
        time: 2.304e-6 * f64::from(laser),
        ..Channel::default()
    });
    let period = Columns::Period { seconds: 55.296e-6 };
    let locked = Columns::PerSweep {
        columns: 1024,
        fired: None,
    };
    let fan = |half: f64| {
        (0..128).map(move |row| Channel {
            elevation: (half - 2.0 * half * f64::from(row) / 127.0).to_radians(),
            ..Channel::default()
        })
    };
    vec![
        scanner("vlp-16", vlp.collect(), period, 0, EchoModel::Analytic),
        scanner(
            "os1-128",
            fan(21.4).collect(),
            locked,
            0,
            EchoModel::Analytic,
        ),
        scanner(
            "os1-128-7-rays",
            fan(21.4).collect(),
            locked,
            1,
            EchoModel::Analytic,
        ),
        scanner(
            "os0-128-waveform",
            fan(45.0).collect(),
            locked,
            1,
            EchoModel::Waveform,
        ),
    ]
}

/// A lidar that rotates ten times a second, with the given channels.
fn scanner(
    name: &str,
    channels: Vec<Channel>,
    columns: Columns,
    sub_ray_rings: u32,
    echoes: EchoModel,
) -> Lidar {
    let round = |width, at| Divergence {
        horizontal: width,
        vertical: width,
        at,
    };
    let at = DivergenceAt::HalfMaximum;
    Lidar {
        name: name.into(),
        source: "bench".into(),
        wavelength: 865e-9,
        channels,
        pattern: ScanPattern::Spinning(Spinning {
            rate: 10.0,
            clockwise: true,
            start: 0.0,
            columns,
            nod: None,
        }),
        beam: Beam::elliptic(
            BeamWidth {
                shape: BeamShape::Gaussian,
                divergence: round(2.3e-3, at),
                exit: round(10e-3, at),
            },
            sub_ray_rings,
        ),
        receiver: Receiver::Pulsed(PulsedReceiver {
            pulse: Pulse::gaussian(3e-9),
            discriminator: Discriminator::ConstantFraction { fraction: 0.5 },
            returns: ReturnMode::Strongest,
            threshold: 1e-6,
            reference: 1e-4,
            detector: Detector::Analogue(AnalogueDetector {
                thermal_noise: 1e-7,
                shot_noise: 1e-12,
                background: 0.0,
                saturation: 1e-1,
                recovery: None,
            }),
            interval: 1e-9,
            bits: None,
            jitter: 0.01,
            echoes,
            window: None,
            false_alarms: false,
            full_overlap: 0.0,
        }),
        noise: CorrelatedNoise::default(),
        limits: RangeLimits {
            near: 0.3,
            far: 200.0,
            step: 1e-3,
        },
        intensity: Intensity {
            response: IntensityResponse::Power { counts: 1e4 },
            top: Some(255.0),
        },
    }
    .checked()
    .expect("it can be")
}
