//! Frames on the device are those of the CPU, with the same draws.

use crate::opened::{device, device_with};
use crate::sweeps::street;
use etendue_config::camera::preset;
use etendue_config::scene::{LoadedScene, example, light_if_dark};
use etendue_gpu::{GpuCamera, GpuCaster, GpuDevice, GpuFrameError, ShaderChecks};
use etendue_scene::Textures;
use etendue_scene::lighting::{Environment, Light, Lighting, PointLamp, SpotLamp, Sun};
use etendue_sensors::camera::{
    Camera, CameraFrame, CameraWorld, Exposure, FrameSettings, LightTransport, NotDirectFrame,
};
use nalgebra::{Isometry3, Point3, Vector3};

/// A camera with fewer pixels of the same lens.
fn coarse(name: &str, width: u32) -> Camera {
    let mut camera = preset(name).unwrap();
    let factor = f64::from(width) / f64::from(camera.width);
    camera.height = camera.height * width / camera.width;
    camera.width = width;
    let intrinsics = &mut camera.intrinsics;
    intrinsics.focal = intrinsics.focal.map(|focal| focal * factor);
    intrinsics.centre = intrinsics.centre.map(|place| (place + 0.5) * factor - 0.5);
    intrinsics.image_circle = intrinsics.image_circle.map(|radius| radius * factor);
    camera
}

fn settings(samples: u32) -> FrameSettings {
    FrameSettings {
        samples,
        seed: 7 << 34 | 5,
        sensor: 3,
        index: 2,
        start: 0.4,
        ..FrameSettings::default()
    }
}

/// Differences of two frames.
#[derive(Debug, Default)]
struct Differences {
    pixels: usize,
    lit: usize,
    on_host: usize,
    /// Pixels with a radiance beyond rounding.
    others: usize,
    /// Largest difference of the radiance of the others, over their own or a hundredth of that of the brightest pixel: in
    /// grazing light the rounding of the direction is larger relative to the radiance.
    radiance: f32,
    /// Digital numbers of other pixels that differ.
    other_counts: usize,
}

fn differences(expected: &CameraFrame, found: &CameraFrame, on_host: usize) -> Differences {
    assert_eq!(
        (
            expected.width,
            expected.height,
            expected.bands,
            expected.exposure
        ),
        (found.width, found.height, found.bands, found.exposure)
    );
    let mut all = Differences {
        pixels: (expected.width * expected.height) as usize,
        on_host,
        ..Differences::default()
    };
    let brightest = expected.radiance.iter().copied().fold(0.0, f32::max);
    let bands = expected.bands;
    let raws = expected.raw.len() / all.pixels;
    for pixel in 0..all.pixels {
        let of = |frame: &CameraFrame| frame.radiance[pixel * bands..][..bands].to_vec();
        let [a, b] = [of(expected), of(found)];
        let most = a.iter().copied().fold(0.0, f32::max);
        let apart = a
            .iter()
            .zip(&b)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        all.lit += usize::from(most > 0.0);
        let apart = apart / most.max(0.01 * brightest);
        if apart > 1e-4 {
            all.others += 1;
            continue;
        }
        all.radiance = all.radiance.max(apart);
        let raw = |frame: &CameraFrame| frame.raw[pixel * raws..][..raws].to_vec();
        for (a, b) in raw(expected).iter().zip(raw(found)) {
            all.other_counts += usize::from(*a != b);
        }
    }
    all
}

/// A scene with lights.
struct Lit<'a> {
    loaded: &'a LoadedScene,
    lighting: Lighting,
}

/// Compares the frames of a camera, and their ground truth.
fn compare(
    device: &GpuDevice,
    lit: &Lit,
    camera: &Camera,
    settings: &FrameSettings,
    pose: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> Result<Differences, GpuFrameError> {
    let scene = &lit.loaded.scene;
    let world = CameraWorld::new(scene, &lit.lighting, &lit.loaded.textures, camera).unwrap();
    let caster = GpuCaster::new(device, scene.caster())?;
    let own = GpuCamera::new(device, &caster, &world, camera)?;

    // Ground truth
    let exposure = 2e-3;
    let expected = world.truth(camera, settings, exposure, 0.03, &pose);
    let found = own.truth(settings, exposure, 0.03, &pose)?;
    let same = |number: &usize| {
        expected.range[*number].to_bits() == found.range[*number].to_bits()
            && expected.object[*number] == found.object[*number]
            && expected.material[*number] == found.material[*number]
            && expected.normal[*number].map(f32::to_bits) == found.normal[*number].map(f32::to_bits)
            && expected.flow[*number].map(f32::to_bits) == found.flow[*number].map(f32::to_bits)
    };
    let count = expected.range.len();
    let others = count - (0..count).filter(same).count();
    assert!(expected.object.iter().flatten().count() > count / 8);
    println!("ground truth: {others} of {count} pixels differ");
    assert!(others <= count / 10_000);

    // Frame
    let found = own.expose(settings, &pose)?;
    let expected = world.expose(camera, settings, &pose);
    Ok(differences(&expected, &found.frame, found.on_host))
}

/// Asserts the stated agreement: other radiances of fewer than two pixels in a thousand; relative differences of the
/// others below 3e-5, and other counts of fewer than one pixel in a thousand.
fn assert_agrees(name: &str, all: &Differences) {
    println!("{name}: {all:?}");
    assert!(all.lit > all.pixels / 2, "{name}: {all:?}");
    assert!(all.others <= all.pixels / 500, "{name}: {all:?}");
    // Measured 1.8e-5 at the edge of the cone of a spot lamp, 6.6e-6 in other light
    assert!(all.radiance < 3e-5, "{name}: {all:?}");
    assert!(all.other_counts <= all.pixels / 1000 + 1, "{name}: {all:?}");
}

/// A pose that looks over the street, at rest or in motion.
fn over_street(speed: f64) -> impl Fn(f64) -> Isometry3<f64> + Sync {
    move |time| {
        let turn = Vector3::new(0.02, 0.1 - 0.05 * speed * time, 0.3 + 0.4 * speed * time);
        Isometry3::new(Vector3::new(9.0 * speed * time, 0.2, 1.8), turn)
    }
}

fn lit(loaded: &LoadedScene, pose: &Isometry3<f64>) -> Lighting {
    let mut lighting = loaded.lighting.clone();
    light_if_dark(&loaded.scene, &mut lighting, pose);
    lighting
}

/// The street with its objects at rest.
fn resting_street() -> LoadedScene {
    let mut street = street();
    let scene = &street.scene;
    let mut edit = scene.clone().edit();
    for (number, _) in (0..).zip(scene.objects()) {
        let object = etendue_scene::ObjectId(number);
        edit = edit.with_pose(object, scene.world_from_object(object, 0.4));
    }
    street.scene = edit.finish();
    street
}

/// All presets, under the sun in a clear sky, at rest and in motion, with one sample per pixel and with several.
#[test]
fn frames_of_presets_agree_with_the_cpu() {
    let Some(device) = device("frames_of_presets_agree_with_the_cpu") else {
        return;
    };
    let loaded = resting_street();
    let lit = Lit {
        lighting: lit(&loaded, &over_street(0.0)(0.0)),
        loaded: &loaded,
    };
    assert!(matches!(lit.lighting.environment, Environment::Sky(_)));
    for name in ["ideal", "fisheye", "global-shutter", "raspberry-pi-v2"] {
        let camera = coarse(name, 160);
        for (speed, samples) in [(0.0, 1), (0.0, 5), (1.0, 4)] {
            let all = compare(
                device,
                &lit,
                &camera,
                &settings(samples),
                over_street(speed),
            );
            let all = all.unwrap();
            assert_agrees(name, &all);
            assert!(all.on_host < all.pixels / 2, "{name}: {all:?}");
        }
    }
}

/// Every kind of lamp, in the dark and in uniform light, with checks of the shaders.
#[test]
fn light_of_all_lamps_agrees_with_the_cpu() {
    let Some(device) = device_with("light_of_all_lamps_agrees_with_the_cpu", ShaderChecks::On)
    else {
        return;
    };
    let loaded = resting_street();
    let mut camera = coarse("ideal", 120);
    camera.vignetting.cosine_power = 4.0;
    camera.vignetting.polynomial = [-0.1, 0.02, -0.01];
    let position = Point3::new(4.0, 1.0, 3.0);
    let lamps: [(&str, Light); 3] = [
        (
            "point",
            Light::Point(PointLamp {
                position,
                intensity: 1e9.into(),
            }),
        ),
        (
            "spot",
            Light::Spot(SpotLamp {
                position,
                axis: Vector3::new(0.8, 0.0, -0.6),
                intensity: 1e9.into(),
                inner: 0.6,
                outer: 1.2,
            }),
        ),
        (
            "sun",
            Light::Sun(Sun {
                to_sun: Vector3::new(-0.6, 0.0, 0.8),
                irradiance: 1e9.into(),
                half_angle: 0.02,
            }),
        ),
    ];
    let environments = [Environment::Dark, Environment::Uniform(1e8.into())];
    for environment in environments {
        for (name, lamp) in &lamps {
            let lit = Lit {
                loaded: &loaded,
                lighting: Lighting {
                    lights: vec![lamp.clone()],
                    environment: environment.clone(),
                },
            };
            let all = compare(device, &lit, &camera, &settings(3), over_street(0.0)).unwrap();
            println!("{name}: {all:?}");
            assert!(all.lit > all.pixels / 20, "{name}: {all:?}");
            let whole = Differences {
                lit: all.pixels,
                ..all
            };
            assert_agrees(name, &whole);
        }
    }
}

/// A room with an area lamp, a mirror and a pane: the host renders their pixels.
#[test]
fn mirrors_and_panes_are_left_to_the_host() {
    let Some(device) = device("mirrors_and_panes_are_left_to_the_host") else {
        return;
    };
    for name in ["arena", "glass-door"] {
        let loaded = example(name).unwrap();
        let pose = loaded.sensor.as_ref().unwrap().world_from_sensor;
        let lit = Lit {
            lighting: lit(&loaded, &pose),
            loaded: &loaded,
        };
        let camera = coarse("global-shutter", 160);
        let all = compare(device, &lit, &camera, &settings(4), |_| pose).unwrap();
        assert_agrees(name, &all);
        assert!(all.on_host > 0, "{name}: {all:?}");
        assert!(all.on_host < all.pixels / 2, "{name}: {all:?}");
    }
}

/// Objects in motion, where all rays of a frame have one time.
#[test]
fn moving_objects_are_rendered_at_one_time() {
    let Some(device) = device("moving_objects_are_rendered_at_one_time") else {
        return;
    };
    let loaded = street();
    let lit = Lit {
        lighting: lit(&loaded, &over_street(0.0)(0.0)),
        loaded: &loaded,
    };
    let mut camera = coarse("ideal", 160);
    camera.shutter.line_time = 0.0;
    let all = compare(device, &lit, &camera, &settings(1), over_street(1.0)).unwrap();
    assert_agrees("moving", &all);
    // Several samples have several times, unless the exposure takes no time
    let refused = compare(device, &lit, &camera, &settings(2), over_street(1.0)).unwrap_err();
    assert_eq!(refused, NotDirectFrame::MovingObjects.into());
    camera.shutter.line_time = 1e-5;
    let refused = compare(device, &lit, &camera, &settings(1), over_street(1.0)).unwrap_err();
    assert_eq!(refused, NotDirectFrame::MovingObjects.into());
}

/// The reason of each frame that the device does not render.
#[test]
fn what_the_device_does_not_render_is_named() {
    let Some(device) = device("what_the_device_does_not_render_is_named") else {
        return;
    };
    let loaded = resting_street();
    let camera = Camera::simple(8, 6, 1.0);
    let mut lighting = lit(&loaded, &over_street(0.0)(0.0));
    let refused = |lighting: &Lighting, settings: &FrameSettings| {
        let textures = Textures::default();
        let world = CameraWorld::new(&loaded.scene, lighting, &textures, &camera).unwrap();
        let caster = GpuCaster::new(device, loaded.scene.caster()).unwrap();
        let own = GpuCamera::new(device, &caster, &world, &camera).unwrap();
        own.expose(settings, over_street(0.0)).err()
    };
    assert_eq!(refused(&lighting, &settings(1)), None);
    let paths = FrameSettings {
        light: LightTransport::paths(),
        ..settings(1)
    };
    assert_eq!(
        refused(&lighting, &paths),
        Some(NotDirectFrame::Paths.into())
    );
    lighting.lights = vec![lighting.lights[0].clone(); 17];
    assert_eq!(
        refused(&lighting, &settings(1)),
        Some(GpuFrameError::Lamps(17))
    );
    assert!(matches!(camera.shutter.exposure, Exposure::Auto { .. }));
}
