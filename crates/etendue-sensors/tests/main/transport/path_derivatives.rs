//! Derivatives of light that several rough surfaces scatter, against surface integrals and differences.

use super::stage::{Stage, depth, mirror, paint, pane, towards};
use etendue_physics::surface::{
    Fresnel, Lobe, Material, Microfacet, OrenNayar, OrenNayarForm, Shadowing, Side,
};
use etendue_physics::{Dual, DualParts, Purpose, Scalar, Stream};
use etendue_scene::primitive::sphere;
use etendue_scene::{CastScratch, MaterialId, ObjectId, Scene};
use etendue_sensors::transport::{LightRay, PathSettings, PathTracer, World, trace_tree};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use std::f64::consts::PI;

const WAVELENGTH: f64 = 785e-9;

/// Sizes of a room about the origin, m.
const SIZE: [f64; 3] = [3.0, 2.2, 1.8];

/// The parameter that a derivative is by, with its value.
#[derive(Clone, Copy, Debug)]
enum By {
    /// Position of the sensor along a direction, m.
    Position,
    /// Roughness of the metal.
    Roughness,
    /// Displacement of the metal wall along its normal, m.
    Wall,
    /// Angle of the metal wall about the vertical axis through its centre, rad.
    Turn,
}

fn metal<T: From<f64>>(roughness: T) -> Lobe<T> {
    Lobe::Microfacet(Microfacet {
        roughness,
        fresnel: Fresnel::Conductor {
            n: 1.5.into(),
            k: 7.0.into(),
        },
        shadowing: Shadowing::SmithCorrelated,
    })
}

/// The room: a wall of rough metal ahead, one of plaster on the left, and paint.
fn room() -> Scene {
    let plaster = Lobe::OrenNayar(OrenNayar {
        reflectance: 0.7.into(),
        slope_sd: 0.4.into(),
        form: OrenNayarForm::Qualitative,
    });
    let [x, y, z] = SIZE;
    Stage::default()
        .wall([y, z], [x / 2.0, 0.0, 0.0], 180.0, vec![metal(0.6.into())])
        .wall([x, z], [0.0, y / 2.0, 0.0], -90.0, vec![plaster])
        .wall([x, z], [0.0, -y / 2.0, 0.0], 90.0, paint(0.4))
        .wall([y, z], [-x / 2.0, 0.0, 0.0], 0.0, paint(0.8))
        .build()
}

/// Poses of the walls, the material of the metal and the origin of the ray, with a parameter moved by `step`.
fn moved<S: Scalar>(
    scene: &Scene,
    by: By,
    step: S,
) -> (Vec<Isometry3<S>>, Vec<Material<S>>, Point3<S>) {
    let world = World::at_wavelength(scene, WAVELENGTH).expect("constant materials");
    let lifted = world.lift::<S>();
    let mut poses = lifted.poses().to_vec();
    let mut materials: Vec<Material<S>> = (0..4)
        .map(|id| lifted.material(MaterialId(id)).clone())
        .collect();
    let mut origin = Point3::new(-0.4, 0.2, 0.1).map(S::from);
    match by {
        By::Position => origin += Vector3::new(0.6, -0.5, 0.3).map(S::from) * step,
        By::Roughness => materials[0].lobes = vec![metal(step + 0.6)],
        By::Wall => poses[0].translation.vector.x += step,
        By::Turn => {
            let turn = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::z_axis(), step);
            poses[0].rotation = turn * poses[0].rotation;
        }
    }
    (poses, materials, origin)
}

/// Unit direction of the ray: onto the metal.
fn onto_metal() -> Vector3<f64> {
    Vector3::new(1.0, 0.22, -0.12).normalize()
}

/// Power of the light that is scattered at the first surface of the ray, then at another wall, and then goes to the
/// sensor: midpoint rule over the walls.
fn scattered_twice(scene: &Scene, by: By, step: f64) -> f64 {
    let (poses, materials, origin) = moved::<f64>(scene, by, step);
    let direction = onto_metal();
    let frame_of =
        |pose: &Isometry3<f64>| -> Matrix3<f64> { pose.rotation.to_rotation_matrix().into() };
    let local = |frame: &Matrix3<f64>, to: &Vector3<f64>| frame.tr_mul(to);

    // First surface: the metal.
    let frame = frame_of(&poses[0]);
    let normal = frame.column(2).into_owned();
    let distance =
        (poses[0].translation.vector - origin.coords).dot(&normal) / direction.dot(&normal);
    let first = origin + direction * distance;
    let incoming = local(&frame, &-direction);

    // Second surface.
    let sizes = [
        [SIZE[1], SIZE[2]],
        [SIZE[0], SIZE[2]],
        [SIZE[0], SIZE[2]],
        [SIZE[1], SIZE[2]],
    ];
    let steps = 300;
    let mut sum = 0.0;
    for wall in 1..4 {
        let [along, up] = sizes[wall];
        let area = along * up / f64::from(steps * steps);
        let own = frame_of(&poses[wall]);
        for i in 0..steps {
            for j in 0..steps {
                let at = |k: i32| (f64::from(k) + 0.5) / f64::from(steps) - 0.5;
                let second = poses[wall] * Point3::new(along * at(i), up * at(j), 0.0);
                let away = second - first;
                let (square, onwards) = (away.norm_squared(), away.normalize());
                let outgoing = local(&frame, &onwards);
                let once = materials[0].evaluate(&incoming, &outgoing, Side::Front) * outgoing.z;
                let arriving = local(&own, &-onwards);
                let back = origin - second;
                let leaving = local(&own, &back.normalize());
                let twice = materials[wall].evaluate(&arriving, &leaving, Side::Front) * leaving.z;
                sum += once * arriving.z / square * twice / back.norm_squared() * area;
            }
        }
    }
    sum
}

/// Sum of a part of the power along the ray, with its derivative.
fn traced(scene: &Scene, by: By, seed: u32) -> Dual<1> {
    let (poses, materials, origin) = moved::<Dual<1>>(scene, by, Dual::variable(0.0, 0));
    let base = World::at_wavelength(scene, WAVELENGTH).expect("constant materials");
    let mut world = base.lift::<Dual<1>>();
    if matches!(by, By::Wall | By::Turn) {
        world = world.with_pose(ObjectId(0), poses[0]);
    }
    for (id, material) in (0..).zip(materials) {
        world = world.with_material(MaterialId(id), material);
    }
    let settings = PathSettings {
        paths: 256,
        max_depth: 2,
        roulette_below: 0.0,
        ..PathSettings::default()
    };
    let ray = LightRay::new(origin, onto_metal().map(Dual::from));
    let mut stream = Stream::new(11, 0, 0, seed, Purpose::LightPath);
    let mut sum = Dual::from(0.0);
    PathTracer::new(&world, settings).trace(&ray, &mut stream, &mut CastScratch::new(), |back| {
        if back.scatterings == 2 {
            sum += back.power;
        }
    });
    sum
}

/// Mean of values and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// The mean over random paths is the integral, and the mean of the derivatives that of the integral, by central
/// differences: positions, materials and poses.
#[test]
fn derivatives_of_random_paths_are_those_of_the_surface_integral() {
    let scene = room();
    for by in [By::Position, By::Roughness, By::Wall, By::Turn] {
        let power = scattered_twice(&scene, by, 0.0);
        let step = 1e-4;
        let change =
            (scattered_twice(&scene, by, step) - scattered_twice(&scene, by, -step)) / (2.0 * step);
        let runs: Vec<Dual<1>> = (0..256).map(|seed| traced(&scene, by, seed)).collect();
        let estimate = |value: &dyn Fn(&Dual<1>) -> f64| {
            mean_and_error(&runs.iter().map(value).collect::<Vec<_>>())
        };
        // Tolerance: 4.5 standard errors, at most 3 % of the value or, for small derivatives, of the power.
        for (name, (mean, error), expected, scale) in [
            ("power", estimate(&|run| run.value()), power, power),
            (
                "derivative",
                estimate(&|run| run.gradient()[0]),
                change,
                change.abs().max(power),
            ),
        ] {
            assert!(
                (mean - expected).abs() < 4.5 * error + 2e-4 * scale,
                "{by:?} {name}: {mean} ± {error}, {expected}"
            );
            assert!(error < 0.03 * scale, "{by:?} {name}: {mean} ± {error}");
        }
    }
}

/// Power from the centre of a Lambertian sphere of radius $a$: $\sum\rho^k/(\pi a^2)$.
#[test]
fn the_derivative_of_the_integrating_sphere_is_that_of_its_series() {
    let (reflectance, radius) = (0.7_f64, 2.0);
    let mesh = sphere(radius, 1e-3)
        .expect("a ball has a size")
        .inside_out();
    let scene = Stage::default()
        .with(mesh, Isometry3::identity(), paint(reflectance))
        .build();
    let base = World::at_wavelength(&scene, WAVELENGTH).expect("constant materials");
    let variable = Material {
        lobes: vec![Lobe::lambert(Dual::<1>::variable(reflectance, 0))],
    };
    let world = base
        .lift::<Dual<1>>()
        .with_material(MaterialId(0), variable);
    let settings = PathSettings {
        paths: 64,
        max_depth: 12,
        roulette_below: 0.5,
        ..PathSettings::default()
    };
    let ray = LightRay::new(
        Point3::<f64>::origin().map(Dual::from),
        towards(33.0).map(Dual::from),
    );
    let tracer = PathTracer::new(&world, settings);
    let mut sum = Dual::<1>::from(0.0);
    let runs = 64;
    for seed in 0..runs {
        let mut stream = Stream::new(7, 0, 0, seed, Purpose::LightPath);
        tracer.trace(&ray, &mut stream, &mut CastScratch::new(), |back| {
            sum += back.power;
        });
    }
    let derivative = sum.gradient()[0] / f64::from(runs);
    let order = |k: i32| f64::from(k) * reflectance.powi(k - 1);
    let expected = (1..=12).map(order).sum::<f64>() / (PI * radius * radius);
    // Roulette makes it random.
    assert!(
        (derivative / expected - 1.0).abs() < 0.02,
        "{derivative} {expected}"
    );
}

/// Dusty panes, a mirror and two painted walls.
fn dusty() -> Scene {
    let mut pane = pane(1.5, 5.0, 0.005);
    pane.extend(paint(0.02));
    Stage::default()
        .wall([4.0, 4.0], [1.0, 0.0, 0.0], 170.0, pane)
        .wall([4.0, 4.0], [2.0, 0.0, 0.0], 150.0, mirror(0.8))
        .wall([6.0, 4.0], [1.0, 4.0, 0.0], -90.0, paint(0.7))
        .wall([6.0, 4.0], [1.0, -4.0, 0.0], 90.0, paint(0.4))
        .build()
}

/// A ray from a place that moves by `step`.
fn ray_from<S: Scalar>(step: S) -> LightRay<S> {
    let origin = Vector3::new(0.3, 0.5, -0.2).map(S::from) * step;
    LightRay::new(Point3::from(origin), towards(4.0).map(S::from))
}

/// By way of mirrors and panes, the derivatives are those of the ray tree.
#[test]
fn singly_scattered_light_has_the_derivatives_of_the_ray_tree() {
    let scene = dusty();
    let base = World::at_wavelength(&scene, WAVELENGTH).expect("constant materials");
    let world = base.lift::<Dual<1>>();
    let ray = ray_from(Dual::variable(0.0, 0));
    let mut tree = Vec::new();
    let mut scratch = CastScratch::new();
    trace_tree(&world, &ray, &depth(6), &mut scratch, |back| {
        tree.push(back);
    });
    let settings = PathSettings {
        paths: 4096,
        max_depth: 6,
        roulette_below: 0.0,
        receiver_half_angle: 1e-9,
    };
    let tracer = PathTracer::new(&world, settings);
    let runs = 32;
    for expected in tree.iter().filter(|back| back.throughput.value() > 0.02) {
        let of_run = |seed| {
            let mut stream = Stream::new(7, 0, 0, seed, Purpose::LightPath);
            let mut power = Dual::<1>::from(0.0);
            tracer.trace(&ray, &mut stream, &mut CastScratch::new(), |back| {
                let is_same = (back.optical_range - expected.optical_range).value().abs() < 1e-9;
                if back.scatterings == 1 && is_same {
                    let (range, expected) =
                        (back.range.gradient()[0], expected.range.gradient()[0]);
                    assert!((range - expected).abs() < 1e-12, "{range} {expected}");
                    power += back.power;
                }
            });
            power.gradient()[0]
        };
        let values: Vec<f64> = (0..runs).map(of_run).collect();
        let (mean, error) = mean_and_error(&values);
        let expected = expected.power.gradient()[0];
        assert!(
            (mean - expected).abs() < 4.5 * error + 1e-12,
            "{mean} ± {error}, {expected}"
        );
        assert!(error < 0.05 * expected.abs(), "{mean} ± {error}");
    }
}

/// Derivatives do not change the paths.
#[test]
fn the_values_with_derivatives_are_those_without_bit_for_bit() {
    fn bits<S: Scalar>(world: &World<S>, ray: &LightRay<S>) -> Vec<[u64; 3]> {
        let mut stream = Stream::new(5, 0, 0, 0, Purpose::LightPath);
        let mut all = Vec::new();
        let tracer = PathTracer::new(world, PathSettings::default());
        tracer.trace(ray, &mut stream, &mut CastScratch::new(), |back| {
            all.push([back.range, back.optical_range, back.power].map(|one| one.value().to_bits()));
        });
        all
    }
    for scene in [dusty(), room()] {
        let base = World::at_wavelength(&scene, WAVELENGTH).expect("constant materials");
        let plain = bits(&base, &ray_from(0.0));
        assert!(plain.len() > 400, "{}", plain.len());
        let dual = bits(&base.lift::<Dual<1>>(), &ray_from(Dual::variable(0.0, 0)));
        assert_eq!(plain, dual);
    }
}
