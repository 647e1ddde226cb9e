//! Light on the image against closed forms.

use super::stage::{BAND, Stage, at, facing, lamps, paint, point_lamp, settings, shoot, uniform};
use etendue_physics::Spectrum;
use etendue_physics::surface::{
    Coated, Dielectric, Lobe, OrenNayar, OrenNayarForm, Shadowing, ThinDielectric,
};
use etendue_scene::lighting::{
    AreaLamp, Environment, EnvironmentMap, Light, Lighting, SpotLamp, Sun,
};
use etendue_scene::primitive::{cuboid, rectangle, sphere};
use etendue_scene::{Mapping, ObjectId, Pictures, Texture, TexturedObject, Textures};
use etendue_sensors::camera::{Camera, CameraFrame, CameraWorld, FrameSettings, LightTransport};
use nalgebra::{Isometry3, Point3, Vector3};
use std::f64::consts::PI;

const DIRECT: LightTransport = LightTransport::Direct { depth: 6 };

fn paths(scatterings: u32) -> LightTransport {
    LightTransport::Paths {
        scatterings,
        depth: 32,
    }
}

fn ball() -> Stage {
    let mesh = sphere(0.5, 1e-3).unwrap();
    Stage::default().with(mesh, Isometry3::translation(2.0, 0.0, 0.0), paint(1.0))
}

/// Least and greatest relative departure from `expected`.
fn departure(frame: &CameraFrame, expected: f64) -> f64 {
    let [least, most] = frame.radiance_range();
    (least / expected - 1.0)
        .abs()
        .max((most / expected - 1.0).abs())
}

#[test]
fn a_white_sphere_passes_the_white_furnace_test() {
    let scene = ball().build();
    for camera in [
        Camera::simple(48, 36, 0.8),
        Camera::simple(48, 36, 0.8).in_colour(),
    ] {
        let width = camera.bands[0].width;
        for light in [DIRECT, paths(4)] {
            let frame = shoot(&scene, &uniform(1e6), &camera, &settings(4, light));
            // Rounding of f32 alone.
            let off = departure(&frame, 1e6 * width);
            assert!(off < 1e-6, "{light:?}: {off}");
        }
    }
}

/// What comes back of white light is the albedo: never more than arrives.
#[test]
fn glossy_surfaces_conserve_energy() {
    let coated = vec![Lobe::Coated(Coated {
        base: OrenNayar {
            reflectance: 1.0.into(),
            slope_sd: 0.0.into(),
            form: OrenNayarForm::Qualitative,
        },
        index: 1.5.into(),
        roughness: Some(0.4.into()),
        shadowing: Shadowing::default(),
    })];
    let scene = Stage::default()
        .with(
            rectangle([9.0, 9.0]).unwrap(),
            facing([1.0, 0.0, 0.0]),
            coated,
        )
        .build();
    let camera = Camera::simple(8, 8, 0.4);
    for light in [DIRECT, paths(4)] {
        let frame = shoot(&scene, &uniform(1.0), &camera, &settings(256, light));
        let mean = frame.radiance.iter().sum::<f32>() / frame.radiance.len() as f32;
        let albedo = f64::from(mean) / BAND;
        // Light between facets is left out.
        assert!((0.93..1.01).contains(&albedo), "{light:?}: {albedo}");
    }
}

/// $L = \rho I \cos\theta / (\pi d^2)$.
#[test]
fn the_radiance_of_a_wall_under_a_lamp_follows_lamberts_law() {
    let scene = Stage::default()
        .with(
            rectangle([9.0, 9.0]).unwrap(),
            facing([2.0, 0.0, 0.0]),
            paint(0.6),
        )
        .build();
    let lighting = lamps(vec![point_lamp([0.0, 0.0, 1.5], 5e8)]);
    let camera = Camera::simple(33, 25, 0.9);
    let [direct, traced] =
        [DIRECT, paths(6)].map(|light| shoot(&scene, &lighting, &camera, &settings(1, light)));
    let d2 = 2.0_f64.powi(2) + 1.5_f64.powi(2);
    let expected = 0.6 / PI * 5e8 * BAND / d2 * (2.0 / d2.sqrt());
    assert!((at(&direct, 16, 12) / expected - 1.0).abs() < 1e-6);
    // Where nothing but direct light exists the two are the same numbers.
    assert_eq!(direct.radiance, traced.radiance);
}

/// A lamp in the middle of a hollow ball lights it alike everywhere; what is scattered does too,
/// so that n scatterings give the first n terms of a geometric series.
#[test]
fn interreflection_is_the_geometric_series() {
    let (reflectance, radius) = (0.7, 1.0);
    let hollow = sphere(radius, 2e-4).unwrap().inside_out();
    let scene = Stage::default()
        .with(hollow, Isometry3::identity(), paint(reflectance))
        .build();
    let lighting = lamps(vec![point_lamp([0.0, 0.0, 0.0], 1e8)]);
    let camera = Camera::simple(12, 9, 1.0);
    let first = reflectance / PI * 1e8 * BAND / (radius * radius);
    for scatterings in [1, 2, 5, 20] {
        let light = paths(scatterings);
        let frame = shoot(&scene, &lighting, &camera, &settings(32, light));
        let mean = f64::from(frame.radiance.iter().sum::<f32>()) / frame.radiance.len() as f64;
        let terms = i32::try_from(scatterings).unwrap();
        let series = (1.0 - reflectance.powi(terms)) / (1.0 - reflectance);
        let ratio = mean / first / series;
        // Measured: 1.0002, what the facets stand inside the sphere; 1.0013 with 20, the
        // roulette's noise.
        assert!((ratio - 1.0).abs() < 4e-3, "{scatterings}: {ratio}");
    }
}

/// A small lamp above: $E = L A \cos\theta_1 \cos\theta_2 / d^2$, and the lamp is visible.
#[test]
fn an_area_lamp_illuminates_by_its_area_and_is_visible() {
    let floor = Isometry3::translation(2.0, 0.0, -1.0);
    let scene = Stage::default()
        .with(rectangle([20.0, 20.0]).unwrap(), floor, paint(0.5))
        .build();
    let face_down = nalgebra::UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI);
    let lamp = AreaLamp {
        world_from_lamp: Isometry3::from_parts([2.0, 0.0, 1.0].into(), face_down),
        size: [0.1, 0.1],
        radiance: 1e9.into(),
    };
    let lighting = lamps(vec![Light::Area(lamp)]);
    let camera = Camera::simple(9, 9, 0.02);
    let look_at = |target: Point3<f64>| {
        let direction = target.coords.normalize();
        let turn = nalgebra::UnitQuaternion::rotation_between(&Vector3::x(), &direction).unwrap();
        Isometry3::from_parts(nalgebra::Translation3::identity(), turn)
    };
    let textures = Textures::default();
    let camera_world = CameraWorld::new(&scene, &lighting, &textures, &camera).unwrap();
    for light in [DIRECT, paths(5)] {
        let settings = settings(64, light);
        let down =
            camera_world.expose(&camera, &settings, |_| look_at(Point3::new(2.0, 0.0, -1.0)));
        let expected = 0.5 / PI * 1e9 * BAND * 0.01 / 4.0;
        // Measured: 0.09 %: the lamp is not quite small.
        assert!(
            (at(&down, 4, 4) / expected - 1.0).abs() < 5e-3,
            "{}",
            at(&down, 4, 4) / expected
        );
        let up = camera_world.expose(&camera, &settings, |_| look_at(Point3::new(2.0, 0.0, 1.0)));
        assert!((at(&up, 4, 4) / (1e9 * BAND) - 1.0).abs() < 1e-6);
    }
}

fn sunlit(with: Stage, lamp: Light) -> f64 {
    let scene = with
        .with(
            rectangle([9.0, 9.0]).unwrap(),
            facing([3.0, 0.0, 0.0]),
            paint(0.5),
        )
        .build();
    let camera = Camera::simple(5, 5, 0.2);
    at(
        &shoot(&scene, &lamps(vec![lamp]), &camera, &settings(4, DIRECT)),
        2,
        2,
    )
}

fn sun() -> Light {
    Light::Sun(Sun {
        to_sun: Vector3::new(-1.0, 0.0, 1.0).normalize(),
        irradiance: 1e9.into(),
        half_angle: 0.0,
    })
}

#[test]
fn the_sun_casts_shadows_and_shines_through_panes() {
    let above = Isometry3::translation(1.5, 0.0, 1.5);
    let bare = sunlit(Stage::default(), sun());
    let expected = 0.5 / PI * 1e9 * BAND * 0.5_f64.sqrt();
    assert!((bare / expected - 1.0).abs() < 1e-6, "{bare} {expected}");
    let board = rectangle([1.0, 1.0]).unwrap();
    assert_eq!(
        sunlit(
            Stage::default().with(board.clone(), above, paint(0.5)),
            sun()
        ),
        0.0
    );
    let glass = ThinDielectric {
        medium: Dielectric {
            index: 1.5.into(),
            group_index: 1.5.into(),
            absorption: 0.0.into(),
        },
        thickness: 0.005.into(),
    };
    let pane = vec![Lobe::<Spectrum>::ThinDielectric(glass)];
    let shaded = sunlit(Stage::default().with(board, above, pane), sun());
    // A pane of index 1.5 at 45 degrees lets 0.90734 pass. Measured: 0.907344.
    assert!((shaded / bare - 0.90734).abs() < 1e-5, "{}", shaded / bare);
}

#[test]
fn a_spot_lamp_illuminates_its_cone() {
    let spot = |degrees: f64| {
        let angle = degrees.to_radians();
        Light::Spot(SpotLamp {
            position: Point3::origin(),
            axis: Vector3::new(angle.cos(), angle.sin(), 0.0),
            intensity: 1e9.into(),
            inner: 0.2,
            outer: 0.3,
        })
    };
    let lit = sunlit(Stage::default(), spot(0.0));
    assert!(
        (lit / (0.5 / PI * 1e9 * BAND / 9.0) - 1.0).abs() < 1e-3,
        "{lit}"
    );
    assert_eq!(sunlit(Stage::default(), spot(20.0)), 0.0);
}

/// A map of one colour is a uniform environment; one bright texel is a sun.
#[test]
fn an_environment_map_gives_the_irradiance_of_its_image() {
    let scene = Stage::default()
        .with(
            rectangle([9.0, 9.0]).unwrap(),
            facing([2.0, 0.0, 0.0]),
            paint(0.8),
        )
        .build();
    let camera = Camera::simple(6, 6, 0.3);
    let lit = |texels: Vec<[f32; 3]>, light| {
        let map = EnvironmentMap::new(32, texels, 1e6, 0.0).unwrap();
        let lighting = Lighting {
            lights: vec![],
            environment: Environment::Map(map.into()),
        };
        let frame = shoot(&scene, &lighting, &camera, &settings(512, light));
        f64::from(frame.radiance.iter().sum::<f32>()) / frame.radiance.len() as f64
    };
    for light in [DIRECT, paths(3)] {
        let flat = lit(vec![[1.0; 3]; 32 * 16], light) / (0.8 * 1e6 * BAND);
        // Measured: 1.0042.
        assert!((flat - 1.0).abs() < 0.01, "{flat}");
        let mut texels = vec![[0.0; 3]; 32 * 16];
        // Straight behind the camera, just above the horizon: column 0, row 7.
        texels[7 * 32] = [500.0; 3];
        let step = 2.0 * PI / 32.0;
        // Irradiance of the texel on a wall that faces it: the integral of sin^2 cos.
        let (top, bottom) = (PI * 7.0 / 16.0, PI * 8.0 / 16.0);
        let sin2 = |z: f64| 0.5 * z - 0.25 * (2.0 * z).sin();
        let expected = 500.0 * 1e6 * BAND * (sin2(bottom) - sin2(top)) * step.sin();
        let ratio = lit(texels, light) / (0.8 / PI * expected);
        // Measured: 0.9994.
        assert!((ratio - 1.0).abs() < 0.02, "{light:?}: {ratio}");
    }
}

/// A mirror reflects the scene in front of it: direct light and path tracing agree.
#[test]
fn random_paths_and_the_ray_tree_agree_on_mirrors() {
    let mirror = vec![Lobe::mirror(0.9.into())];
    let stage = Stage::default().with(
        rectangle([9.0, 9.0]).unwrap(),
        facing([2.0, 0.0, 0.0]),
        mirror,
    );
    let room = cuboid([8.0, 8.0, 8.0]).unwrap().inside_out();
    let scene = stage.with(room, Isometry3::identity(), paint(0.5)).build();
    let lighting = lamps(vec![point_lamp([1.0, 0.5, 0.7], 1e9)]);
    let camera = Camera::simple(16, 12, 0.9);
    let frames =
        [DIRECT, paths(1)].map(|light| shoot(&scene, &lighting, &camera, &settings(4, light)));
    let [direct, traced] = &frames;
    assert!(direct.radiance.iter().all(|value| *value > 0.0));
    for (a, b) in direct.radiance.iter().zip(&traced.radiance) {
        // Measured: equal.
        assert!((a / b - 1.0).abs() < 1e-5, "{a} {b}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let scene = ball().build();
    let lighting = Lighting {
        lights: vec![point_lamp([0.0, 1.0, 2.0], 1e8)],
        environment: Environment::Uniform(1e6.into()),
    };
    let camera = Camera::simple(40, 30, 0.8).in_colour();
    let frames = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| shoot(&scene, &lighting, &camera, &settings(8, paths(4))))
    });
    assert_eq!(frames[0], frames[1]);
    let other = FrameSettings {
        seed: 2,
        ..settings(8, paths(4))
    };
    assert_ne!(
        frames[0].radiance,
        shoot(&scene, &lighting, &camera, &other).radiance
    );
}

#[test]
fn a_texture_colours_a_wall_at_its_position() {
    let scene = Stage::default()
        .with(
            rectangle([2.0, 2.0]).unwrap(),
            facing([2.0, 0.0, 0.0]),
            paint(0.8),
        )
        .build();
    // The panel's x is the camera's up: the picture's two texels lie one above the other.
    let half = Texture::new(2, vec![[0.5, 0.25, 0.125], [1.0; 3]]).unwrap();
    let mut textures = Textures::default();
    let textured = TexturedObject {
        pictures: Pictures::One(half.into()),
        mapping: Mapping::Box([2.0, 2.0]),
    };
    textures.put(ObjectId(0), textured);
    let camera = Camera::simple(4, 40, 0.04).in_colour();
    let camera_world = CameraWorld::new(&scene, &uniform(1e6), &textures, &camera).unwrap();
    let frame = camera_world.expose(&camera, &settings(1, DIRECT), super::stage::still);
    let white = 0.8 * 1e6 * camera.bands[0].width;
    let colours: Vec<[f64; 3]> = frame
        .radiance
        .chunks_exact(3)
        .step_by(4)
        .map(|pixel| [0, 1, 2].map(|band| f64::from(pixel[band]) / white))
        .collect();
    let near = |a: &[f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
    assert!(colours.iter().any(|c| c[0] < 0.75), "{colours:?}");
    let ends = [colours[0], colours[39]];
    let expected = colours.iter().map(|c| (c[0] - 0.5) / 0.5);
    for (colour, part) in colours.iter().zip(expected) {
        let mixed = [0.5, 0.25, 0.125].map(|dark| dark + (1.0 - dark) * part);
        assert!(near(colour, mixed), "{colour:?} {mixed:?}");
    }
    assert!((ends[0][0] - ends[1][0]).abs() > 0.1, "{ends:?}");
}
