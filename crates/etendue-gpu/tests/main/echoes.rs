//! Several echoes of a shot, and those of frequency-modulated waves, are those of the CPU.

use crate::opened::{device, device_with};
use crate::sweeps::{
    assert_agrees, assert_same_but_ranges, compare, every_other_column, settings, street,
};
use crate::trees::mirrors;
use etendue_config::sensor::preset;
use etendue_gpu::ShaderChecks;
use etendue_physics::atmosphere::Weather;
use etendue_physics::pulse::{DualPair, Fmcw, ReturnMode};
use etendue_sensors::lidar::{Air, Lidar, Receiver, SweepSettings};

/// A pulsed lidar with every other column and beams of seven rays that reports the echoes of a mode.
fn reporting(returns: ReturnMode) -> Lidar {
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.widened(4.0).with_rings(1);
    every_other_column(&mut lidar);
    let Receiver::Pulsed(receiver) = &mut lidar.receiver else {
        panic!("a pulsed lidar");
    };
    receiver.returns = returns;
    lidar
}

/// A lidar that measures velocities, with beams of several rays. Ranges are not rounded.
pub fn fmcw_lidar(bandwidth: f64, chirp: f64) -> Lidar {
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.widened(4.0).with_rings(1);
    lidar.limits.step = 0.0;
    lidar.wavelength = 1550e-9;
    lidar.receiver = Receiver::Fmcw(Fmcw {
        wavelength: lidar.wavelength,
        bandwidth,
        chirp,
        noise: 1e-7,
        threshold: 8.0,
    });
    lidar
}

/// All return modes, in motion with noise and at rest without, in a street and among mirrors, with checks of the shaders.
#[test]
#[ignore = "10 to 22 s of CPU on software; just gpu"]
fn several_echoes_agree_with_the_cpu() {
    let test = "several_echoes_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let scenes = [("street", street()), ("mirrors", mirrors())];
    for mode in [
        ReturnMode::Dual(DualPair::LastAndStrongest),
        ReturnMode::Dual(DualPair::TwoStrongest),
        ReturnMode::Dual(DualPair::FirstAndLast),
        ReturnMode::Dual(DualPair::TwoFirst),
        ReturnMode::All,
    ] {
        let lidar = reporting(mode);
        for (name, loaded) in &scenes {
            for (speed, without_noise) in [(0.5, false), (0.0, true)] {
                let settings = SweepSettings {
                    without_noise,
                    ..settings()
                };
                let all = compare(device, loaded, &lidar, speed, &settings).unwrap();
                assert_agrees(&format!("{mode:?} in the {name}"), &all.differences);
                assert!(all.differences.several > 100, "{name}");
                assert_eq!(all.on_host, 0, "{name}");
            }
        }
    }
}

/// Ranges and velocities of objects that move and turn, from a sensor that moves and turns; in haze; and at rest without noise.
#[test]
#[ignore = "10 to 22 s of CPU on software; just gpu"]
fn velocities_agree_with_the_cpu() {
    let test = "velocities_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let scenes = [("street", street()), ("mirrors", mirrors())];
    let haze = SweepSettings {
        air: Air::of(vec![Weather::Haze { visibility: 4e3 }]),
        ..settings()
    };
    let quiet = SweepSettings {
        without_noise: true,
        ..settings()
    };
    for (bandwidth, chirp) in [(1e9, 10e-6), (4e9, 5e-6)] {
        let mut lidar = fmcw_lidar(bandwidth, chirp);
        every_other_column(&mut lidar);
        for (name, loaded) in &scenes {
            for (speed, settings) in [(1.0, settings()), (1.0, haze.clone()), (0.0, quiet.clone())]
            {
                let all = compare(device, loaded, &lidar, speed, &settings).unwrap();
                let name = format!("{bandwidth} Hz in {chirp} s, {name}");
                assert_agrees(&name, &all.differences);
                assert_eq!(all.on_host, 0, "{name}");
                assert!(all.differences.several > 20, "{name}");
                assert!(speed == 0.0 || all.differences.fastest > 0.5, "{name}");
            }
        }
    }
}

/// Slow chirps, whose beats lose their sign at most velocities: a range is that of a velocity times 19 s. Where surfaces of different
/// velocities merge, the rounding of their powers shows in it.
#[test]
fn beats_without_a_sign_agree_with_the_cpu() {
    let test = "beats_without_a_sign_agree_with_the_cpu";
    let Some(device) = device(test) else {
        return;
    };
    let lidar = fmcw_lidar(0.2e9, 20e-6);
    for (speed, without_noise) in [(1.0, false), (0.0, true)] {
        let settings = SweepSettings {
            without_noise,
            ..settings()
        };
        let all = compare(device, &street(), &lidar, speed, &settings).unwrap();
        assert_same_but_ranges(test, &all.differences);
        // Measured: 8e-4 m; 7 of 26,645
        assert!(all.differences.range < 2e-3);
        assert!(all.differences.beyond <= all.differences.returns / 2000);
    }
}

/// Shots with more echoes than the device lists are left to the host: beams with a wide footprint on the road.
#[test]
#[ignore = "10 to 22 s of CPU on software; just gpu"]
fn beams_with_many_echoes_agree_with_the_cpu() {
    let test = "beams_with_many_echoes_agree_with_the_cpu";
    let Some(device) = device(test) else {
        return;
    };
    let mut lidar = fmcw_lidar(4e9, 5e-6);
    lidar.beam = lidar.beam.widened(3.0).with_rings(4);
    every_other_column(&mut lidar);
    let all = compare(device, &street(), &lidar, 1.0, &settings()).unwrap();
    println!("{} of {}", all.on_host, all.differences.shots);
    assert!(all.on_host > 100 && all.on_host < all.differences.shots / 2);
    assert_agrees(test, &all.differences);
}
