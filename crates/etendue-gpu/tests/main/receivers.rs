//! Pulsed receivers without a closed form, and receivers that the host applies to the light that the device found.

use crate::opened::{device, device_with};
use crate::profiles::room;
use crate::sweeps::{
    assert_agrees, assert_same_counts, assert_same_pulses, compare, phase_lidar, set_columns,
    settings, street,
};
use crate::trees::mirrors;
use etendue_config::sensor::preset;
use etendue_gpu::ShaderChecks;
use etendue_physics::atmosphere::Weather;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::pulse::{
    Detector, Discriminator, DualPair, OverloadRecovery, PhotonCounter, PulseShape, ReturnMode,
};
use etendue_sensors::lidar::{
    Air, EchoModel, Lidar, NotDirect, PhaseMethod, PulsedReceiver, Receiver, SweepSettings,
};
use etendue_sensors::transport::{AmbientLight, Sun};
use nalgebra::Vector3;

/// A pulsed lidar with beams of several rays and a changed receiver.
fn pulsed(change: impl Fn(&mut PulsedReceiver)) -> Lidar {
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.widened(2.0).with_rings(1);
    let Receiver::Pulsed(receiver) = &mut lidar.receiver else {
        panic!("a pulsed lidar");
    };
    change(receiver);
    lidar
}

/// The same lidar with every sixteenth column, whose ranges are not rounded.
fn sparse(change: impl Fn(&mut PulsedReceiver)) -> Lidar {
    let mut lidar = pulsed(change);
    set_columns(&mut lidar, 113);
    lidar.limits.step = 0.0;
    lidar
}

/// Pulses of all shapes, timed in all ways, of which all echoes or one are reported, in a street and among mirrors, in motion with
/// noise and at rest without; with checks of the shaders.
#[test]
#[ignore = "a minute of CPU on software; just gpu"]
fn sampled_waveforms_agree_with_the_cpu() {
    let test = "sampled_waveforms_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let scenes = [("street", street()), ("mirrors", mirrors())];
    let fraction = Discriminator::ConstantFraction { fraction: 0.4 };
    let mut several = 0;
    for (timed, shape, returns) in [
        (
            Discriminator::Threshold,
            PulseShape::Gaussian,
            ReturnMode::All,
        ),
        (
            Discriminator::LeadingEdge,
            PulseShape::LaserDiode,
            ReturnMode::All,
        ),
        (fraction, PulseShape::LaserDiode, ReturnMode::First),
        (
            fraction,
            PulseShape::SquaredSine,
            ReturnMode::Dual(DualPair::TwoStrongest),
        ),
        (
            Discriminator::Peak,
            PulseShape::SquaredSine,
            ReturnMode::Last,
        ),
        (
            Discriminator::Centroid,
            PulseShape::Gaussian,
            ReturnMode::Strongest,
        ),
    ] {
        let lidar = sparse(|receiver| {
            receiver.echoes = EchoModel::Waveform;
            receiver.discriminator = timed;
            receiver.pulse.shape = shape;
            receiver.returns = returns;
        });
        for (scene, loaded) in &scenes {
            for (speed, without_noise) in [(0.5, false), (0.0, true)] {
                let settings = SweepSettings {
                    without_noise,
                    ..settings()
                };
                let all = compare(device, loaded, &lidar, speed, &settings).unwrap();
                assert_eq!((all.receiver_on_host, all.on_host), (None, 0));
                assert_same_pulses(&format!("{timed:?}, {scene}"), &all.differences);
                several += all.differences.several;
            }
        }
    }
    assert!(several > 10, "{several}");
}

/// A converter of ten bits, whose codes differ where a sample is that close to the next one. With this seed no echo of few codes has
/// such a sample, which would change its power by more than the stated bound.
#[test]
#[ignore = "20 s of CPU on software; just gpu"]
fn converters_agree_with_the_cpu() {
    let test = "converters_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let lidar = pulsed(|receiver| {
        receiver.echoes = EchoModel::Waveform;
        receiver.bits = Some(10);
        receiver.returns = ReturnMode::All;
    });
    let settings = SweepSettings {
        seed: 2,
        ..settings()
    };
    let all = compare(device, &street(), &lidar, 0.5, &settings).unwrap();
    assert_eq!((all.receiver_on_host, all.on_host), (None, 0));
    assert_agrees(test, &all.differences);
}

/// Fog, rain and snow in front of lidars that sample their waveforms everywhere or only in bright air, with beams of one and of
/// several rays; in motion with noise and at rest without; with checks of the shaders.
#[test]
#[ignore = "a minute of CPU on software; just gpu"]
fn light_of_the_air_at_pulsed_lidars_agrees_with_the_cpu() {
    let test = "light_of_the_air_at_pulsed_lidars_agrees_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let scenes = [("street", street()), ("mirrors", mirrors())];
    let mut lidars = [EchoModel::Analytic, EchoModel::Waveform].map(|echoes| {
        sparse(|receiver| {
            receiver.echoes = echoes;
            receiver.returns = ReturnMode::All;
            receiver.full_overlap = 4.0;
        })
    });
    lidars[1].beam = lidars[1].beam.with_one_ray();
    let fog = |visibility| vec![Weather::Fog { visibility }];
    let rain = vec![Weather::Rain { rate: 1.5e-5 }];
    let snow = vec![
        Weather::Snow { rate: 2e-6 },
        Weather::Fog { visibility: 60.0 },
    ];
    for (name, weather) in [
        ("haze", fog(120.0)),
        ("fog", fog(15.0)),
        ("rain", rain),
        ("snow", snow),
    ] {
        let mut of_air = 0;
        for (scene, loaded) in &scenes {
            for lidar in &lidars {
                for (speed, without_noise) in [(0.5, false), (0.0, true)] {
                    let settings = SweepSettings {
                        air: Air::of(weather.clone()),
                        without_noise,
                        ..settings()
                    };
                    let all = compare(device, loaded, lidar, speed, &settings).unwrap();
                    assert_eq!(all.receiver_on_host, None);
                    assert!(all.on_host < 3, "{name}: {}", all.on_host);
                    assert_same_pulses(&format!("{name}, {scene}"), &all.differences);
                    of_air += all.differences.without_surface;
                }
            }
        }
        println!("{name}: {of_air} returns of the air");
        assert!(name == "haze" || of_air > 50, "{name}: {of_air}");
    }
}

/// False alarms of receivers in closed form and of sampled waveforms, of which all echoes or one are reported; with checks of the
/// shaders.
#[test]
#[ignore = "20 s of CPU on software; just gpu"]
fn false_alarms_agree_with_the_cpu() {
    let test = "false_alarms_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    for (echoes, returns) in [
        (EchoModel::Analytic, ReturnMode::All),
        (EchoModel::Analytic, ReturnMode::First),
        (EchoModel::Waveform, ReturnMode::Strongest),
        (
            EchoModel::Waveform,
            ReturnMode::Dual(DualPair::LastAndStrongest),
        ),
    ] {
        let lidar = sparse(|receiver| {
            receiver.false_alarms = true;
            receiver.echoes = echoes;
            receiver.returns = returns;
            receiver.threshold *= 0.7;
        });
        let all = compare(device, &street(), &lidar, 0.5, &settings()).unwrap();
        assert_eq!((all.receiver_on_host, all.on_host), (None, 0));
        assert_same_pulses(&format!("{echoes:?}, {returns:?}"), &all.differences);
        assert!(all.differences.without_surface > 20);
    }
}

/// Photons that are counted in sampled waveforms, few and many, in clear air and in fog, of a preset and with all samples; with
/// checks of the shaders. A count differs where its mean is that close to a step. With a mean of four counts of the background, differences of
/// counts may be the fall that separates two echoes.
#[test]
#[ignore = "a minute of CPU on software; just gpu"]
fn counted_photons_agree_with_the_cpu() {
    let test = "counted_photons_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let counter = |photons: f64, background, echoes, returns| {
        let mut lidar = sparse(|receiver| {
            receiver.echoes = echoes;
            receiver.returns = returns;
            receiver.detector = Detector::PhotonCounting(PhotonCounter {
                photons,
                background,
                capacity: 4000.0,
            });
            receiver.threshold = 6.0 * receiver.detector.noise(0.0);
        });
        set_columns(&mut lidar, 40);
        lidar
    };
    let preset = preset("slamtec-rplidar-c1").unwrap().lidar;
    let fog = |visibility| vec![Weather::Fog { visibility }];
    let (waveform, all, one) = (EchoModel::Waveform, ReturnMode::All, ReturnMode::Strongest);
    for (name, lidar, weather) in [
        ("few", &counter(5e5, 2.0, waveform, all), vec![]),
        ("many", &counter(1e7, 40.0, waveform, all), vec![]),
        (
            "fog",
            &counter(2e6, 5.0, EchoModel::Analytic, one),
            fog(40.0),
        ),
        (
            "ties",
            &counter(2e6, 4.0, EchoModel::Analytic, one),
            fog(40.0),
        ),
        ("preset", &preset, fog(40.0)),
    ] {
        let settings = SweepSettings {
            air: Air::of(weather),
            ..settings()
        };
        let all = compare(device, &street(), lidar, 0.5, &settings).unwrap();
        assert_eq!((all.receiver_on_host, all.on_host), (None, 0), "{name}");
        assert_same_counts(name, &all.differences);
    }
}

/// Sampled waves, rain in front of a phase lidar, and recovery from saturation, in a street and among mirrors, in motion with noise;
/// with checks of the shaders.
#[test]
#[ignore = "10 to 22 s of CPU on software; just gpu"]
fn receivers_on_the_host_agree_with_the_cpu() {
    let test = "receivers_on_the_host_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let sampled = phase_lidar(|_, receiver| receiver.method = PhaseMethod::Sampled);
    let phase = phase_lidar(|_, _| {});
    let recovering = pulsed(|receiver| {
        receiver.echoes = EchoModel::Waveform;
        if let Detector::Analogue(detector) = &mut receiver.detector {
            detector.saturation = 20.0 * receiver.threshold;
            detector.recovery = Some(OverloadRecovery {
                time: 2e-8,
                share: 0.5,
            });
        }
    });
    let rain = vec![Weather::Rain { rate: 5e-6 }];
    let scenes = [("street", street()), ("mirrors", mirrors())];
    for (name, lidar, weather, reason) in [
        ("sampled", &sampled, vec![], NotDirect::Sampled),
        ("rain at a phase lidar", &phase, rain, NotDirect::Drops),
        ("recovery", &recovering, vec![], NotDirect::Recovery),
    ] {
        for (scene, loaded) in &scenes {
            let settings = SweepSettings {
                air: Air::of(weather.clone()),
                ..settings()
            };
            let all = compare(device, loaded, lidar, 0.5, &settings).unwrap();
            assert_eq!(all.receiver_on_host, Some(reason), "{name}");
            assert!(all.on_host < 3, "{name}: {}", all.on_host);
            assert_agrees(&format!("{name}, {scene}"), &all.differences);
        }
    }
}

/// Sampled waveforms in sunlight, and of materials with noise profiles.
#[test]
#[ignore = "20 s of CPU on software; just gpu"]
fn waveforms_in_sunlight_and_of_profiles_agree_with_the_cpu() {
    let test = "waveforms_in_sunlight_and_of_profiles_agree_with_the_cpu";
    let Some(device) = device(test) else {
        return;
    };
    let lidar = pulsed(|receiver| {
        receiver.echoes = EchoModel::Waveform;
        receiver.window = Some(ReceiverWindow {
            emitted_power: 1.0,
            field_of_view: 4e-3,
            bandwidth: 20e-9,
        });
    });
    let mut lit = street();
    lit.ambient = AmbientLight {
        sun: Some(Sun {
            towards: Vector3::new(0.3, -0.5, 0.6).normalize(),
            irradiance: Some(9e8),
        }),
        sky_irradiance: Some(2e8),
        ..AmbientLight::default()
    };
    let all = compare(device, &lit, &lidar, 0.5, &settings()).unwrap();
    assert!(all.differences.brightest > 0.0);
    assert_eq!(all.on_host, 0);
    assert_same_pulses("sunlight", &all.differences);

    let profiled = compare(device, &room(), &lidar, 0.5, &settings()).unwrap();
    assert_eq!(profiled.on_host, 0);
    assert_agrees("profiles", &profiled.differences);
}
