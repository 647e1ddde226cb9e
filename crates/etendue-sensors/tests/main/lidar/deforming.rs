//! Meshes whose vertices move while they are scanned.

use super::stage::{at_origin, pulsed, quiet, room, scanner};
use etendue_physics::pulse::{Fmcw, ReturnMode};
use etendue_scene::{Deformation, MeshId, Scene, VertexFrame};
use etendue_sensors::lidar::Sweep;
use etendue_sensors::lidar::{EchoModel, Receiver};

/// How large the room is at a time, over its size at the beginning: it grows by that much a second
/// for half a turn of the scanner and shrinks again.
fn size(growth: f64, time: f64) -> f64 {
    1.0 + growth * (0.05 - (time - 0.05).abs())
}

/// A cube of 20 m that breathes about the sensor.
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

/// The walls move at 40 m/s and more, and four columns (83 us from the first to the last) see
/// them as half way between: the range is that of the closed form within 40 m/s times 42 us over
/// the cosine of the corner, 2.36 mm. Measured: 2.36 mm.
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

/// Its walls recede by their own growth, 1 m/s and more: v = R g / s where the room is s times as
/// large.
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
        // Velocities are found over 0.2 ms: not at the turning points.
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
