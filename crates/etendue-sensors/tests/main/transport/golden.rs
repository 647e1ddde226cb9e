//! Reference values of an independent implementation.

use super::stage::{
    Stage, depth, glass, mirror, only, paint, pane, returns_from, returns_of, room, towards,
};
use crate::Derivatives as D;
use etendue_physics::DualParts;
use etendue_physics::surface::{Lobe, OrenNayar, OrenNayarForm};
use etendue_scene::{CastScratch, Scene};
use etendue_sensors::transport::{LightRay, LightReturn, TreeSettings, World, trace_tree};
use nalgebra::{ComplexField, Point3, Vector3};
use serde_json::Value;

fn golden(block: &str) -> Vec<Value> {
    let text = include_str!("../../golden/cw_scene.json");
    let file: Value = serde_json::from_str(text).expect("the reference is JSON");
    let blocks = file[block].as_array().or(file[block]["vals"].as_array());
    blocks.expect("the block is there").clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    let numbers = value.as_array().expect("a list").iter();
    numbers.map(|n| n.as_f64().expect("numbers")).collect()
}

#[track_caller]
fn assert_near(measured: f64, expected: f64, tolerance: f64) {
    let error = (measured - expected).abs();
    assert!(error <= tolerance, "{measured} {expected}: {error:e}");
}

#[track_caller]
fn assert_relative(measured: f64, expected: f64, tolerance: f64) {
    assert_near(measured, expected, tolerance * expected.abs());
}

/// Returns as functions of a planar sensor's pose (x, y, yaw).
fn by_pose(scene: &Scene, pose: &[f64], azimuth: f64) -> Vec<LightReturn<D>> {
    let mut scratch = CastScratch::new();
    let [x, y, yaw] = [0, 1, 2].map(|i| D::variable(pose[i], i));
    let (sin, cos) = (yaw + azimuth).sin_cos();
    let zero = D::from(0.0);
    let ray = LightRay::new(Point3::new(x, y, zero), Vector3::new(cos, sin, zero));
    let world = World::at_wavelength(scene, 785e-9).expect("constant materials");
    let mut returns = Vec::new();
    trace_tree(&world.lift(), &ray, &depth(5), &mut scratch, |r| {
        returns.push(r);
    });
    returns
}

/// The reference's number of a wall, from the face of the box.
fn wall(r: &LightReturn<D>) -> u64 {
    // Faces: -x, +x, -y, +y. Walls: y-, x+, y+, x-.
    [3, 1, 0, 2][r.hit.triangle as usize / 2]
}

/// Measured: ranges 3e-16 m, power 6e-16 relative, Jacobians 7e-16.
#[test]
fn returns_of_a_box_equal_the_reference() {
    let scene = room().build();
    let mut beams = 0;
    for case in golden("cuboid") {
        let pose = numbers(&case["pose"]);
        for (i, azimuth) in numbers(&case["az_deg"]).into_iter().enumerate() {
            let returns = by_pose(&scene, &pose, azimuth.to_radians());
            assert_eq!(returns.len(), 1);
            let r = &returns[0];
            assert_eq!(wall(r), case["wall"][i].as_u64().expect("a wall"));
            assert_near(r.range.re, numbers(&case["range_geo"])[i], 1e-9);
            assert_relative(r.power.re, numbers(&case["radiance"])[i], 1e-10);
            for (d, expected) in r.range.gradient().iter().zip(numbers(&case["J_single"][i])) {
                assert_near(*d, expected, 1e-7);
            }
            beams += 1;
        }
    }
    assert_eq!(beams, 45);
}

/// Three rays on the rim of the beam, a third of the power each.
#[test]
fn three_sub_rays_return_the_reference_power() {
    let scene = room().build();
    for case in golden("cuboid") {
        let [x, y, yaw] = [0, 1, 2].map(|i| numbers(&case["pose"])[i]);
        for (i, azimuth) in numbers(&case["az_deg"]).into_iter().enumerate() {
            let axis = towards(azimuth + yaw.to_degrees());
            let left = Vector3::z().cross(&axis);
            let power = [90.0_f64, 210.0, 330.0].map(|ring| {
                let (sin, cos) = ring.to_radians().sin_cos();
                let direction = axis + (left * cos + Vector3::z() * sin) * 0.005;
                let origin = Point3::new(x, y, 0.0);
                let (returns, _) = returns_from(&scene, origin, direction.normalize(), &depth(5));
                only(&returns).power / 3.0
            });
            let expected = numbers(&case["radiance_three_total"])[i];
            // Measured: 1e-15 relative.
            assert_relative(power.iter().sum(), expected, 1e-10);
        }
    }
}

/// Measured: ranges 4e-15 m, power 7e-15 relative, Jacobians 4e-14.
#[test]
fn returns_in_a_mirror_equal_the_reference() {
    let scene = room()
        .wall([0.3, 2.0], [0.4, 0.0, 0.0], 180.0, mirror(0.9))
        .build();
    let cases = golden("mirror_x0.4_halfwidth0.15_rho0.9_in_cuboid");
    assert_eq!(cases.len(), 3);
    for case in cases {
        let azimuth = case["az_deg"].as_f64().expect("an angle").to_radians();
        let returns = by_pose(&scene, &[0.0; 3], azimuth);
        assert_eq!(returns.len(), 1);
        let r = &returns[0];
        assert_eq!(wall(r), case["wall"][0].as_u64().expect("a wall"));
        assert_eq!(
            u64::from(r.depth),
            case["depth"][0].as_u64().expect("a depth")
        );
        assert_near(r.range.re, numbers(&case["R"])[0], 1e-9);
        assert_relative(r.power.re, numbers(&case["L_two_way"])[0], 1e-10);
        assert_relative(
            r.power.re / r.throughput.re,
            numbers(&case["L_one_way"])[0],
            1e-10,
        );
        for (d, expected) in r.range.gradient().iter().zip(numbers(&case["dR_dpose"][0])) {
            assert_near(*d, expected, 1e-7);
        }
    }
}

fn corridor() -> Scene {
    Stage::default()
        .wall([40.0, 2.0], [0.0, 0.5, 0.0], -90.0, mirror(1.0))
        .wall([40.0, 2.0], [0.0, -0.5, 0.0], 90.0, mirror(1.0))
        .wall([1.0, 2.0], [3.0, 0.0, 0.0], 180.0, paint(0.8))
        .build()
}

/// Measured: ranges 3e-14 m.
#[test]
fn returns_in_a_corridor_of_mirrors_equal_the_reference() {
    let scene = corridor();
    let cases = golden("mirror_corridor_depth_limit");
    assert_eq!(cases.len(), 8);
    for case in cases {
        let direction = towards(case["az_deg"].as_f64().expect("an angle"));
        for (most, ranges, depths) in [(5, "R_depth5", "depth"), (9, "R_depth9", "depth9")] {
            let (returns, audit) = returns_of(&scene, direction, &depth(most));
            let expected = numbers(&case[ranges]);
            assert_eq!(returns.len(), expected.len());
            if returns.is_empty() {
                assert_near(audit.truncated_by_depth, 1.0, 1e-12);
            }
            for (i, r) in returns.iter().enumerate() {
                assert_near(r.range, expected[i], 1e-9);
                assert_eq!(f64::from(r.depth), numbers(&case[depths])[i]);
            }
        }
    }
}

/// Measured: ranges 7e-15 m, power 4e-15 relative, throughput 3e-15 relative.
#[test]
fn a_solid_slab_of_glass_returns_the_reference_series() {
    // The reference leaves out what is below about 1e-9 of the power.
    let settings = |max_depth| TreeSettings {
        max_depth,
        throughput_threshold: 1e-9,
    };
    let mut seen = 0;
    for case in golden("glass_slab_explicit") {
        let number = |key: &str| case[key].as_f64().expect("a number");
        let scene = Stage::default()
            .slab(1.0, number("thickness"), glass(number("n"), 0.0))
            .wall([40.0, 20.0], [2.0, 0.0, 0.0], 180.0, paint(0.8))
            .wall([40.0, 20.0], [-1.0, 0.0, 0.0], 0.0, paint(0.8))
            .build();
        let most = u32::try_from(case["max_depth"].as_u64().expect("a depth")).expect("small");
        let direction = towards(number("theta_deg"));
        let (mut returns, _) = returns_of(&scene, direction, &settings(most));
        // The reference lists the wall behind the glass (object 1) first, each by depth.
        returns.sort_by_key(|r| (r.hit.object, r.depth));
        let expected = case["returns"].as_array().expect("a list");
        assert_eq!(returns.len(), expected.len());
        for (r, expected) in returns.iter().zip(expected) {
            let [wall, deep, optical, geometric, power, throughput] =
                [0, 1, 2, 3, 4, 5].map(|i| numbers(expected)[i]);
            assert_eq!(f64::from(r.hit.object.0) + 1.0, wall);
            assert_eq!(f64::from(r.depth), deep);
            assert_near(r.optical_range, optical, 1e-9);
            assert_near(r.range, geometric, 1e-9);
            assert_relative(r.power, power, 1e-10);
            assert_relative(r.throughput, throughput, 1e-10);
            seen += 1;
        }
    }
    assert_eq!(seen, 26);
}

/// Measured: ranges 4e-14 m, power 7e-15 relative.
#[test]
fn a_dusty_pane_returns_dust_wall_and_mirror_image_of_the_reference() {
    let mut lobes = pane(1.5, 0.0, 0.005);
    lobes.extend(paint(0.02));
    let scene = Stage::default()
        .wall([40.0, 20.0], [1.0, 0.0, 0.0], 180.0, lobes)
        .wall([40.0, 20.0], [2.0, 0.0, 0.0], 180.0, paint(0.8))
        .wall([40.0, 20.0], [-1.0, 0.0, 0.0], 0.0, paint(0.8))
        .build();
    let cases = golden("thin_glass_at_x1_wall_x2");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let direction = towards(case["theta_deg"].as_f64().expect("an angle"));
        let (returns, _) = returns_of(&scene, direction, &depth(2));
        assert_eq!(returns.len(), 3);
        for (number, r) in returns.iter().enumerate() {
            let [object, range, power] = [0, 1, 2].map(|i| numbers(&case["returns"][number])[i]);
            assert_eq!(f64::from(r.hit.object.0), object);
            assert_near(r.range, range, 1e-9);
            assert_relative(r.power, power, 1e-10);
        }
    }
}

/// Reflectance 0.8, slopes of 20 degrees. Measured: 5e-15 relative.
#[test]
fn a_rough_diffuse_wall_returns_the_reference_power() {
    let rough = Lobe::OrenNayar(OrenNayar {
        reflectance: 0.8.into(),
        slope_sd: 20_f64.to_radians().into(),
        form: OrenNayarForm::Qualitative,
    });
    let scene = Stage::default()
        .wall([40.0, 20.0], [1.0, 0.0, 0.0], 180.0, vec![rough])
        .build();
    for case in golden("oren_wall_x1") {
        let direction = towards(case["theta_deg"].as_f64().expect("an angle"));
        let (returns, _) = returns_of(&scene, direction, &depth(5));
        let expected = case["L"].as_f64().expect("a power");
        assert_relative(only(&returns).power, expected, 1e-10);
    }
}
