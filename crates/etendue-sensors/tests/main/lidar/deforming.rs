//! Meshes that deform during a sweep.

use super::stage::{at_origin, pulsed, quiet, room, scanner};
use etendue_physics::pulse::{Fmcw, ReturnMode};
use etendue_scene::{Deformation, MeshId, Scene, VertexFrame};
use etendue_sensors::lidar::Sweep;
use etendue_sensors::lidar::{EchoModel, Receiver};

/// Size of the room at a time over its size at time 0: grows by `growth` per second for half a rotation of
/// the lidar, then shrinks at the same rate.
fn size(growth: f64, time: f64) -> f64 {
    1.0 + growth * (0.05 - (time - 0.05).abs())
}

/// A cubic room of 20 m about the sensor whose size changes by [`size`].
fn breathing(growth: f64) -> Scene {
    let scene = room([20.0, 20.0, 20.0], 0.4);
    let rest = scene.mesh(MeshId(0)).vertices.clone();
    let frame = |time| VertexFrame {
        time,
        vertices: rest
            .iter()
            .map(|vertex| vertex * size(growth, time))
            .collect(),
    };
    let frames = vec![frame(0.0), frame(0.05), frame(0.1)];
    let deformation = Deformation::new(frames, true).unwrap();
    let edit = scene.edit().with_deformation(MeshId(0), deformation.into());
    edit.unwrap().finish()
}

fn turn(growth: f64, receiver: Receiver) -> Sweep {
    let mut scanner = scanner(pulsed(EchoModel::Analytic, ReturnMode::Strongest));
    scanner.receiver = receiver;
    let sweep = at_origin(&breathing(growth), &scanner, &quiet());
    assert_eq!(sweep.points.len(), sweep.shots.len());
    sweep
}

/// The walls move at 40 m/s and more. Groups of four columns (83 us from the first to the last) use the
/// mesh at their middle time: the range equals the closed form within 40 m/s times 42 us over the cosine of
/// the corner, 2.36 mm. Measured: 2.36 mm.
#[test]
fn a_breathing_room_is_met_where_its_walls_are_at_each_shot() {
    let receiver = pulsed(EchoModel::Analytic, ReturnMode::Strongest);
    let sweep = turn(4.0, Receiver::Pulsed(receiver));
    let (mut worst, mut frozen) = (0.0_f64, 0.0_f64);
    for point in &sweep.points {
        let shot = sweep.shot_of(point);
        let head_on = shot.azimuth.cos().abs().max(shot.azimuth.sin().abs());
        worst = worst.max((point.range - 10.0 * size(4.0, shot.time) / head_on).abs());
        frozen = frozen.max((point.range - 10.0 / head_on).abs());
    }
    println!(
        "worst {:.3} mm, of a room that stood still {frozen:.2} m",
        worst * 1e3
    );
    assert!(worst < 2.4e-3, "{worst}");
    assert!(frozen > 1.9, "{frozen}");
}

/// The walls recede at v = R g / s for the range R, the growth g (1/s) and the size s of the room.
#[test]
fn a_frequency_modulated_receiver_sees_walls_recede() {
    let fmcw = Fmcw {
        wavelength: 1550e-9,
        bandwidth: 1e9,
        chirp: 10e-6,
        noise: 1e-12,
        threshold: 10.0,
    };
    let sweep = turn(0.1, Receiver::Fmcw(fmcw));
    let mut checked = 0;
    for point in &sweep.points {
        let time = sweep.shot_of(point).time;
        // Velocities are differences over 0.2 ms: skip the times where the growth changes sign.
        if time < 2e-4 || (time - 0.05).abs() < 2e-4 || time > 0.0998 {
            continue;
        }
        let growth = if time < 0.05 { 0.1 } else { -0.1 };
        let expected = point.source.unwrap().range * growth / size(0.1, time);
        let error = point.velocity.unwrap() / expected - 1.0;
        assert!(error.abs() < 1e-3, "{time}: {error}");
        checked += 1;
    }
    assert!(checked > 3500, "{checked}");
}
