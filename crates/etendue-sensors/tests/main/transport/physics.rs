//! What light does, whatever the numbers.

use super::stage::{
    Stage, depth, glass, mirror, only, paint, pane, returns_from, returns_of, room, towards,
};
use etendue_scene::{CastScratch, Scene};
use etendue_sensors::transport::{
    LightRay, LightReturn, TreeAudit, TreeSettings, World, trace_tree_from,
};
use nalgebra::{Isometry3, Point3, Rotation3, Vector3};
use std::f64::consts::PI;

#[track_caller]
fn assert_relative(measured: f64, expected: f64, tolerance: f64) {
    let error = (measured - expected).abs();
    assert!(
        error <= tolerance * expected.abs(),
        "{measured} {expected}: {error:e}"
    );
}

fn facing_wall(distance: f64) -> Stage {
    Stage::default().wall([400.0, 400.0], [distance, 0.0, 0.0], 180.0, paint(0.8))
}

#[test]
fn a_diffuse_wall_returns_by_lambert_and_one_inverse_square() {
    for distance in [0.5, 2.0, 100.0] {
        for incidence in [0.0_f64, 10.0, 19.0] {
            let direction = Rotation3::from_euler_angles(0.1, 0.0, 0.0) * towards(incidence);
            let (returns, _) = returns_of(&facing_wall(distance).build(), direction, &depth(5));
            let cos = incidence.to_radians().cos();
            let range = distance / cos;
            let power = 0.8 / PI * cos / (range * range);
            // Measured: 3e-16 and 1e-15.
            assert_relative(only(&returns).range, range, 1e-12);
            assert_relative(only(&returns).power, power, 1e-12);
        }
    }
}

/// A wall 1 m to the side, in a mirror at 45 degrees 2 m ahead, returns as a wall 3 m ahead times the squared
/// reflectance.
#[test]
fn a_mirror_adds_no_second_inverse_square() {
    let scene = Stage::default()
        .wall([1.0, 1.0], [2.0, 0.0, 0.0], 135.0, mirror(0.9))
        .wall([1.0, 1.0], [2.0, 1.0, 0.0], -90.0, paint(0.8))
        .build();
    let (returns, _) = returns_of(&scene, Vector3::x(), &depth(5));
    let seen = only(&returns);
    let (direct, _) = returns_of(&facing_wall(3.0).build(), Vector3::x(), &depth(5));
    // Measured: 0 and 6e-16.
    assert_relative(seen.range, 3.0, 1e-12);
    assert_relative(seen.power, 0.81 * only(&direct).power, 1e-12);
    assert_eq!(seen.depth, 2);
}

/// The number of bounces between two mirrors is that of mirror images crossed:
/// floor(3 tan(azimuth) + 0.5), and each costs its reflectance twice.
#[test]
fn returns_in_a_corridor_of_mirrors_are_those_of_its_images() {
    let scene = Stage::default()
        .wall([40.0, 2.0], [0.0, 0.5, 0.0], -90.0, mirror(0.9))
        .wall([40.0, 2.0], [0.0, -0.5, 0.0], 90.0, mirror(0.9))
        .wall([1.0, 2.0], [3.0, 0.0, 0.0], 180.0, paint(0.8))
        .build();
    let mut most = 0;
    for azimuth in 0..80 {
        let tangent = f64::from(azimuth).to_radians().tan();
        let bounces = (3.0 * tangent + 0.5).floor();
        let (returns, _) = returns_of(&scene, towards(f64::from(azimuth)), &depth(30));
        let seen = only(&returns);
        assert_eq!(f64::from(seen.depth), bounces + 1.0);
        // Measured: 1.1e-14 and 4e-16.
        assert_relative(seen.range, 3.0 * (1.0 + tangent * tangent).sqrt(), 1e-12);
        assert_relative(seen.throughput, 0.9_f64.powf(bounces), 1e-12);
        most = most.max(seen.depth);
    }
    assert_eq!(most, 16);
}

/// Glass, a mirror behind it and a room around: light everywhere.
fn lively() -> Stage {
    room()
        .with(
            etendue_scene::primitive::cuboid([0.1, 0.3, 2.0]).expect("a block has a size"),
            Isometry3::new(Vector3::new(0.3, 0.0, 0.0), Vector3::z() * 0.3),
            glass(1.5, 2.0),
        )
        .wall([0.2, 1.0], [0.0, 0.3, 0.0], -80.0, mirror(0.9))
        .wall([0.3, 1.0], [-0.4, -0.1, 0.0], 20.0, pane(1.5, 10.0, 0.005))
}

fn fan(
    settings: &TreeSettings,
    scene: &Scene,
    mut check: impl FnMut(Vec<LightReturn<f64>>, TreeAudit),
) {
    for azimuth in 0..360 {
        let origin = Point3::new(-0.1, 0.01, 0.02);
        let direction = towards(f64::from(azimuth) + 0.123);
        let (returns, audit) = returns_from(scene, origin, direction, settings);
        check(returns, audit);
    }
}

#[test]
fn the_power_balance_sums_to_one() {
    let scene = lively().build();
    let mut parts = [0.0; 5];
    for max_depth in [1, 2, 5, 12] {
        for throughput_threshold in [0.0, 1e-4, 0.02] {
            for azimuth in 0..360 {
                let settings = TreeSettings {
                    max_depth,
                    throughput_threshold,
                };
                let (_, audit) = returns_of(&scene, towards(f64::from(azimuth)), &settings);
                // Measured: 2.2e-16.
                assert!((audit.total() - 1.0).abs() < 1e-12, "{audit:?}");
                let one = [
                    audit.surfaces,
                    audit.absorbed,
                    audit.truncated_by_depth,
                    audit.truncated_by_threshold,
                    f64::from(audit.hits),
                ];
                for (part, one) in parts.iter_mut().zip(one) {
                    assert!(one >= -1e-15, "{audit:?}");
                    *part += one;
                }
            }
        }
    }
    assert!(parts.iter().all(|part| *part > 0.5), "{parts:?}");
    let (_, audit) = returns_of(&facing_wall(1.0).build(), -Vector3::x(), &depth(5));
    assert_eq!((audit.escaped, audit.hits), (1.0, 0));
}

#[test]
fn moving_scene_and_sensor_together_changes_nothing() {
    let by = Isometry3::new(Vector3::new(7.0, -3.0, 2.0), Vector3::new(0.5, -1.0, 0.8));
    let (still, moved) = (lively().build(), lively().moved(&by).build());
    let mut seen = 0;
    for azimuth in 0..360 {
        let direction = towards(f64::from(azimuth) + 0.123);
        let (here, _) = returns_of(&still, direction, &depth(5));
        let there = returns_from(&moved, by * Point3::origin(), by * direction, &depth(5)).0;
        assert_eq!(here.len(), there.len());
        for (a, b) in here.iter().zip(&there) {
            // Measured: 7e-15 m and 2e-14 relative.
            assert!((a.optical_range - b.optical_range).abs() < 1e-12);
            assert_relative(a.power, b.power, 1e-12);
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen}");
}

/// Lengths times k: ranges times k, powers over k squared, throughput as before (without
/// absorption in the solid, whose unit is 1/m).
#[test]
fn returned_power_scales_with_the_unit_of_length() {
    let stage = room()
        .wall([0.4, 1.0], [0.4, 0.0, 0.0], 200.0, mirror(0.9))
        .slab(-0.5, 0.05, glass(1.5, 0.0));
    let (metres, feet) = (stage.clone().build(), stage.scaled(3.28).build());
    let mut seen = 0;
    for azimuth in 0..360 {
        let direction = towards(f64::from(azimuth) + 0.123);
        let (metres, _) = returns_of(&metres, direction, &depth(5));
        let (feet, _) = returns_of(&feet, direction, &depth(5));
        assert_eq!(metres.len(), feet.len());
        for (a, b) in metres.iter().zip(&feet) {
            // Measured: 5e-16, 1.3e-15 and 0.
            assert_relative(3.28 * a.optical_range, b.optical_range, 1e-12);
            assert_relative(a.power / (3.28 * 3.28), b.power, 1e-11);
            assert_relative(a.throughput, b.throughput, 1e-12);
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen}");
}

/// From the sensor through a block of absorbing glass to a wall, and from there back: the same
/// throughput, the same path.
#[test]
fn a_path_traced_from_its_far_end_has_the_same_throughput() {
    let scene = Stage::default()
        .with(
            etendue_scene::primitive::cuboid([0.3, 4.0, 4.0]).expect("a block has a size"),
            Isometry3::new(Vector3::new(1.0, 0.0, 0.0), Vector3::new(0.2, 0.1, 0.4)),
            glass(1.5, 3.0),
        )
        .wall([9.0, 9.0], [3.0, 0.0, 0.0], 180.0, paint(0.8))
        .wall([9.0, 9.0], [-1.0, 0.0, 0.0], 0.0, paint(0.8))
        .build();
    let mut seen = 0;
    for azimuth in [-20, -10, 0, 10, 20] {
        let direction = towards(f64::from(azimuth));
        let start = Point3::origin() - direction * (0.9 / direction.x);
        let (out, _) = returns_from(&scene, start, direction, &depth(3));
        let out = out
            .iter()
            .find(|r| r.hit.object.0 == 1)
            .expect("light passes");
        // A slab's two faces are parallel: light leaves as it came. Both start off their walls.
        let (back, _) = returns_from(&scene, out.point - direction, -direction, &depth(3));
        let back = back
            .iter()
            .find(|r| r.hit.object.0 == 2)
            .expect("light passes");
        let rest = 0.1 / direction.x;
        let range = back.optical_range - rest + 1.0;
        // Measured: 2e-15, 2e-16 and 2e-16 m.
        assert_relative(back.throughput, out.throughput, 1e-12);
        assert_relative(range, out.optical_range, 1e-12);
        assert!((back.point + direction * rest - start).norm() < 1e-12);
        seen += 1;
    }
    assert_eq!(seen, 5);
}

/// A pane as one surface and as a solid 5 mm thick: summed over the light that bounces inside, the
/// solid's transmission (per interface unpolarised) is the average-first form (1-R)/(1+R), and
/// where the polarisations agree (normal incidence) that is the pane's.
#[test]
fn the_transmittance_of_a_solid_slab_equals_that_of_the_thin_pane() {
    let behind = |stage: Stage| {
        stage
            .wall([40.0, 20.0], [2.0, 0.0, 0.0], 180.0, paint(0.8))
            .build()
    };
    let solid = behind(Stage::default().slab(1.0, 0.005, glass(1.5, 7.0)));
    let sheet =
        behind(Stage::default().wall([40.0, 20.0], [1.0, 0.0, 0.0], 180.0, pane(1.5, 7.0, 0.005)));
    let transmitted = |scene: &Scene, azimuth: f64, max_depth: u32| -> f64 {
        let (returns, _) = returns_of(scene, towards(azimuth), &depth(max_depth));
        let through = returns.iter().filter(|r| r.point.x > 1.5);
        through.map(|r| r.throughput).sum()
    };
    let pane = transmitted(&sheet, 0.0, 5);
    // Terms fall with R^2 = 0.0016: two of them leave 2.0e-6, seven the rounding: measured 2.5e-16.
    assert!((pane - transmitted(&solid, 0.0, 5)).abs() < 3e-6);
    assert_relative(transmitted(&solid, 0.0, 15), pane, 1e-12);
    // At 30 degrees averaging first loses 5e-4.
    let [pane, solid_30] = [(&sheet, 5), (&solid, 15)].map(|(s, d)| transmitted(s, 30.0, d));
    assert!((pane - solid_30 - 4.7e-4).abs() < 1e-4, "{pane} {solid_30}");
}

/// The extra path of the pane equals that of the solid for a target normal to the beam (for a target parallel
/// to the pane, the lateral shift of the beam, which a sheet leaves out, has an effect).
#[test]
fn the_delay_of_a_solid_slab_equals_that_of_the_thin_pane() {
    let first = |stage: Stage, azimuth: f64| {
        let place = (towards(azimuth) * 2.0).into();
        let scene = stage
            .wall([1.0, 1.0], place, azimuth + 180.0, paint(0.8))
            .build();
        returns_of(&scene, towards(azimuth), &depth(3)).0[0].optical_range
    };
    for azimuth in [0.0, 10.0, 30.0, 60.0] {
        let solid = Stage::default().slab(0.8, 0.005, glass(1.5, 0.0));
        let pane = pane(1.5, 0.0, 0.005);
        let sheet = Stage::default().wall([40.0, 20.0], [0.8, 0.0, 0.0], 180.0, pane);
        let [solid, sheet] = [solid, sheet].map(|stage| first(stage, azimuth));
        assert!(solid > 2.002);
        // Measured: 4e-16 m.
        assert!((solid - sheet).abs() < 1e-12, "{solid} {sheet}");
    }
}

/// A prism of 60 degrees: the deviation of a ray in a plane across its edge is
/// $\theta_1 + \theta_2' - A$ with Snell's law at both faces.
#[test]
fn a_prism_deviates_light_by_snells_law() {
    let index = 1.5111;
    let scene = Stage::default()
        .with(prism(), Isometry3::identity(), glass(index, 0.0))
        .wall([40.0, 40.0], [10.0, 0.0, 0.0], 180.0, paint(0.8))
        .build();
    let apex = 60_f64.to_radians();
    let mut seen = 0;
    for azimuth_deg in [0.0_f64, 5.0, 10.0, 20.0, 25.0] {
        // The outward normal of the entry face is at azimuth 150 degrees.
        let azimuth = azimuth_deg.to_radians();
        let incidence = azimuth + 30_f64.to_radians();
        let inside = (incidence.sin() / index).asin();
        let leaving = (index * (apex - inside).sin()).asin();
        let expected = azimuth - (incidence + leaving - apex);
        let origin = Point3::new(-0.3, 0.2, 0.0) - towards(azimuth_deg) * 0.5;
        let (returns, _) = returns_from(&scene, origin, towards(azimuth_deg), &depth(3));
        let [entry, exit] = faces_crossed(origin, azimuth, inside);
        let end = returns.iter().find(|r| r.depth == 3 && r.point.x > 9.0);
        let end = end.expect("light passes the prism").point;
        let onward = end - exit;
        // Measured: 2.1e-15 rad.
        assert!((onward.y.atan2(onward.x) - expected).abs() < 1e-12);
        assert!((entry - exit).norm() > 0.05);
        seen += 1;
    }
    assert_eq!(seen, 5);
}

/// Apex up at y = sqrt(3)/2 - 0.2, base 1 m, upright edges.
fn prism() -> etendue_scene::Mesh {
    let base = -0.2;
    let corners = [[-0.5, base], [0.5, base], [0.0, base + 0.75_f64.sqrt()]];
    let ring = |z: f64| corners.map(|[x, y]| Point3::new(x, y, z));
    etendue_scene::Mesh {
        vertices: [ring(-5.0), ring(5.0)].concat(),
        triangles: vec![
            [0, 2, 1],
            [3, 4, 5],
            [0, 1, 4],
            [0, 4, 3],
            [1, 2, 5],
            [1, 5, 4],
            [2, 0, 3],
            [2, 3, 5],
        ],
        materials: vec![],
    }
}

/// Where a ray enters the prism's left face and leaves its right one.
fn faces_crossed(origin: Point3<f64>, azimuth: f64, inside: f64) -> [Point3<f64>; 2] {
    let top = Point3::new(0.0, -0.2 + 0.75_f64.sqrt(), 0.0);
    let meet = |from: Point3<f64>, azimuth: f64, normal_deg: f64| {
        let (direction, normal) = (towards(azimuth.to_degrees()), towards(normal_deg));
        from + direction * ((top - from).dot(&normal) / direction.dot(&normal))
    };
    let entry = meet(origin, azimuth, 150.0);
    // The inward normal is at -30 degrees, the light at `inside` from it.
    [entry, meet(entry, inside - 30_f64.to_radians(), 30.0)]
}

/// Light at the second face beyond the critical angle is totally reflected.
#[test]
fn a_prism_reflects_totally_beyond_the_critical_angle() {
    let scene = Stage::default()
        .with(prism(), Isometry3::identity(), glass(1.5111, 0.0))
        .wall([40.0, 40.0], [10.0, 0.0, 0.0], 180.0, paint(0.8))
        .build();
    // Along the entry face's normal, 60 degrees onto the second one (critical: 41.4).
    let origin = Point3::new(-0.3, 0.2, 0.0) - towards(-30.0) * 0.5;
    let (returns, audit) = returns_from(&scene, origin, towards(-30.0), &depth(3));
    assert!(returns.iter().all(|r| r.depth != 3), "{returns:?}");
    let reflected = (0.5111_f64 / 2.5111).powi(2);
    // All that enters arrives at the base, the third surface.
    assert_relative(audit.truncated_by_depth, 1.0 - reflected, 1e-12);
    assert_relative(audit.escaped, reflected, 1e-12);
}

#[test]
fn a_given_first_hit_gives_the_same_tree() {
    let mut scratch = CastScratch::new();
    let scene = lively().build();
    let world = World::at_wavelength(&scene, 905e-9).expect("constant materials");
    let rays: Vec<_> = (0..360)
        .map(|i| LightRay::new(Point3::origin(), towards(f64::from(i))))
        .collect();
    let casts: Vec<_> = rays.iter().map(LightRay::values).collect();
    let mut hits = Vec::new();
    scene.closest_hits(&casts, &mut hits, &mut scratch);
    for (ray, hit) in rays.iter().zip(&hits) {
        let mut batch = Vec::new();
        let settings = TreeSettings::default();
        let audit = trace_tree_from(&world, ray, *hit, &settings, &mut scratch, |r| {
            batch.push(r.power);
        });
        batch.sort_by(f64::total_cmp);
        let (single, expected) = returns_of(&scene, ray.direction, &settings);
        let mut single: Vec<f64> = single.iter().map(|r| r.power).collect();
        single.sort_by(f64::total_cmp);
        assert_eq!(batch, single);
        assert_eq!(audit, expected);
    }
}

/// The default threshold leaves out less than 1e-10 of what comes back.
#[test]
fn the_default_threshold_truncates_little_power() {
    let scene = lively().build();
    let (mut sums, mut cut) = (Vec::new(), 0.0);
    for settings in [TreeSettings::default(), depth(5)] {
        let mut sum = 0.0;
        fan(&settings, &scene, |returns, audit| {
            cut += audit.truncated_by_threshold;
            sum += returns.iter().map(|r| r.power).sum::<f64>();
        });
        sums.push(sum);
    }
    assert!(cut > 0.0);
    // Measured: 1.1e-14.
    assert_relative(sums[0], sums[1], 1e-10);
}
