//! Ambient light and the light of the air at receivers on the device are those of the CPU.

use crate::opened::device_with;
use crate::sweeps::{
    ROOM_WITH_BOARD, assert_agrees, assert_same, compare, every_other_column, phase_lidar,
    settings, street,
};
use crate::trees::mirrors;
use etendue_config::scene::{LoadedScene, parse};
use etendue_config::sensor::preset;
use etendue_config::toml_file::Document;
use etendue_gpu::ShaderChecks;
use etendue_physics::atmosphere::Weather;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::pulse::{AnalogueDetector, Detector, PhotonCounter};
use etendue_sensors::lidar::{Air, Lidar, PhaseReceiver, Receiver, SweepSettings};
use etendue_sensors::transport::{AmbientLight, Sun};
use nalgebra::Vector3;

/// A photodiode with shot noise.
fn photodiode() -> Detector {
    Detector::Analogue(AnalogueDetector {
        thermal_noise: 1e-6,
        shot_noise: 1e-6,
        background: 1e-7,
        saturation: 1e-3,
        recovery: None,
    })
}

/// A pulsed lidar with every other column, beams of several rays and a window.
fn lidar_with(detector: Detector) -> Lidar {
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.widened(4.0).with_rings(1);
    every_other_column(&mut lidar);
    let Receiver::Pulsed(receiver) = &mut lidar.receiver else {
        panic!("a pulsed lidar");
    };
    receiver.detector = detector;
    receiver.window = Some(ReceiverWindow {
        emitted_power: 1.0,
        field_of_view: 4e-3,
        bandwidth: 20e-9,
    });
    lidar
}

/// Lidars with a window: an analogue detector, a counter of photons, a phase receiver.
fn lidars() -> [(&'static str, Lidar); 3] {
    let analogue = photodiode();
    let counter = Detector::PhotonCounting(PhotonCounter {
        photons: 2e6,
        background: 4.0,
        capacity: 4000.0,
    });
    let phase = phase_lidar(|lidar, receiver| {
        lidar.limits.far = 20.0;
        receiver.noise.shot = 1e-6;
        receiver.noise.amplifier = 1e-5;
        assert!(receiver.window.is_some());
    });
    [
        ("analogue", lidar_with(analogue)),
        ("counter", lidar_with(counter)),
        ("phase", phase),
    ]
}

/// A scene in ambient light.
fn lit(mut loaded: LoadedScene, ambient: AmbientLight) -> LoadedScene {
    loaded.ambient = ambient;
    loaded
}

/// Sun, sky and warm surfaces, with the shadows of objects that move, in a street and in a room of mirrors; the sky alone; with
/// checks of the shaders.
#[test]
#[ignore = "10 to 22 s of CPU on software; just gpu"]
fn ambient_light_agrees_with_the_cpu() {
    let test = "ambient_light_agrees_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let sky = AmbientLight {
        sky_irradiance: Some(2e8),
        temperature: Some(900.0),
        ..AmbientLight::default()
    };
    let sun = AmbientLight {
        sun: Some(Sun {
            towards: Vector3::new(0.3, -0.5, 0.6).normalize(),
            irradiance: Some(9e8),
        }),
        ..sky
    };
    for (name, loaded) in [
        ("sky", lit(street(), sky)),
        ("street", lit(street(), sun)),
        ("mirrors", lit(mirrors(), sun)),
    ] {
        for (receiver, lidar) in &lidars() {
            for (speed, without_noise) in [(1.0, false), (0.0, true)] {
                let settings = SweepSettings {
                    without_noise,
                    ..settings()
                };
                let all = compare(device, &loaded, lidar, speed, &settings).unwrap();
                let name = format!("{receiver}, {name}");
                assert_agrees(&name, &all.differences);
                assert_eq!(all.on_host, 0, "{name}");
                let is_dark = without_noise && *receiver == "phase";
                assert_eq!(all.differences.brightest == 0.0, is_dark, "{name}");
            }
        }
    }
}

/// Fog and smoke in front of phase lidars with beams of one and of many rays, whose light adds to that of surfaces and hides
/// them; with checks of the shaders.
#[test]
fn light_of_the_air_at_phase_lidars_agrees_with_the_cpu() {
    let test = "light_of_the_air_at_phase_lidars_agrees_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let room = parse(&Document::new("room.toml", ROOM_WITH_BOARD)).unwrap();
    let scenes = [("room", room), ("mirrors", mirrors()), ("street", street())];
    let far = |lidar: &mut Lidar, receiver: &mut PhaseReceiver| {
        lidar.limits.far = 20.0;
        receiver.full_overlap = 3.0;
    };
    let lidars = [
        ("plain", phase_lidar(|_, _| {})),
        (
            "one ray",
            phase_lidar(|lidar, receiver| {
                far(lidar, receiver);
                lidar.beam = lidar.beam.with_one_ray();
            }),
        ),
        (
            "wide",
            phase_lidar(|lidar, receiver| {
                far(lidar, receiver);
                lidar.beam = lidar.beam.with_rings(2).widened(4.0);
                receiver.ambiguity.gate = 0.5;
            }),
        ),
    ];
    let mut returns = 0;
    for visibility in [400.0, 20.0, 3.0] {
        for (scene, loaded) in &scenes {
            for (name, lidar) in &lidars {
                for (speed, without_noise, with_truth) in [(1.0, false, true), (0.0, true, false)] {
                    let settings = SweepSettings {
                        air: Air::of(vec![Weather::Fog { visibility }]),
                        without_noise,
                        with_truth,
                        ..settings()
                    };
                    let all = compare(device, loaded, lidar, speed, &settings).unwrap();
                    let name = format!("{name} in the {scene}, {visibility} m");
                    assert_eq!(all.on_host, 0, "{name}");
                    assert_same(&name, &all.differences);
                    returns += all.differences.returns;
                }
            }
        }
    }
    println!("{returns} returns");
    assert!(returns > 10_000);
}

/// A square with spheres of materials of all kinds, under three panes; some of them under nine.
fn square() -> LoadedScene {
    let materials = [
        (
            "rough",
            "diffuse = { reflectance = 0.6, slope_sd_deg = 25 }",
        ),
        (
            "rougher",
            r#"diffuse = { reflectance = 0.5, slope_sd_deg = 40, model = "full" }"#,
        ),
        (
            "dusty",
            r#"diffuse = { reflectance = 0.8, slope_sd_deg = 30, model = "full-inter-reflection" }"#,
        ),
        (
            "satin",
            "diffuse = { reflectance = 0.4 }\ngloss = { ior = 1.5, roughness = 0.3 }",
        ),
        (
            "plastic",
            r#"diffuse = { reflectance = 0.2, slope_sd_deg = 15 }
            gloss = { ior = 1.6, roughness = 0.15, shadowing = "smith-separable" }"#,
        ),
        (
            "game",
            r#"diffuse = { reflectance = 0.3 }
            gloss = { ior = 1.4, roughness = 0.4, shadowing = "schlick-karis", fresnel = "schlick", coupled = false }"#,
        ),
        ("steel", r#"base = "stainless-steel""#),
        ("frosted", r#"base = "pmma-frosted""#),
        (
            "enamel",
            "diffuse = { reflectance = 0.7 }\ngloss = { ior = 1.5 }",
        ),
        ("sign", r#"base = "retroreflective-sheeting""#),
        (
            "speckled",
            "diffuse = { reflectance = 0.5, weight = 0.3 }\nconductor = { n = 2.0, k = 3.0, roughness = 0.25, weight = 0.7 }",
        ),
    ];
    let mut parts = vec![String::from(
        "version = 1\nname = \"square\"\n[[objects]]\nname = \"ground\"\n\
         shape.plane = { size_m = [30.0, 30.0] }\nmaterial = \"concrete\"\n",
    )];
    let mut add = |name: &str, shape: &str, [x, y, z]: [f64; 3], material: &str| {
        parts.push(format!(
            "[[objects]]\nname = \"{name}\"\nshape.{shape}\nposition_m = [{x}, {y}, {z}]\nmaterial = \"{material}\"\n"
        ));
    };
    let count = materials.len() as f64;
    for ((name, _), number) in materials.iter().zip(0..) {
        let angle = std::f64::consts::TAU * f64::from(number) / count;
        let position = [4.0 * angle.cos(), 4.0 * angle.sin(), 1.8];
        add(name, "sphere = { radius_m = 0.8 }", position, name);
    }
    for number in 0..9 {
        let (size, x) = if number < 3 { (16.0, 4.0) } else { (5.0, 3.0) };
        let plane = format!("plane = {{ size_m = [{size}, {size}] }}");
        let height = 3.5 + 0.1 * f64::from(number);
        let pane = format!("pane {number}");
        add(&pane, &plane, [x, 0.0, height], "window-glass");
    }
    for (name, lobes) in materials {
        parts.push(format!(
            "[materials.{name}]\nsource = \"a test\"\n{lobes}\n"
        ));
    }
    parse(&Document::new("square.toml", parts.concat())).unwrap()
}

/// Frosted surfaces from outside and from inside, in the sun from below: several facets scatter more light inside. No beam meets
/// facets near the critical angle of the light of the sun, where the reflectance in f32 has an error of 1e-5.
#[test]
fn both_sides_of_frosted_surfaces_agree_with_the_cpu() {
    let test = "both_sides_of_frosted_surfaces_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let scene = "version = 1\nname = \"frosted\"\n\
        [[objects]]\nname = \"ceiling\"\nshape.plane = { size_m = [7.0, 7.0] }\n\
        position_m = [0, 0, 2.4]\nmaterial = \"pmma-frosted\"\n\
        [[objects]]\nname = \"ball\"\nshape.sphere = { radius_m = 1.2 }\n\
        position_m = [4, 0, 1.6]\nmaterial = \"pmma-frosted\"\n";
    let scene = || parse(&Document::new("frosted.toml", scene)).unwrap();
    let sun = Sun {
        towards: -Vector3::z(),
        irradiance: Some(9e8),
    };
    let ambient = AmbientLight {
        sun: Some(sun),
        ..AmbientLight::default()
    };
    let lidar = lidar_with(photodiode());
    for loaded in [scene(), lit(scene(), ambient)] {
        let all = compare(device, &loaded, &lidar, 0.0, &settings()).unwrap();
        assert_agrees(test, &all.differences);
        assert_eq!(all.on_host, 0);
        assert!(all.differences.returns > 1000);
    }
}

/// Sunlight that rough, glossy, metallic and retro-reflecting spheres scatter, also behind three panes, and in the shadow of nine; with
/// checks of the shaders.
#[test]
#[ignore = "20 s of CPU on software; just gpu"]
fn sunlight_at_all_materials_agrees_with_the_cpu() {
    let test = "sunlight_at_all_materials_agrees_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let mut lidar = lidar_with(photodiode());
    for towards in [[0.3, -0.5, 0.6], [-0.8, 0.1, 0.3]] {
        let sun = Sun {
            towards: Vector3::from(towards).normalize(),
            irradiance: Some(9e8),
        };
        let ambient = AmbientLight {
            sun: Some(sun),
            ..AmbientLight::default()
        };
        let loaded = lit(square(), ambient);
        for rings in [0, 1] {
            lidar.beam = lidar.beam.with_rings(rings);
            let all = compare(device, &loaded, &lidar, 0.0, &settings()).unwrap();
            assert_agrees(test, &all.differences);
            assert!(all.differences.brightest > 0.0);
            assert_eq!(all.on_host, 0);
        }
    }
}
