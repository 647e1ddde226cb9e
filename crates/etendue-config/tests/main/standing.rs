//! Parts of the noise of simulated standing sensors, estimated from their ranges.

use etendue_calibrate::standing::{
    Estimate, NoiseParts, StandingBeam, StandingError, StandingRecording, estimate_noise,
};
use etendue_config::scene::parse;
use etendue_config::sensor::{preset, presets};
use etendue_config::toml_file::Document;
use etendue_sensors::lidar::simulate;
use etendue_sensors::lidar::{
    Columns, CorrelatedNoise, Lidar, Receiver, ScanPattern, SweepSettings,
};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;

/// The preset of the VLP-16 with 900 columns, one ray per beam and the given noise.
fn vlp_16(jitter: f64, noise: CorrelatedNoise) -> Lidar {
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.with_one_ray();
    if let ScanPattern::Spinning(spinning) = &mut lidar.pattern {
        spinning.columns = Columns::PerSweep {
            columns: 900,
            fired: None,
        };
    }
    if let Receiver::Pulsed(receiver) = &mut lidar.receiver {
        receiver.jitter = jitter;
    }
    Lidar { noise, ..lidar }
}

/// A room of 6 by 8 m with a post.
const ROOM: &str = "version = 1\n[materials.wall]\nbase = \"white-paper\"\n\
    [[objects]]\nname = \"room\"\nshape.box = { size_m = [6.0, 8.0, 3.0] }\n\
    position_m = [0.0, 0.0, -1.3]\nmaterial = \"wall\"\n\
    [[objects]]\nname = \"post\"\nshape.box = { size_m = [0.3, 0.3, 2.5] }\n\
    position_m = [1.5, 1.0, -1.2]\nmaterial = \"wall\"\n";

/// The estimate from a number of sweeps in the room, slightly turned.
fn estimated(lidar: &Lidar, seed: u64, sweeps: u32) -> NoiseParts {
    estimate_noise(&recorded(ROOM, lidar, seed, sweeps)).unwrap()
}

/// The ranges of a number of sweeps in a room, slightly turned.
fn recorded(room: &str, lidar: &Lidar, seed: u64, sweeps: u32) -> StandingRecording {
    let scene = parse(&Document::new("room.toml", room.to_owned()))
        .unwrap()
        .scene;
    let world = World::at_wavelength(&scene, lidar.wavelength).unwrap();
    let pose = Isometry3::rotation(nalgebra::Vector3::z() * 0.2);
    let scans: Vec<Vec<StandingBeam>> = (0..sweeps)
        .map(|sweep| {
            let settings = SweepSettings {
                seed,
                sweep,
                ..SweepSettings::default()
            };
            let sweep = simulate(&world, lidar, &settings, |_| pose);
            let beam = |point: &etendue_sensors::lidar::Return| {
                let shot = sweep.shots.at(point.shot as usize);
                StandingBeam {
                    channel: shot.channel,
                    direction: point.position.coords.normalize(),
                    range: point.range,
                }
            };
            sweep.points.iter().map(beam).collect()
        })
        .collect();
    StandingRecording::from_beams(&scans)
}

/// Asserts that an estimate is within five standard errors and a tenth of a standard deviation (0.3 mm at least)
/// of the truth.
fn agrees(name: &str, estimate: Estimate, truth: f64) {
    let tolerance = 5.0 * estimate.error + 0.1 * truth + 3e-4;
    println!(
        "{name}: {:.5} +- {:.5} ({truth:.5})",
        estimate.value, estimate.error
    );
    assert!(
        estimate.error.is_finite() && estimate.error < 0.5 * truth + 1e-3,
        "{name}"
    );
    assert!(
        (estimate.value - truth).abs() < tolerance,
        "{name}: {estimate:?} {truth}"
    );
}

/// A pattern that does not repeat measures no direction again: its noise over time is not that of the room (it was stated as 150 mm).
/// The directions of all spinning presets of other makers repeat.
#[test]
fn patterns_that_do_not_repeat_are_refused() {
    let livox = preset("livox-mid-360").unwrap().lidar;
    let error = estimate_noise(&recorded(ROOM, &livox, 1, 4)).unwrap_err();
    let StandingError::Pattern { spread_deg } = error else {
        panic!("{error}");
    };
    assert!((1.0..60.0).contains(&spread_deg), "{error}");
    let mut spinning = 0;
    for each in presets() {
        let lidar = preset(each.name).unwrap().lidar;
        let repeats = !each.name.starts_with("livox");
        if repeats && matches!(lidar.pattern, ScanPattern::Spinning(_)) {
            let spread_deg = recorded(ROOM, &lidar, 1, 2).elevation_spread.to_degrees();
            assert!(spread_deg < 1e-3, "{}: {spread_deg}", each.name);
            spinning += 1;
        }
    }
    assert!(spinning > 10, "{spinning}");
}

/// Four sensors: all parts, and each of three without one of them.
#[test]
fn the_parts_of_simulated_noise_are_found_again() {
    let all = CorrelatedNoise {
        neighbour: 4e-3,
        neighbour_correlation: 0.6,
        channel: 6e-3,
        beam: 5e-3,
        beam_correlation: 0.4,
        scan: 2e-3,
    };
    let cases = [
        (1, all),
        (
            2,
            CorrelatedNoise {
                neighbour: 0.0,
                ..all
            },
        ),
        (
            3,
            CorrelatedNoise {
                scan: 0.0,
                channel: 0.0,
                ..all
            },
        ),
        (4, CorrelatedNoise { beam: 0.0, ..all }),
    ];
    for (seed, noise) in cases {
        let jitter = 5e-3;
        let found = estimated(&vlp_16(jitter, noise), seed, 30);
        println!("{found:#?}");
        assert!(found.directions > 3000 && found.on_planes > 3000);
        agrees("independent", found.independent, jitter);
        agrees("neighbour", found.neighbour, noise.neighbour);
        agrees("scan", found.scan, noise.scan);
        agrees("channel", found.channel.unwrap(), noise.channel);
        agrees("beam", found.beam.unwrap(), noise.beam);
        if noise.neighbour > 0.0 {
            agrees(
                "correlation",
                found.neighbour_correlation,
                noise.neighbour_correlation,
            );
        }
        if noise.beam > 0.0 {
            agrees(
                "correlation of beams",
                found.beam_correlation.unwrap(),
                noise.beam_correlation,
            );
        }
    }
}

/// A room of 1.6 by 2 m.
const CELL: &str = "version = 1\n[materials.wall]\nbase = \"white-paper\"\n\
    [[objects]]\nname = \"room\"\nshape.box = { size_m = [1.6, 2.0, 1.5] }\nmaterial = \"wall\"\n";

/// Number of the 48 intervals of two standard errors, of eight devices in a room, that contain the truth. Independent noise and
/// those of neighbours and beams are within a share `most` of the truth.
fn covered(room: &str, lidar: &Lidar, most: f64) -> usize {
    // The noise of the detector is independent too.
    let mut quiet = vlp_16(0.0, CorrelatedNoise::default());
    quiet.pattern = lidar.pattern.clone();
    let detector = estimate_noise(&recorded(room, &quiet, 1, 8))
        .unwrap()
        .independent
        .value;
    let Receiver::Pulsed(receiver) = &lidar.receiver else {
        panic!("a pulsed lidar");
    };
    let noise = lidar.noise;
    let mut count = 0;
    for seed in 1..9 {
        let found = estimate_noise(&recorded(room, lidar, seed, 40)).unwrap();
        let pairs = [
            (found.independent, receiver.jitter.hypot(detector)),
            (found.neighbour, noise.neighbour),
            (found.neighbour_correlation, noise.neighbour_correlation),
            (found.beam.unwrap(), noise.beam),
            (found.beam_correlation.unwrap(), noise.beam_correlation),
            (found.scan, noise.scan),
        ];
        println!("{seed} {pairs:.5?}");
        for (estimate, truth) in [pairs[0], pairs[1], pairs[3]] {
            let error = estimate.value / truth - 1.0;
            assert!(error.abs() < most, "{estimate:?} {truth}");
        }
        let is_inside = |(estimate, truth): &&(Estimate, f64)| {
            (estimate.value - truth).abs() < 2.0 * estimate.error
        };
        count += pairs.iter().filter(is_inside).count();
    }
    count
}

/// Intervals of two standard errors contain the truth where a turn is a whole number of firing periods, also at small ranges,
/// where fixed-pattern errors are large changes of the slope; where a turn is no whole number and the directions drift slowly; and
/// where they drift by half a column per scan. Measured 47, 42, 47 and 47 of 48, and errors of 4 % at most; 13 % in the last case.
#[test]
fn intervals_contain_the_truth_also_where_directions_drift() {
    let noise = CorrelatedNoise {
        neighbour: 6e-3,
        neighbour_correlation: 0.6,
        channel: 5e-3,
        beam: 8e-3,
        beam_correlation: 0.4,
        scan: 3e-3,
    };
    let mut lidar = vlp_16(8e-3, noise);
    let drifting = |lidar: &Lidar, seconds: f64| {
        let mut lidar = lidar.clone();
        if let ScanPattern::Spinning(spinning) = &mut lidar.pattern {
            spinning.columns = Columns::Period { seconds };
        }
        lidar
    };
    if let ScanPattern::Spinning(spinning) = &mut lidar.pattern {
        spinning.rate = 20.0;
    }
    let cases = [
        (ROOM, lidar.clone(), 0.05),
        (CELL, lidar.clone(), 0.05),
        (ROOM, drifting(&lidar, 55.556e-6), 0.05),
        (ROOM, drifting(&lidar, 55.5846e-6), 0.15),
    ];
    for (room, lidar, most) in cases {
        let inside = covered(room, &lidar, most);
        println!("{inside} of 48");
        assert!(inside >= 41, "{inside}");
    }
}
