//! Light scattered several times, against closed forms.

use super::stage::{Stage, depth, mirror, paint, pane, returns_from, towards};
use etendue_physics::surface::{Fresnel, Lobe, Microfacet, OrenNayar, OrenNayarForm, Shadowing};
use etendue_physics::{Purpose, Spectrum, Stream};
use etendue_scene::primitive::sphere;
use etendue_scene::{CastScratch, Scene};
use etendue_sensors::transport::{LightRay, LightReturn, PathSettings, PathTracer, World};
use nalgebra::{Isometry3, Point3, Vector3};
use std::f64::consts::PI;

/// Mean and standard error of `value`, over 64 independent runs.
struct Estimate {
    mean: f64,
    error: f64,
}

impl Estimate {
    fn of(runs: u32, mut run: impl FnMut(u32) -> f64) -> Self {
        let values: Vec<f64> = (0..runs).map(&mut run).collect();
        let n = f64::from(runs);
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Self {
            mean,
            error: (variance / n).sqrt(),
        }
    }

    /// Within 4.5 standard errors (chance of a false alarm 2e-5 a test, and the seed is fixed) and
    /// not so wide as to mean nothing.
    #[track_caller]
    fn assert_is(&self, expected: f64) {
        let Self { mean, error } = *self;
        assert!(
            (mean - expected).abs() < 4.5 * error + 1e-12,
            "{mean} ± {error}, {expected}"
        );
        assert!(error < 0.05 * expected, "{mean} ± {error}");
    }
}

/// Sums what `part` picks of the light that returns.
fn power(
    scene: &Scene,
    ray: (Point3<f64>, Vector3<f64>),
    settings: &PathSettings,
    seed: u32,
    part: impl Fn(&LightReturn<f64>) -> bool,
) -> f64 {
    let mut scratch = CastScratch::new();
    let world = World::at_wavelength(scene, 785e-9).expect("constant materials");
    let mut stream = Stream::new(7, 0, 0, seed, Purpose::LightPath);
    let ray = LightRay::new(ray.0, ray.1);
    let mut sum = 0.0;
    let tracer = PathTracer::new(&world, *settings);
    tracer.trace(&ray, &mut stream, &mut scratch, |r| {
        if part(&r) {
            sum += r.power;
        }
    });
    sum
}

/// A cavity of radius 2 m.
fn cavity(lobes: Vec<Lobe<Spectrum>>) -> Scene {
    let mesh = sphere(2.0, 1e-3).expect("a ball has a size").inside_out();
    Stage::default()
        .with(mesh, Isometry3::identity(), lobes)
        .build()
}

fn settings(max_depth: u32) -> PathSettings {
    PathSettings {
        paths: 64,
        max_depth,
        roulette_below: 0.0,
        ..PathSettings::default()
    }
}

/// In a closed Lambertian sphere the light of the k-th scattering, k > 1, is uniform, whatever the
/// place: unit power gives $\rho^{k-1}/(4\pi a^2)$ of irradiance on the wall, hence
/// $\rho^k/(\pi a^2)$ on a receiver that faces all of it. From the centre the first return is the
/// same formula, and the sum is the integrating sphere's $\frac{\rho}{(1-\rho)\pi a^2}$.
#[test]
fn an_integrating_sphere_returns_its_geometric_series() {
    let (reflectance, radius) = (0.7_f64, 2.0);
    let scene = cavity(paint(reflectance));
    let per_order = |order: i32| reflectance.powi(order) / (PI * radius * radius);

    let off_centre = (Point3::new(0.7, -0.4, 0.5), towards(33.0));
    for order in 2..=6 {
        let estimate = Estimate::of(64, |seed| {
            power(&scene, off_centre, &settings(8), seed, |r| {
                r.scatterings == order
            })
        });
        // The faceted ball is up to 1e-3 m smaller: 1e-3 of the power.
        let expected = per_order(i32::try_from(order).expect("small"));
        assert!((estimate.mean / expected - 1.0).abs() < 1e-3 + 4.5 * estimate.error / expected);
        assert!(estimate.error < 0.03 * expected, "{}", estimate.error);
    }

    let centre = (Point3::origin(), towards(33.0));
    let sum = power(&scene, centre, &settings(100), 1, |_| true);
    let expected = per_order(1) / (1.0 - reflectance);
    assert!((sum / expected - 1.0).abs() < 1e-3, "{sum} {expected}");
}

/// From the centre every leg is a radius or a chord: the k-th return's range is the mean of the
/// way out and back, and the first is exact.
#[test]
fn each_scattering_makes_the_path_longer() {
    let mut scratch = CastScratch::new();
    let scene = cavity(paint(0.5));
    let world = World::at_wavelength(&scene, 785e-9).expect("constant materials");
    let ray = LightRay::new(Point3::origin(), towards(10.0));
    let mut stream = Stream::new(1, 0, 0, 0, Purpose::LightPath);
    let (mut chords, mut count) = (0.0, 0);
    let settings = PathSettings {
        paths: 4096,
        max_depth: 2,
        ..PathSettings::default()
    };
    let tracer = PathTracer::new(&world, settings);
    tracer.trace(&ray, &mut stream, &mut scratch, |r| {
        if r.scatterings == 1 {
            assert!((r.range - 2.0).abs() < 1e-3);
        } else {
            // Out a radius and a chord, back a radius.
            chords += 2.0 * r.range - 4.0;
            count += 1;
        }
    });
    // The mean chord from a point by the cosine law: 4/3 a, sd sqrt(2)/3 a; 4.5 standard errors.
    let mean = chords / f64::from(count);
    assert!(count > 4000);
    assert!(
        (mean - 8.0 / 3.0).abs() < 4.5 * 0.943 / 64.0 + 2e-3,
        "{mean}"
    );
}

#[test]
fn neither_roulette_nor_the_number_of_paths_biases_the_estimate() {
    let reflectance = 0.6;
    let scene = cavity(paint(reflectance));
    let ray = (Point3::new(-0.5, 0.3, 0.2), towards(80.0));
    let exact = {
        let first = power(&scene, ray, &settings(1), 0, |_| true);
        let rest = reflectance * reflectance / (1.0 - reflectance);
        first + rest / (PI * 4.0)
    };
    for (paths, roulette_below) in [(1, 0.0), (16, 0.05), (16, 0.5), (64, 2.0)] {
        let settings = PathSettings {
            paths,
            max_depth: 60,
            roulette_below,
            ..PathSettings::default()
        };
        let estimate = Estimate::of(400, |seed| power(&scene, ray, &settings, seed, |_| true));
        let slack = 1e-3 * exact + 4.5 * estimate.error;
        assert!(
            (estimate.mean - exact).abs() < slack,
            "{} {exact}",
            estimate.mean
        );
        assert!(estimate.error < 0.03 * exact);
    }
}

/// Dusty panes and mirrors before one convex diffuse surface: all light is scattered once.
#[test]
fn singly_scattered_light_equals_that_of_the_ray_tree() {
    let mut dusty = pane(1.5, 5.0, 0.005);
    dusty.extend(paint(0.02));
    let scene = Stage::default()
        .wall([4.0, 4.0], [1.0, 0.0, 0.0], 170.0, dusty)
        .wall([4.0, 4.0], [2.0, 0.0, 0.0], 150.0, mirror(0.8))
        .wall([6.0, 4.0], [1.0, 4.0, 0.0], -90.0, paint(0.7))
        .wall([6.0, 4.0], [1.0, -4.0, 0.0], 90.0, paint(0.4))
        .build();
    let ray = (Point3::origin(), towards(4.0));
    let (tree, _) = returns_from(&scene, ray.0, ray.1, &depth(6));
    assert!(tree.len() >= 3, "{}", tree.len());
    let settings = PathSettings {
        paths: 4096,
        max_depth: 6,
        roulette_below: 0.0,
        receiver_half_angle: 1e-9,
    };
    // Each return of the tree, identified by its range.
    for expected in tree.iter().filter(|r| r.throughput > 0.02) {
        let estimate = Estimate::of(32, |seed| {
            power(&scene, ray, &settings, seed, |r| {
                r.scatterings == 1 && (r.optical_range - expected.optical_range).abs() < 1e-9
            })
        });
        estimate.assert_is(expected.power);
    }
}

/// A rough metal and a rough diffuse wall at right angles, a sensor before them: the light that
/// goes A, B, sensor from a ray onto A's point and the light that goes B, A, sensor from a ray onto
/// B's are one path and its reverse. Summed over all rays into the corner they are equal.
#[test]
fn path_throughput_is_reciprocal() {
    let brushed = Lobe::Microfacet(Microfacet {
        roughness: 0.7.into(),
        fresnel: Fresnel::Conductor {
            n: 1.5.into(),
            k: 7.0.into(),
        },
        shadowing: Shadowing::SmithCorrelated,
    });
    let rough = Lobe::OrenNayar(OrenNayar {
        reflectance: 0.8.into(),
        slope_sd: 0.3.into(),
        form: OrenNayarForm::Qualitative,
    });
    let scene = Stage::default()
        .wall([1.0, 1.0], [2.0, 0.0, 0.0], 180.0, vec![brushed])
        .wall([1.0, 1.0], [1.5, 0.5, 0.0], -90.0, vec![rough])
        .build();
    let origin = Point3::new(0.2, -0.3, 0.1);
    let settings = PathSettings {
        paths: 1,
        max_depth: 2,
        roulette_below: 0.0,
        ..PathSettings::default()
    };
    // Rays spread evenly over each wall by a 2-d recurrence; each represents the solid angle of an
    // equal share of the wall's square metre, cos / d^2.
    let onto = |wall: u32| {
        Estimate::of(64, |seed| {
            let mut stream = Stream::new(3, wall, 0, seed, Purpose::SubRay);
            let mut sum = 0.0;
            for i in 0..512 {
                let [u, v] = [stream.uniform() - 0.5, stream.uniform() - 0.5];
                let (target, normal) = match wall {
                    0 => (Point3::new(2.0, u, v), Vector3::x()),
                    _ => (Point3::new(1.5 + u, 0.5, v), Vector3::y()),
                };
                let away = target - origin;
                let (direction, distance) = (away.normalize(), away.norm());
                let share = direction.dot(&normal) / (distance * distance) / 512.0;
                let twice = |r: &LightReturn<f64>| r.scatterings == 2;
                sum += share
                    * power(
                        &scene,
                        (origin, direction),
                        &settings,
                        seed * 512 + i,
                        twice,
                    );
            }
            sum
        })
    };
    let [metal_first, wall_first] = [onto(0), onto(1)];
    let error = metal_first.error.hypot(wall_first.error);
    let difference = (metal_first.mean - wall_first.mean).abs();
    assert!(difference < 4.5 * error, "{difference} {error}");
    assert!(
        error < 0.03 * metal_first.mean,
        "{error} {}",
        metal_first.mean
    );
}

#[test]
fn an_occluder_blocks_the_return_path() {
    let corner = Stage::default()
        .wall([2.0, 2.0], [2.0, 0.0, 0.0], 180.0, paint(0.9))
        .wall([2.0, 2.0], [1.0, 1.0, 0.0], -90.0, paint(0.9));
    let ray = (Point3::new(0.0, -0.9, 0.0), towards(25.0));
    let twice = |scene: &Scene| power(scene, ray, &settings(2), 5, |r| r.scatterings == 2);
    let open = twice(&corner.clone().build());
    // Between the side wall and the sensor, beside the ray.
    let screen = |lobes| {
        let stage = corner.clone();
        stage
            .wall([1.0, 4.0], [0.0, -0.5, 0.0], -90.0, lobes)
            .build()
    };
    assert!(open > 0.0);
    assert_eq!(twice(&screen(paint(0.0))), 0.0);
    // A pane takes its reflection, at most 0.92 is left; the same paths otherwise.
    let clear = twice(&screen(pane(1.5, 0.0, 0.005))) / open;
    assert!((0.85..0.925).contains(&clear), "{clear}");
}

#[test]
fn a_receiver_rejects_light_outside_its_acceptance_angle() {
    let scene = cavity(paint(0.8));
    let ray = (Point3::new(0.5, 0.0, 0.0), towards(20.0));
    let narrow = PathSettings {
        receiver_half_angle: 0.3,
        paths: 1024,
        ..settings(4)
    };
    let seen = |settings: &PathSettings| {
        let twice = |r: &LightReturn<f64>| r.scatterings == 2;
        Estimate::of(64, |seed| power(&scene, ray, settings, seed, twice))
    };
    // Uniform radiance: in proportion to the solid angle.
    let share = 0.5 * (1.0 - 0.3_f64.cos());
    let expected = share * 0.64 / (PI * 4.0);
    let [narrow, all] = [seen(&narrow), seen(&settings(4))];
    assert!((narrow.mean - expected).abs() < 4.5 * narrow.error + 2e-3 * expected);
    assert!(narrow.error < 0.1 * expected);
    assert!(all.mean > 20.0 * narrow.mean);
}

#[test]
fn the_same_seed_gives_the_same_light() {
    let scene = cavity(paint(0.8));
    let ray = (Point3::new(0.5, 0.0, 0.0), towards(20.0));
    let run = |seed| power(&scene, ray, &PathSettings::default(), seed, |_| true);
    assert_eq!(run(3).to_bits(), run(3).to_bits());
    assert_ne!(run(3), run(4));
}
