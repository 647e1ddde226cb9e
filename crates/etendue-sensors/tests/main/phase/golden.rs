//! The blocks of the reference values `golden/cw_scene.json` that involve the receiver.

use super::scenes::{Wall, cuboid, planar, scene};
use super::{LIMITS, Measured, ideal, ideal_receiver, measure};
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::PhaseSignal;
use etendue_physics::{DualParts, Purpose, Scalar, Stream};
use etendue_sensors::lidar::{Hooks, Lidar, PhaseDetection, SweepSettings, predict};
use etendue_sensors::trajectory::stationary;
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use serde_json::Value;

type Pose = crate::Derivatives;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../golden/cw_scene.json")).expect("the file is JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

fn close(ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours - theirs).abs() <= tolerance, "{ours} but {theirs}");
}

/// The pose (x, y, yaw) with the derivatives by all three.
fn differentiable(pose: &[f64]) -> Isometry3<Pose> {
    let [x, y, yaw] = [0, 1, 2].map(|i| Pose::variable(pose[i], i));
    Isometry3::from_parts(
        Translation3::new(x, y, Pose::from(0.0)),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw),
    )
}

/// The first shot ahead, from the origin.
fn ahead(world: &World<f64>, lidar: &Lidar) -> Measured {
    let settings = SweepSettings::default();
    measure(world, lidar, &settings, stationary(planar(0.0, 0.0, 0.0)))[0]
}

/// The detection of returns of a range (m) and a power each.
fn detection(returns: impl Iterator<Item = (f64, f64)>) -> PhaseDetection<f64> {
    let receiver = ideal_receiver();
    let mut received = PhaseSignal::nothing();
    for (range, power) in returns {
        received.add(&receiver.modulation, range, power);
    }
    let mut noise = Stream::new(0, 0, 0, 0, Purpose::ReceiverNoise);
    receiver
        .measure(&received, &LIMITS, &mut noise)
        .expect("a range")
}

/// Ranges 1e-9 m, powers 1e-10 relative, derivatives 1e-7 as the reference states.
#[test]
fn the_cuboid_is_measured_as_the_reference_does() {
    let scene = scene(&cuboid());
    let plain = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    let world = plain.lift::<Pose>();
    let golden = golden();
    let cases = list(&golden["cuboid"]);
    assert_eq!(cases.len(), 3);
    for case in cases {
        let azimuths = numbers(&case["az_deg"]);
        let pose = numbers(&case["pose"]);
        let settings = SweepSettings::default();
        for (pattern, name, powers) in [
            (SubRayPattern::Centre, "single", "radiance"),
            (
                SubRayPattern::THREE_AT_EDGE,
                "three",
                "radiance_three_total",
            ),
        ] {
            let lidar = ideal(&azimuths, pattern);
            let expected = predict(
                &world,
                &lidar.map(Pose::from),
                &settings,
                &lidar.shots(0),
                stationary(differentiable(&pose)),
                Hooks::default(),
            );
            let [x, y, yaw] = [pose[0], pose[1], pose[2]];
            let measured = measure(&plain, &lidar, &settings, stationary(planar(x, y, yaw)));
            assert_eq!(expected.len(), azimuths.len());
            for (i, (expected, measured)) in expected.iter().zip(measured).enumerate() {
                let expected = expected.expect("a range");
                let range = number(&case[format!("range_cw_{name}")][i]);
                close(expected.range.value(), range, 1e-9);
                close(measured.range(), range, 1e-9);
                let power = number(&case[powers][i]);
                close(expected.power.value(), power, 1e-10 * power);
                close(measured.power, power, 1e-10 * power);
                let jacobian = numbers(&case[format!("J_{name}")][i]);
                for (ours, theirs) in expected.range.gradient().into_iter().zip(jacobian) {
                    close(ours, theirs, 1e-7);
                }
                let truth = measured.truth.expect("walls all round");
                close(truth.range, number(&case["range_geo"][i]), 1e-9);
                let wall = case["wall"][i].as_u64().expect("a number");
                assert_eq!(u64::from(truth.object.0), wall);
            }
        }
    }
}

#[test]
fn sub_rays_have_the_directions_of_the_reference() {
    let golden = golden();
    let reference = &golden["subray_dirs"];
    for (azimuth, directions) in list(&reference["az_deg"])
        .iter()
        .zip(list(&reference["dirs"]))
    {
        let frame = etendue_physics::beam::BeamFrame::new(number(azimuth).to_radians(), 0.0);
        let rays = SubRayPattern::THREE_AT_EDGE.sub_rays();
        assert_eq!(rays.len(), 3);
        for (i, ray) in rays.iter().enumerate() {
            let ours: Vector3<f64> = frame.direction(0.005, ray);
            let theirs = numbers(&directions[i]);
            for k in 0..3 {
                close(ours[k], theirs[k], 1e-12);
            }
            close(ray.weight, number(&reference["weights"][i]), 1e-15);
        }
    }
}

/// A panel that ends in the beam before a wall: 0 to 3 sub-rays on it. A fragile case (two pairs
/// of whole periods nearly as good) may choose either.
#[test]
fn mixed_pixels_at_an_edge_match() {
    let golden = golden();
    let cases = list(&golden["mixed_pixel"]);
    assert_eq!(cases.len(), 28);
    let lidar = ideal(&[0.0], SubRayPattern::THREE_AT_EDGE);
    for case in cases {
        let [x_front, x_wall, edge] = ["x_front", "x_wall", "y_edge"].map(|k| number(&case[k]));
        let scene = scene(&[
            Wall::between([x_front, edge], [x_front, 2.0], number(&case["kR_front"])),
            Wall::between([x_wall, -2.0], [x_wall, 2.0], number(&case["kR_wall"])),
        ]);
        let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
        let shot = ahead(&world, &lidar);
        let expected: f64 = list(&case["returns"]).iter().map(|r| number(&r[1])).sum();
        close(shot.power, expected, 1e-10 * expected);
        let front = number(&case["n_front_subrays"]);
        assert_eq!(
            shot.surfaces,
            if front > 0.0 && front < 3.0 { 2 } else { 1 }
        );
        if case["fragile"] == false {
            close(shot.range(), number(&case["mean"]), 1e-9);
            let returns = list(&case["returns"]).iter();
            let detection = detection(returns.map(|r| (number(&r[0]), number(&r[1]))));
            close(detection.range, number(&case["mean"]), 1e-9);
            close(detection.disagreement, number(&case["disagreement"]), 1e-9);
        }
    }
}

/// Three sub-rays on a slanted wall read it too near or too far.
#[test]
fn the_bias_of_three_rays_on_a_slanted_wall_matches() {
    let golden = golden();
    let cases = list(&golden["slanted_wall_three_ray_bias"]);
    assert_eq!(cases.len(), 9);
    for case in cases {
        let distance = number(&case["d"]);
        let (sin, cos) = number(&case["incidence_deg"]).to_radians().sin_cos();
        let scene = scene(&[Wall::between(
            [distance - 2.0 * sin, -2.0 * cos],
            [distance + 2.0 * sin, 2.0 * cos],
            0.8,
        )]);
        let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
        let measured = |pattern| ahead(&world, &ideal(&[0.0], pattern)).range();
        let at_edge = measured(SubRayPattern::THREE_AT_EDGE);
        close(
            at_edge,
            f64::midpoint(number(&case["R1"]), number(&case["R2"])),
            1e-9,
        );
        close(
            (at_edge - distance) * 1e3,
            number(&case["bias_mm_kappa1"]),
            1e-6,
        );
        let at_rms = measured(SubRayPattern::THREE);
        close(
            (at_rms - distance) * 1e3,
            number(&case["bias_mm_kappa_rms"]),
            1e-6,
        );
    }
}

/// A dusty pane before a wall: the returns that the reference lists, through the receiver.
#[test]
fn returns_through_a_pane_are_measured_as_the_reference_does() {
    let golden = golden();
    let cases = list(&golden["thin_glass_at_x1_wall_x2"]);
    assert_eq!(cases.len(), 4);
    for case in cases {
        let names_and_returns = list(&case["returns"]).iter();
        let returns = names_and_returns.map(|echo| (number(&echo[1]), number(&echo[2])));
        let detection = detection(returns);
        let reference = &case["measured"];
        assert_eq!(reference["fragile"], false);
        close(detection.range, number(&reference["mean"]), 1e-9);
        close(
            detection.disagreement,
            number(&reference["disagreement"]),
            1e-9,
        );
    }
}
