//! Receivers that the host applies to the light that the device found.

use crate::opened::{device, device_with};
use crate::profiles::room;
use crate::sweeps::{assert_agrees, compare, phase_lidar, settings, street};
use crate::trees::mirrors;
use etendue_config::sensor::preset;
use etendue_gpu::ShaderChecks;
use etendue_physics::atmosphere::Weather;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::pulse::ReturnMode;
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

/// Sampled waveforms and waves, false alarms, rain, and fog in front of a pulsed lidar, in a street and among mirrors, in motion
/// with noise; with checks of the shaders.
#[test]
#[ignore = "10 to 22 s of CPU on software; just gpu"]
fn receivers_on_the_host_agree_with_the_cpu() {
    let test = "receivers_on_the_host_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let waveform = pulsed(|receiver| {
        receiver.echoes = EchoModel::Waveform;
        receiver.returns = ReturnMode::All;
        receiver.bits = Some(10);
    });
    let alarms = pulsed(|receiver| {
        receiver.false_alarms = true;
        receiver.returns = ReturnMode::All;
        receiver.threshold *= 0.7;
    });
    let plain = pulsed(|receiver| receiver.returns = ReturnMode::All);
    let sampled = phase_lidar(|_, receiver| receiver.method = PhaseMethod::Sampled);
    let phase = phase_lidar(|_, _| {});
    let rain = vec![Weather::Rain { rate: 5e-6 }];
    let fog = vec![Weather::Fog { visibility: 40.0 }];
    let scenes = [("street", street()), ("mirrors", mirrors())];
    for (name, lidar, weather, reason) in [
        ("waveform", &waveform, vec![], None),
        ("alarms", &alarms, vec![], None),
        ("rain", &plain, rain.clone(), None),
        ("fog", &plain, fog, None),
        ("sampled", &sampled, vec![], Some(NotDirect::Sampled)),
        ("rain at a phase lidar", &phase, rain, Some(NotDirect::Drops)),
    ] {
        for (scene, loaded) in &scenes {
            let settings = SweepSettings {
                air: Air::of(weather.clone()),
                ..settings()
            };
            let all = compare(&device, loaded, lidar, 0.5, &settings).unwrap();
            assert_eq!(all.receiver_on_host, reason, "{name}");
            assert!(all.on_host < 3, "{name}: {}", all.on_host);
            assert_agrees(&format!("{name}, {scene}"), &all.differences);
        }
    }
}

/// Sampled waveforms in sunlight, and of materials with noise profiles, whose shots the host simulates.
#[test]
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
    let all = compare(&device, &lit, &lidar, 0.5, &settings()).unwrap();
    assert!(all.differences.brightest > 0.0);
    assert_agrees("sunlight", &all.differences);

    let profiled = compare(&device, &room(), &lidar, 0.5, &settings()).unwrap();
    assert_eq!(profiled.on_host, 0);
    assert_agrees("profiles", &profiled.differences);
}
