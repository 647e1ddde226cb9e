//! Ambient light: its power, its shot noise, and false alarms.

use super::stage::{Stage, lambert, one_shot, pulsed, scanner};
use etendue_physics::SPEED_OF_LIGHT;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::normal;
use etendue_physics::pulse::{AnalogueDetector, Detector, PhotonCounter, ReturnMode};
use etendue_scene::Scene;
use etendue_sensors::lidar::{EchoModel, Lidar, PulsedReceiver, Receiver};
use etendue_sensors::lidar::{Sweep, SweepSettings, simulate};
use etendue_sensors::transport::{AmbientLight, World};
use nalgebra::Isometry3;
use std::f64::consts::PI;

const REFLECTANCE: f64 = 0.5;
const WINDOW: ReceiverWindow = ReceiverWindow {
    emitted_power: 50.0,
    field_of_view: 3e-3,
    bandwidth: 10e-9,
};
const THERMAL: f64 = 2.5e-9;

/// A receiver whose shot noise and thermal noise have equal variances at the power `even`.
fn receiver(even: f64) -> PulsedReceiver {
    PulsedReceiver {
        window: Some(WINDOW),
        detector: Detector::Analogue(AnalogueDetector {
            thermal_noise: THERMAL,
            shot_noise: THERMAL * THERMAL / even,
            background: 0.0,
            saturation: f64::INFINITY,
            recovery: None,
        }),
        ..pulsed(EchoModel::Analytic, ReturnMode::All)
    }
}

fn wall(range: f64) -> Scene {
    let size = [8.0, 8.0];
    Stage::default()
        .panel(
            [range, 0.0, 0.0],
            [-1.0, 0.0, 0.0],
            size,
            lambert(REFLECTANCE),
        )
        .build()
}

fn sky(irradiance: f64) -> AmbientLight {
    AmbientLight {
        sky_irradiance: Some(irradiance),
        ..AmbientLight::default()
    }
}

fn sweep(scene: &Scene, scanner: &Lidar, light: &AmbientLight, seed: u64) -> Sweep {
    let world = World::at_wavelength(scene, scanner.wavelength).unwrap();
    let run = SweepSettings {
        seed,
        ..SweepSettings::default()
    };
    simulate(&world.in_light(light), scanner, &run, |_| {
        Isometry3::identity()
    })
}

/// A Lambertian wall of reflectance rho in diffuse light of irradiance E: radiance L = rho E / pi, background
/// B = L Omega dl / P with the receiver's solid angle Omega, bandwidth dl and emitted power P, up to rounding
/// (1e-9 from the table of scattered albedos). The power of 4,000 echoes has the variance of thermal noise
/// plus shot noise of echo and background, within 5 % (4.5 standard errors), with and without the light.
#[test]
fn ambient_light_adds_its_shot_noise_to_echoes() {
    let scene = wall(20.0);
    let radiance = REFLECTANCE * 1e9 / PI;
    let power = radiance * WINDOW.solid_angle() * WINDOW.bandwidth / WINDOW.emitted_power;
    let echo = REFLECTANCE / PI / 400.0;
    let scanner = Lidar {
        receiver: Receiver::Pulsed(receiver(power / 4.0)),
        ..one_shot(pulsed(EchoModel::Analytic, ReturnMode::All))
    };
    for (light, background) in [(AmbientLight::default(), 0.0), (sky(1e9), power)] {
        let points: Vec<_> = (0..4000)
            .map(|seed| sweep(&scene, &scanner, &light, seed).points[0])
            .collect();
        let seen = points[0].ambient;
        assert!(
            (seen - background).abs() <= 1e-6 * power,
            "{seen} {background}"
        );
        let variance = points.iter().map(|p| (p.power - echo).powi(2)).sum::<f64>() / 4000.0;
        let shot = 4.0 * (echo + background) / power;
        let expected = THERMAL * (1.0 + shot).sqrt();
        let ratio = variance.sqrt() / expected;
        println!("background {background:.3e}: spread {ratio:.3} of the expected");
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    }
}

/// 36,000 shots into an empty sky: the rate of false alarms is that of the normal distribution within 4.5
/// standard errors, for analogue detectors and photon counters. The threshold is four times the noise
/// without light.
#[test]
fn false_alarms_rise_with_the_shot_noise_of_the_background() {
    // The radiance of the sky is E / pi.
    let power = 1e9 / PI * WINDOW.solid_angle() * WINDOW.bandwidth / WINDOW.emitted_power;
    let counter = Detector::PhotonCounting(PhotonCounter {
        photons: 100.0 / power,
        background: 200.0,
        capacity: 1e9,
    });
    for detector in [receiver(2.0 * power).detector, counter] {
        let mut scanner = scanner(PulsedReceiver {
            threshold: 4.0 * detector.noise(0.0),
            detector,
            false_alarms: true,
            full_overlap: 0.0,
            ..receiver(power)
        });
        let limits = scanner.limits;
        let Receiver::Pulsed(receiver) = scanner.receiver else {
            unreachable!("it was given one");
        };
        // The only wall is beyond the farthest range.
        scanner.limits.far = limits.far.min(100.0);
        let scene = wall(1e4);
        let samples =
            2.0 * (scanner.limits.far - limits.near) / (SPEED_OF_LIGHT * receiver.interval);
        let mut rates = Vec::new();
        for (light, background) in [(AmbientLight::default(), 0.0), (sky(1e9), power)] {
            let sigma = detector.in_light(background).noise(0.0);
            let expected = 36_000.0 * samples * normal::probability(-receiver.threshold / sigma);
            let found: usize = (0..10)
                .map(|seed| sweep(&scene, &scanner, &light, seed).points.len())
                .sum();
            println!("{found} false alarms, {expected:.0} expected");
            assert!((found as f64 - expected).abs() < 4.5 * expected.sqrt());
            rates.push(found);
        }
        assert!(rates[1] > 5 * rates[0], "{rates:?}");
    }
}
