//! Several surfaces in one beam (Elmquist et al. 2021, figures 6 and 7), return modes, drop-out.

use super::stage::{Stage, at_origin, beam, lambert, one_shot, pulsed, quiet, scanner};
use etendue_physics::pulse::{
    Detector, Discriminator, DualPair, OverloadRecovery, ReturnMode, reference_power,
};
use etendue_scene::{Scene, primitive};
use etendue_sensors::lidar::Outcome;
use etendue_sensors::lidar::{
    EchoModel, Lidar, Pipeline, PulsedReceiver, Receiver, Sweep, SweepSettings,
};
use nalgebra::Isometry3;

/// A near wall that covers the beam from its axis (moved by `edge`, m) to the left, and a far one.
fn edge(edge: f64) -> Scene {
    Stage::default()
        .panel(
            [20.0, 2.0 - edge, 0.0],
            [-1.0, 0.0, 0.0],
            [4.0, 4.0],
            lambert(0.5),
        )
        .panel(
            [30.0, 0.0, 0.0],
            [-1.0, 0.0, 0.0],
            [20.0, 8.0],
            lambert(0.5),
        )
        .build()
}

fn wide(pipeline: EchoModel, returns: ReturnMode) -> Lidar {
    let mut scanner = one_shot(pulsed(pipeline, returns));
    scanner.beam = beam(8e-3).with_rings(3);
    scanner
}

fn ranges(scene: &Scene, scanner: &Lidar) -> Vec<f64> {
    let sweep = at_origin(scene, scanner, &quiet());
    sweep.points.iter().map(|point| point.range).collect()
}

fn assert_ranges(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 0.03, "{found:?} {expected:?}");
    }
}

#[test]
fn at_an_edge_every_return_mode_gives_its_walls() {
    for pipeline in [EchoModel::Analytic, EchoModel::Waveform] {
        // The axis passes 5 mm beside the near wall, then hits it.
        for (offset, axis) in [(-0.005, 30.0), (0.005, 20.0)] {
            let scene = edge(offset);
            let seen = |mode| ranges(&scene, &wide(pipeline, mode));
            assert_ranges(&seen(ReturnMode::First), &[20.0]);
            assert_ranges(&seen(ReturnMode::Last), &[30.0]);
            assert_ranges(&seen(ReturnMode::All), &[20.0, 30.0]);
            // The near wall's half of the beam is stronger by the square of the ranges.
            assert_ranges(&seen(ReturnMode::Strongest), &[20.0]);
            assert_ranges(
                &seen(ReturnMode::Dual(DualPair::LastAndStrongest)),
                &[30.0, 20.0],
            );
            let mut single = wide(pipeline, ReturnMode::All);
            single.beam = single.beam.with_one_ray();
            assert_ranges(&ranges(&scene, &single), &[axis]);
        }
    }
}

#[test]
fn points_of_one_beam_are_numbered_and_labelled_by_where_their_light_came_from() {
    let scanner = wide(EchoModel::Waveform, ReturnMode::All);
    let sweep = at_origin(&edge(0.0), &scanner, &quiet());
    let numbers: Vec<_> = sweep
        .points
        .iter()
        .map(|p| (p.return_number, p.returns))
        .collect();
    assert_eq!(numbers, [(1, 2), (2, 2)]);
    let instances: Vec<u32> = sweep
        .points
        .iter()
        .map(|p| p.source.unwrap().instance.0)
        .collect();
    assert_eq!(instances, [0, 1]);
    assert_eq!(sweep.outcomes, [Outcome::Points { first: 0, count: 2 }]);
}

#[test]
fn surfaces_closer_than_the_pulse_merge_into_one_range_between_them() {
    let scene = Stage::default()
        .panel([20.0, 2.0, 0.0], [-1.0, 0.0, 0.0], [4.0, 4.0], lambert(0.5))
        .panel(
            [20.2, 0.0, 0.0],
            [-1.0, 0.0, 0.0],
            [20.0, 8.0],
            lambert(0.5),
        )
        .build();
    for pipeline in [EchoModel::Analytic, EchoModel::Waveform] {
        let found = ranges(&scene, &wide(pipeline, ReturnMode::All));
        assert_eq!(found.len(), 1);
        assert!((20.03..20.17).contains(&found[0]), "{found:?}");
    }
}

/// The returns of a beam of 37 rays whose axis hits a near wall at 20 m, 1 cm from its edge, with the far wall `gap` m behind.
fn at_a_step(gap: f64, receiver: PulsedReceiver, pipeline: Pipeline) -> Sweep {
    let wall = |stage: Stage, at: [f64; 3], size: [f64; 2]| {
        stage.panel(at, [-1.0, 0.0, 0.0], size, lambert(0.5))
    };
    let near = wall(Stage::default(), [20.0, 1.99, 0.0], [4.0, 4.0]);
    let scene = wall(near, [20.0 + gap, 0.0, 0.0], [20.0, 8.0]).build();
    let mut scanner = one_shot(receiver);
    scanner.beam = beam(8e-3).with_rings(3);
    let settings = SweepSettings {
        with_mixing: true,
        pipeline,
        ..quiet()
    };
    at_origin(&scene, &scanner, &settings)
}

/// The powers of both walls are those of separate echoes, with the far one at 30 m, by the inverse square of the range:
/// measured within 3e-4.
#[test]
fn a_merged_return_has_the_share_of_the_light_that_the_farther_wall_sent() {
    let analytic = pulsed(EchoModel::Analytic, ReturnMode::All);
    let apart = at_a_step(10.0, analytic, Pipeline::Reference);
    let [near, far] = [0, 1].map(|number| apart.points[number].power);
    for echoes in [EchoModel::Analytic, EchoModel::Waveform] {
        for pipeline in [Pipeline::Reference, Pipeline::default()] {
            for gap in [0.15, 0.25] {
                let sweep = at_a_step(gap, pulsed(echoes, ReturnMode::All), pipeline);
                let ([point], [share]) = (&sweep.points[..], &sweep.mixing[..]) else {
                    panic!("{:?}", sweep.points);
                };
                assert!(point.range > 20.02 && point.range < 20.0 + gap, "{point:?}");
                let far = far * (30.0 / (20.0 + gap)).powi(2);
                let difference = f64::from(*share) - far / (near + far);
                assert!(difference.abs() < 1e-3, "{share} {difference}");
            }
        }
    }
}

/// Walls farther apart than the pulse (0.6 m), a step of less than 1 cm, one wall, an inclined wall, and a ball that the beam
/// covers.
#[test]
fn separate_echoes_and_single_surfaces_are_not_mixed() {
    for pipeline in [Pipeline::Reference, Pipeline::default()] {
        for (gap, returns) in [(10.0, 2), (0.008, 1), (0.0, 1)] {
            let receiver = pulsed(EchoModel::Analytic, ReturnMode::All);
            let sweep = at_a_step(gap, receiver, pipeline);
            assert_eq!(sweep.points.len(), returns, "{gap}");
            assert_eq!(sweep.mixing, vec![0.0; returns], "{gap}");
        }
        let size = [20.0, 20.0];
        let wall = Stage::default();
        let wall = wall.panel([5.0, 0.0, 0.0], [-0.1, 0.0, 1.0], size, lambert(0.5));
        let ball = primitive::sphere(0.1, 1e-4).unwrap();
        let ball = Stage::default().add(ball, Isometry3::translation(5.0, 0.0, 0.0), lambert(0.5));
        let mut scanner = one_shot(pulsed(EchoModel::Analytic, ReturnMode::All));
        scanner.beam = beam(8e-3).with_rings(3);
        let settings = SweepSettings {
            with_mixing: true,
            pipeline,
            ..quiet()
        };
        for surface in [wall, ball] {
            let sweep = at_origin(&surface.build(), &scanner, &settings);
            assert_eq!(sweep.mixing, [0.0]);
        }
    }
}

/// A dark wall (2 %) at 10 to 130 m is detected up to sqrt(0.02 / pi / 1e-6) = 79.8 m, where its echo falls
/// below the threshold of 1e-6. Missing returns are explicit.
#[test]
fn drop_out_is_what_falls_below_the_threshold() {
    for range in [10.0, 50.0, 79.0, 81.0, 130.0] {
        let size = [8.0, 8.0];
        let scene = Stage::default()
            .panel([range, 0.0, 0.0], [-1.0, 0.0, 0.0], size, lambert(0.02))
            .build();
        let mut receiver = pulsed(EchoModel::Analytic, ReturnMode::Strongest);
        receiver.threshold = 1e-6;
        let sweep = at_origin(&scene, &one_shot(receiver), &quiet());
        let seen = matches!(sweep.outcomes[0], Outcome::Points { .. });
        assert_eq!(seen, range < 79.8);
        let image = sweep.range_image();
        if seen {
            assert!((image[0] - range).abs() < 1e-9);
        } else {
            assert_eq!(image[0], f64::INFINITY);
        }
    }
}

#[test]
fn what_is_nearer_than_the_device_measures_is_too_near() {
    let scene = Stage::default()
        .panel([0.05, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.1, 0.1], lambert(0.5))
        .build();
    let sweep = at_origin(
        &scene,
        &scanner(pulsed(EchoModel::Analytic, ReturnMode::First)),
        &quiet(),
    );
    assert_eq!(sweep.outcomes[0], Outcome::TooNear);
    assert_eq!(sweep.range_image()[0], f64::NEG_INFINITY);
    assert_eq!(sweep.outcomes[1800], Outcome::NoReturn);
}

/// Ranges of two walls at 20 m and 30 m, 66.7 ns apart, by a receiver that saturates at a fraction of the light of the near
/// wall, with a threshold of a fifth of that, and recovers.
fn recovered(saturation: f64, recovery: Option<OverloadRecovery>) -> Vec<f64> {
    let mut receiver = pulsed(EchoModel::Waveform, ReturnMode::All);
    receiver.discriminator = Discriminator::Threshold;
    // Half of the beam on a surface of reflectance 0.5 at 20 m
    let near = 0.5 * reference_power(0.5, 20.0);
    if let Detector::Analogue(detector) = &mut receiver.detector {
        detector.saturation = saturation * near;
        detector.recovery = recovery;
    }
    receiver.threshold = 0.2 * saturation * near;
    receiver.reference = near;
    let mut scanner = one_shot(receiver);
    scanner.beam = beam(8e-3).with_rings(3);
    ranges(&edge(-0.005), &scanner)
}

/// After saturation a receiver that recovers at once has both echoes. A tail below the threshold adds to the second echo, which
/// crosses it earlier; one above it displaces the second echo by its rising edge; one at saturation hides it.
#[test]
fn the_tail_of_a_saturated_echo_displaces_or_hides_the_next() {
    let recovery = |time, share| Some(OverloadRecovery { time, share });
    let both = recovered(0.1, None);
    assert_eq!(both.len(), 2);
    assert!((both[0] - 20.0).abs() < 0.03 && (both[1] - 30.0).abs() < 0.06);
    // Charge above saturation: 38 times the saturation and a nanosecond, which is left later. Measured: 0, 3 and 135 mm
    for (tail, least, most) in [
        (recovery(2e-9, 1.0), 0.0, 1e-3),
        (recovery(20e-9, 0.1), 1e-4, 0.03),
        (recovery(60e-9, 1.0), 0.1, 0.2),
    ] {
        let found = recovered(0.1, tail);
        assert_eq!(found.len(), 2, "{found:?}");
        let earlier = both[1] - found[1];
        assert!(
            found[0] == both[0] && (least..most).contains(&earlier),
            "{earlier}"
        );
    }
    let faint = recovered(0.005, None);
    assert_eq!(faint.len(), 2);
    assert_eq!(recovered(0.005, recovery(60e-9, 1.0)), faint[..1]);
}

/// Only receivers that sample recover.
#[test]
fn a_closed_form_does_not_recover_from_saturation() {
    let mut receiver = pulsed(EchoModel::Analytic, ReturnMode::All);
    if let Detector::Analogue(detector) = &mut receiver.detector {
        detector.recovery = Some(OverloadRecovery {
            time: 2e-8,
            share: 1.0,
        });
    }
    let scanner = Lidar {
        receiver: Receiver::Pulsed(receiver),
        ..one_shot(pulsed(EchoModel::Waveform, ReturnMode::All))
    };
    let error = scanner.checked().expect_err("no samples").to_string();
    assert!(error.contains("pipeline"), "{error}");
}
