//! Noise that is not independent from shot to shot: variances and covariances against their closed forms.

use super::stage::{at_origin, beam, pulsed, room, scanner};
use etendue_physics::pulse::ReturnMode;
use etendue_sensors::lidar::{
    Channel, Columns, CorrelatedNoise, EchoModel, Lidar, Pipeline, ScanPattern, SweepSettings,
};
use etendue_simd::Isa;

const CHANNELS: usize = 12;
const COLUMNS: usize = 180;

/// A lidar of twelve channels and 180 columns without other noise than `noise`.
fn lidar(noise: CorrelatedNoise) -> Lidar {
    let mut lidar = scanner(pulsed(EchoModel::Analytic, ReturnMode::Strongest));
    let channel = |number: usize| Channel {
        elevation: (number as f64 - 5.5) * 0.02,
        ..Channel::default()
    };
    lidar.channels = (0..CHANNELS).map(channel).collect();
    if let ScanPattern::Spinning(spinning) = &mut lidar.pattern {
        spinning.columns = Columns::PerSweep {
            columns: COLUMNS as u32,
            fired: None,
        };
    }
    Lidar { noise, ..lidar }.checked().unwrap()
}

/// Range errors of all shots of a sweep of a device (seed), m.
fn errors(noise: CorrelatedNoise, seed: u64, sweep: u32) -> Vec<f64> {
    let run = SweepSettings {
        seed,
        sweep,
        ..SweepSettings::default()
    };
    let sweep = at_origin(&room([6.0, 9.0, 4.0], 0.5), &lidar(noise), &run);
    assert_eq!(sweep.points.len(), CHANNELS * COLUMNS);
    let error = |point: &etendue_sensors::lidar::Return| point.range - point.source.unwrap().range;
    sweep.points.iter().map(error).collect()
}

/// Mean product of the errors of shots `shots` apart in the order of firing, of two sweeps of equal devices.
fn product(a: &[f64], b: &[f64], apart: usize) -> f64 {
    let products = a.iter().zip(&b[apart..]).map(|(a, b)| a * b);
    products.sum::<f64>() / (b.len() - apart) as f64
}

/// Products over 150 devices with two sweeps of 2160 shots each, in mm². The sampling error of the means is
/// dominated by the parts with the fewest independent numbers: 1800 channel errors (3.3 % of 9 mm²) and 300
/// errors of sweeps (8.2 % of 4 mm²). The tolerance is 4.5 standard errors (1.6 mm²) for a single comparison;
/// measured: 0.5 mm² at most.
#[test]
fn covariances_of_the_errors_are_the_closed_forms() {
    let noise = CorrelatedNoise {
        neighbour: 5e-3,
        neighbour_correlation: 0.6,
        channel: 3e-3,
        beam: 4e-3,
        beam_correlation: 0.4,
        scan: 2e-3,
    };
    let devices = 150;
    // Expected covariances by distance in columns: in one sweep, and in two.
    let [rho, beta] = [noise.neighbour_average(), noise.beam_average()];
    let expected = |apart: usize| {
        let beam = 16.0 * beta.correlation(apart);
        let neighbour = 25.0 * rho.correlation(apart);
        [neighbour + 9.0 + beam + 4.0, 9.0 + beam]
    };
    // Measured ones; the last is between neighbouring channels.
    let mut sums = [[0.0; 2]; 7];
    for seed in 0..devices {
        let [first, second] = [3, 4].map(|sweep| errors(noise, seed, sweep));
        for (apart, sum) in sums[..6].iter_mut().enumerate() {
            sum[0] += product(&first, &first, apart * CHANNELS);
            sum[1] += product(&first, &second, apart * CHANNELS);
        }
        sums[6][0] += product(&first, &first, 1);
        sums[6][1] += product(&first, &second, 1);
    }
    let measured = sums.map(|pair| pair.map(|sum| sum / devices as f64 * 1e6));
    println!("{measured:.2?}");
    for apart in 0..6 {
        for (measured, expected) in measured[apart].iter().zip(expected(apart)) {
            assert!(
                (measured - expected).abs() < 1.6,
                "{apart}: {measured} {expected}"
            );
        }
    }
    let [same, other] = measured[6];
    assert!(
        (same - 4.0).abs() < 1.6 && other.abs() < 1.6,
        "{same} {other}"
    );
    assert!((noise.variance() * 1e6 - expected(0)[0]).abs() < 1e-9);
}

/// Fixed patterns are those of a device and of a surface.
#[test]
fn fixed_patterns_repeat_in_every_sweep_of_a_device_and_differ_between_devices() {
    for noise in [
        CorrelatedNoise {
            channel: 3e-3,
            ..CorrelatedNoise::default()
        },
        CorrelatedNoise {
            beam: 3e-3,
            ..CorrelatedNoise::default()
        },
    ] {
        let noiseless = errors(CorrelatedNoise::default(), 1, 0);
        let shift = |seed, sweep| -> Vec<f64> {
            let with = errors(noise, seed, sweep);
            with.iter().zip(&noiseless).map(|(a, b)| a - b).collect()
        };
        // The thermal noise of 1e-9 causes range errors of some micrometres.
        let difference = |a: &[f64], b: &[f64]| {
            let changes = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            changes.fold(0.0, f64::max)
        };
        assert!(difference(&shift(1, 0), &shift(1, 7)) < 1e-4);
        assert!(difference(&shift(1, 0), &shift(2, 0)) > 3e-3);
    }
}

/// Beams of one ray, beams of seven rays, and sampled waveforms, in every instruction set.
#[test]
fn correlated_noise_is_the_same_in_lanes_bit_for_bit() {
    let noise = CorrelatedNoise {
        neighbour: 5e-3,
        neighbour_correlation: 0.7,
        channel: 3e-3,
        beam: 4e-3,
        beam_correlation: 0.3,
        scan: 2e-3,
    };
    let scene = room([6.0, 9.0, 4.0], 0.5);
    for (rings, echoes) in [
        (0, EchoModel::Analytic),
        (1, EchoModel::Analytic),
        (0, EchoModel::Waveform),
    ] {
        let mut lidar = lidar(noise);
        lidar.beam = beam(3e-3).with_rings(rings);
        lidar.receiver =
            etendue_sensors::lidar::Receiver::Pulsed(pulsed(echoes, ReturnMode::Strongest));
        let sweep = |pipeline| {
            let run = SweepSettings {
                seed: 5,
                sweep: 2,
                pipeline,
                ..SweepSettings::default()
            };
            at_origin(&scene, &lidar, &run)
        };
        let plain = sweep(Pipeline::Reference);
        assert!(plain.points.len() > 2000);
        for isa in Isa::available() {
            assert!(sweep(Pipeline::Vectorized(isa)) == plain, "{rings} {isa}");
        }
    }
}
