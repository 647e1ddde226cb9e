//! Camera files, lights and textures of scenes: content and errors.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use etendue_config::camera::{parse, preset, presets};
use etendue_config::material::library;
use etendue_config::robot;
use etendue_config::scene;
use etendue_config::toml_file::Document;
use etendue_io::image::{ExrChannel, ExrData, Pixels, exr, png, read_picture};
use etendue_io::ros2::{FrameRecorder, RigRecorder, camera_info};
use etendue_physics::camera::Lens;
use etendue_physics::light::{BLUE, GREEN, RED};
use etendue_scene::lighting::{Environment, Light};
use etendue_sensors::camera::{CameraWorld, ClassMap, FrameSettings};
use etendue_sensors::rig::{Data, RigRun, replay};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use std::ops::ControlFlow;

fn text(name: &str) -> &'static str {
    presets()
        .iter()
        .find(|preset| preset.name == name)
        .unwrap()
        .text
}

/// The text at the error, the message, and the remedy.
fn refused(name: &str, from: &str, to: &str) -> (String, String, String) {
    assert!(text(name).contains(from), "{from}");
    let document = Document::new("mine.toml", text(name).replacen(from, to, 1));
    let error = parse(&document).expect_err(to);
    let spot = error.text()[error.span()].to_owned();
    (spot, error.to_string(), error.remedy())
}

#[test]
fn cameras_that_cannot_be_are_refused_with_the_place() {
    let (spot, _, remedy) = refused("ideal", "f_number", "f_numbr");
    assert_eq!(
        (spot.as_str(), remedy.as_str()),
        ("f_numbr", "did you mean \"f_number\"?")
    );
    let (spot, message, _) = refused(
        "ideal",
        "horizontal_fov_deg = 70",
        "horizontal_fov_deg = 180",
    );
    assert_eq!(spot, "180");
    assert!(
        message.contains("field of view of 180 degrees"),
        "{message}"
    );
    let (spot, message, remedy) = refused("raspberry-pi-v2", "[0.02, -0.06,", "[-0.9, -0.06,");
    assert!(
        spot == "lens" && message.contains("cannot be inverted at pixel"),
        "{message}"
    );
    assert!(
        message.contains("1640 x 1232") && remedy.contains("image_circle_px"),
        "{remedy}"
    );
    let (spot, message, _) = refused(
        "raspberry-pi-v2",
        "[0.02, -0.06, 0.0, 0.0]",
        "[0.02, 0.0, 0.0]",
    );
    assert_eq!(spot, "[0.02, 0.0, 0.0]");
    assert!(message.contains("3 distortion parameters"), "{message}");
    let (_, message, _) = refused("ideal", "frame_rate_hz = 30", "frame_rate_hz = 0");
    assert!(message.contains("frame_rate_hz is 0 Hz"), "{message}");
    let (spot, message, remedy) = refused("global-shutter", "bits = 10", "bits = 20");
    assert_eq!(spot, "20");
    assert!(message.contains("bits is 20"), "{message}");
    assert!(remedy.contains("from 1 to 16"), "{remedy}");
    let (spot, _, remedy) = refused("fisheye", "lens.kannala_brandt", "lens.kannala_brant");
    assert_eq!(
        (spot.as_str(), remedy.as_str()),
        ("kannala_brant", "did you mean \"kannala_brandt\"?")
    );
}

#[test]
fn presets_have_the_values_of_their_data_sheets() {
    let pi = preset("raspberry-pi-v2").unwrap();
    let fov = 2.0 * (0.5 * 1640.0 / pi.intrinsics.focal[0]).atan().to_degrees();
    assert!((fov - 62.2).abs() < 0.1, "{fov}");
    let fisheye = preset("fisheye").unwrap();
    assert!(matches!(fisheye.intrinsics.lens, Lens::KannalaBrandt(_)));
    // The image circle is 163 degrees wide.
    let edge = nalgebra::Point2::new(fisheye.intrinsics.centre[0] + 385.9, 399.5);
    let direction = fisheye.intrinsics.unproject(&edge).unwrap();
    let half = direction.z.acos().to_degrees();
    assert!((half - 81.5).abs() < 0.5, "{half}");
}

#[test]
fn ready_materials_reach_into_the_visible() {
    for material in library() {
        for wavelength in [BLUE, GREEN, RED] {
            let found = material.material.at(wavelength);
            assert!(found.is_ok(), "{}: {found:?}", material.name);
            found.unwrap().validate().unwrap();
        }
    }
}

fn scene_with(lights: &str) -> String {
    format!(
        "version = 1\n[[objects]]\nname = \"ball\"\nshape.sphere = {{ radius_m = 0.3 }}\n\
         position_m = [2, 0, 0]\nmaterial = \"brick\"\nclass = \"toy\"\n{lights}\n"
    )
}

fn refused_lights(lights: &str) -> (String, String) {
    let document = Document::new("scene.toml", scene_with(lights));
    let error = scene::parse(&document).expect_err(lights);
    let place = error.document().unwrap();
    (place.text()[place.span()].to_owned(), error.to_string())
}

#[test]
fn lights_are_read_and_invalid_ones_refused() {
    let lights = "[lights]\ndaylight = { sun_azimuth_deg = 90, sun_elevation_deg = 30 }\n\
                  points = [{ position_m = [0, 0, 1], flux_lm = 800, temperature_k = 2700 }]\n\
                  spots = [{ position_m = [0, 0, 1], target_m = [1, 0, 0], half_angle_deg = 20, flux_lm = 500 }]\n\
                  areas = [{ position_m = [0, 0, 2], rotation_deg = { roll = 180 }, size_m = [1, 1], flux_lm = 3000 }]";
    let loaded = scene::parse(&Document::new("scene.toml", scene_with(lights))).unwrap();
    let [
        Light::Sun(sun),
        Light::Point(_),
        Light::Spot(_),
        Light::Area(area),
    ] = &loaded.lighting.lights[..]
    else {
        panic!("{:?}", loaded.lighting.lights);
    };
    assert!((sun.to_sun.z - 0.5).abs() < 1e-9 && sun.to_sun.y > 0.8);
    assert!(area.normal().z < -0.999);
    assert!(matches!(loaded.lighting.environment, Environment::Sky(_)));
    assert_eq!(loaded.classes.of_objects(), [Some("toy".to_owned())]);
    let (spot, _) = refused_lights("[lights]\ndaylite = {}");
    assert_eq!(spot, "daylite");
    let (_, message) =
        refused_lights("[lights]\ndaylight = { sun_azimuth_deg = 0, sun_elevation_deg = -5 }");
    assert!(message.contains("elevation -5 degrees"), "{message}");
    let (spot, _) = refused_lights("[[lights.points]]\nposition_m = [0, 0, 1]\nflux_lm = -3.5");
    assert_eq!(spot, "-3.5");
    let (_, message) = refused_lights(
        "[lights]\novercast = { illuminance_lx = 1e4 }\n\
         daylight = { sun_azimuth_deg = 0, sun_elevation_deg = 5 }",
    );
    assert!(message.contains("two environments"), "{message}");
    let (_, message) = refused_lights("[lights]\nenvironment = { file = \"none.hdr\" }");
    assert!(message.contains("none.hdr does not exist"), "{message}");
}

#[test]
fn a_picture_colours_an_object() {
    let folder = tempfile::tempdir().unwrap();
    let picture = png(1, 1, Pixels::Colour8(&[255, 0, 0])).unwrap();
    std::fs::write(folder.path().join("red.png"), picture).unwrap();
    let path = folder.path().join("scene.toml");
    let lights = "texture = { file = \"red.png\", size_m = [1, 1] }\n[lights]\novercast = { illuminance_lx = 1e4 }";
    std::fs::write(&path, scene_with(lights)).unwrap();
    let loaded = scene::load(&path).unwrap();
    assert!(loaded.files.iter().any(|file| file.ends_with("red.png")));
    let mut camera = preset("ideal").unwrap();
    camera.width = 9;
    camera.height = 9;
    camera.intrinsics.centre = [4.0, 4.0];
    camera.intrinsics.focal = [40.0; 2];
    let camera_world =
        CameraWorld::new(&loaded.scene, &loaded.lighting, &loaded.textures, &camera).unwrap();
    let frame = camera_world.expose(&camera, &FrameSettings::default(), |_| {
        Isometry3::identity()
    });
    let middle = &frame.radiance[3 * 40..3 * 41];
    assert!(
        middle[0] > 0.0 && middle[1] == 0.0 && middle[2] == 0.0,
        "{middle:?}"
    );
    std::fs::write(&path, scene_with("texture = { file = \"red.png\" }")).unwrap();
    let error = scene::load(&path).unwrap_err();
    assert!(error.remedy().contains("size_m"), "{}", error.remedy());
    assert!(
        read_picture(&path)
            .unwrap_err()
            .to_string()
            .contains("not an image")
    );
}

#[test]
fn texture_coordinates_of_obj_files_are_kept() {
    let obj =
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n";
    let mesh = etendue_io::mesh::parse_mesh("a.obj".as_ref(), obj.as_bytes()).unwrap();
    let corners = mesh.texture_corners.unwrap();
    assert_eq!(corners.len(), 2);
    for (triangle, corners) in mesh.mesh.triangles.iter().zip(corners.iter()) {
        for (vertex, corner) in triangle.iter().zip(corners) {
            let place = mesh.mesh.vertices[*vertex as usize];
            assert_eq!(
                [f64::from(corner[0]), f64::from(corner[1])],
                [place.x, 1.0 - place.y]
            );
        }
    }
}

/// A glTF file of a square of 1 m with texture coordinates and the image `image`, y up. `extra`
/// follows the data of its buffer.
fn textured_gltf(image: &str, extra: &[u8]) -> String {
    let mut buffer = Vec::new();
    let floats =
        |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|v| v.to_le_bytes()).collect() };
    for [x, y] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0_f32]] {
        buffer.extend(floats(&[x, y, 0.0, x, 1.0 - y]));
    }
    buffer.extend([0_u8, 1, 2, 0, 2, 3, 0, 0]);
    buffer.extend(extra);
    let length = buffer.len();
    let rest = extra.len().max(1);
    let data = BASE64_STANDARD.encode(&buffer);
    let start = if extra.is_empty() { 0 } else { 88 };
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"TEXCOORD_0":2}},"indices":1,"material":0}}]}}],
        "materials":[{{"name":"poster","pbrMetallicRoughness":{{"metallicFactor":0,"baseColorTexture":{{"index":0}}}}}}],
        "textures":[{{"source":0}}],"images":[{image}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
        {{"bufferView":1,"componentType":5121,"count":6,"type":"SCALAR"}},
        {{"bufferView":0,"byteOffset":12,"componentType":5126,"count":4,"type":"VEC2"}}],
        "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":80,"byteStride":20}},
        {{"buffer":0,"byteOffset":80,"byteLength":6}},
        {{"buffer":0,"byteOffset":{start},"byteLength":{rest}}}],
        "buffers":[{{"byteLength":{length},"uri":"data:application/octet-stream;base64,{data}"}}]}}"#
    )
}

/// Light from the four quarters of the square of [`textured_gltf`], row by row, normalised by the
/// maximum.
fn quarters(loaded: &scene::LoadedScene) -> Vec<[f64; 3]> {
    let mut camera = preset("ideal").unwrap();
    camera.width = 2;
    camera.height = 2;
    camera.intrinsics.centre = [0.5; 2];
    camera.intrinsics.focal = [4.0; 2];
    let camera_world =
        CameraWorld::new(&loaded.scene, &loaded.lighting, &loaded.textures, &camera).unwrap();
    let settings = FrameSettings {
        samples: 1,
        ..FrameSettings::default()
    };
    let turn = UnitQuaternion::from_euler_angles(0.0, 0.0, std::f64::consts::FRAC_PI_2);
    let pose = Isometry3::from_parts(Translation3::new(0.5, -2.0, 0.5), turn);
    let frame = camera_world.expose(&camera, &settings, |_| pose);
    let most = frame.radiance_range()[1];
    let (pixels, _) = frame.radiance.as_chunks::<3>();
    pixels
        .iter()
        .map(|pixel| pixel.map(|value| (f64::from(value) / most * 100.0).round() / 100.0))
        .collect()
}

/// The image has a red, a green, a blue and a black texel. The wall shows them at their texture
/// coordinates for every storage of the image. A material of the scene file hides it, and a missing
/// image is skipped with a warning.
#[test]
fn pictures_of_gltf_files_are_seen() {
    let texels = [255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0];
    let picture = png(2, 2, Pixels::Colour8(&texels)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("poster picture.png", &picture);
    let data = BASE64_STANDARD.encode(&picture);
    let load = |gltf: &str, rest: &str| {
        write("poster.gltf", gltf.as_bytes());
        let lights = "[lights]\npoints = [{ position_m = [0.5, -9, 0.5], flux_lm = 1e4, temperature_k = 5000 }]";
        let object = "version = 1\n[[objects]]\nname = \"poster\"\nshape.mesh = { file = \"poster.gltf\" }\n";
        write("scene.toml", format!("{object}{rest}{lights}\n").as_bytes());
        scene::load(&folder.path().join("scene.toml")).unwrap()
    };
    let image = [
        format!(r#"{{"uri":"data:image/png;base64,{data}"}}"#),
        r#"{"bufferView":2,"mimeType":"image/png"}"#.to_owned(),
        r#"{"uri":"poster%20picture.png"}"#.to_owned(),
    ];
    for (number, image) in image.iter().enumerate() {
        let extra = if number == 1 { &picture[..] } else { &[] };
        let loaded = load(&textured_gltf(image, extra), "");
        assert_eq!(loaded.warnings, [""; 0], "{image}");
        let seen = quarters(&loaded);
        let dark = |light: f64| light < 0.02;
        let [red, green, blue, black] = seen[..] else {
            panic!("four pixels")
        };
        assert!(red[0] > 0.3 && dark(red[1]) && dark(red[2]), "{seen:?}");
        assert!(
            green[1] > 0.3 && dark(green[0]) && dark(green[2]),
            "{seen:?}"
        );
        assert!(blue[2] > 0.3 && dark(blue[0]) && dark(blue[1]), "{seen:?}");
        assert!(black.into_iter().all(dark), "{seen:?}");
    }
    let hidden = load(&textured_gltf(&image[0], &[]), "material = \"brick\"\n");
    assert!(hidden.textures.is_empty());
    let turned = load(&textured_gltf(&image[0], &[]), "flip_normals = true\n");
    assert!(
        quarters(&turned)[0][0] > 0.3,
        "the corners turn with the triangles"
    );
    let lost = load(&textured_gltf(r#"{"uri":"lost.png"}"#, &[]), "");
    assert!(lost.textures.is_empty());
    assert!(lost.warnings[0].contains("skipped") && lost.warnings[0].contains("lost.png"));
}

/// Also writes files for `scripts/read_frames.py`, which opens them with independent readers, if
/// `ETENDUE_FRAMES` names a folder.
#[test]
fn frames_become_recordings_and_pictures() {
    let loaded = scene::arena();
    let camera = {
        let mut camera = preset("raspberry-pi-v2").unwrap();
        camera.width = 82;
        camera.height = 62;
        camera.intrinsics.centre = [40.5, 30.5];
        camera.intrinsics.focal = [68.0; 2];
        camera
    };
    let camera_world =
        CameraWorld::new(&loaded.scene, &loaded.lighting, &loaded.textures, &camera).unwrap();
    let mut recorder = FrameRecorder::in_memory().unwrap();
    let mut frames = vec![];
    for index in 0..2 {
        let start = f64::from(index) * camera.frame_time();
        let settings = FrameSettings {
            index,
            start,
            samples: 1,
            ..FrameSettings::default()
        };
        let frame = camera_world.expose(&camera, &settings, |_| Isometry3::identity());
        let truth = camera_world.truth(&camera, &settings, 0.0, 0.1, |_| Isometry3::identity());
        recorder
            .record(&frame, &truth, &camera, &Isometry3::identity())
            .unwrap();
        frames.push(frame);
    }
    let recording = recorder.into_bytes().unwrap();
    let stream = mcap_messages(&recording);
    assert_eq!(stream, 12);
    assert!(camera_info(&camera, 0.0, "camera").len() > 300);
    let truth = camera_world.truth(&camera, &FrameSettings::default(), 0.0, 0.1, |_| {
        Isometry3::identity()
    });
    let classes = ClassMap::new(&loaded.scene, &loaded.classes.of_objects());
    assert!(classes.names.contains(&"mirror".to_owned()));
    let red: Vec<f32> = frames[0].radiance.iter().step_by(3).copied().collect();
    let numbers: Vec<u32> = (0..).take(truth.object.len()).collect();
    let channels = [
        ExrChannel {
            name: "R",
            data: ExrData::Float(red.clone().into()),
        },
        ExrChannel {
            name: "Z",
            data: ExrData::Float(truth.depth.clone().into()),
        },
        ExrChannel {
            name: "number",
            data: ExrData::Uint(numbers.into()),
        },
    ];
    let file = exr(82, 62, &channels);
    if cfg!(feature = "exr") {
        let file = file.as_ref().unwrap();
        assert!(file.starts_with(&[0x76, 0x2f, 0x31, 0x01]));
    } else {
        let error = file.as_ref().unwrap_err().to_string();
        assert!(error.contains("--features exr"), "{error}");
    }
    assert!(exr(81, 62, &channels).is_err());
    if let Some(folder) = std::env::var_os("ETENDUE_FRAMES") {
        let folder = std::path::PathBuf::from(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.mcap"), recording).unwrap();
        if let Ok(file) = file {
            std::fs::write(folder.join("a.exr"), file).unwrap();
        }
        let bytes: Vec<u8> = red
            .iter()
            .chain(&truth.depth)
            .flat_map(|v| v.to_le_bytes())
            .collect();
        std::fs::write(folder.join("a.f32"), bytes).unwrap();
        let picture = png(82, 62, Pixels::Colour8(&frames[0].picture)).unwrap();
        std::fs::write(folder.join("a.png"), picture).unwrap();
    }
}

/// Number of messages of an MCAP file, from the lengths of the records of its chunks.
fn mcap_messages(bytes: &[u8]) -> usize {
    // A record has one byte of opcode and eight bytes of length; messages have opcode 5, chunks 6.
    let mut at = 8;
    let mut count = 0;
    while at + 9 <= bytes.len() - 8 {
        let length = u64::from_le_bytes(bytes[at + 1..at + 9].try_into().unwrap());
        let length = usize::try_from(length).unwrap();
        match bytes[at] {
            5 => count += 1,
            6 => {
                // Skip the header of the chunk: times, size, checksum, compression, length of
                // records.
                let name = u32::from_le_bytes(bytes[at + 37..at + 41].try_into().unwrap()) as usize;
                at += 9 + 8 + 8 + 8 + 4 + 4 + name + 8;
                continue;
            }
            _ => {}
        }
        at += 9 + length;
    }
    count
}

/// A small camera on a moving robot: 10 Hz for one second give ten frames with exact stamps,
/// identical on any number of threads, and recorded.
#[test]
fn a_camera_on_a_robot_takes_its_frames_on_its_own_clock() {
    let folder = tempfile::tempdir().unwrap();
    let camera = text("ideal")
        .replace("resolution_px = [640, 480]", "resolution_px = [16, 12]")
        .replace("frame_rate_hz = 30", "frame_rate_hz = 10");
    std::fs::write(folder.path().join("small.toml"), camera).unwrap();
    let robot = "version = 1\nscene = \"arena\"\nmotion.circle = { radius_m = 0.2, speed_mps = 0.1 }\n\
        [[sensors]]\nname = \"eye\"\nlag_ms = 20\ndevice.camera = { file = \"small.toml\", samples = 2, depth = true }\n";
    let path = folder.path().join("robot.toml");
    std::fs::write(&path, robot).unwrap();
    let robot = robot::load(&path).unwrap();
    let record = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let end = 1_000_000_000;
            let mut run =
                RigRun::new(&robot.rig, &robot.scene.scene, &robot.environment, 1, end).unwrap();
            let mut recorder = RigRecorder::in_memory(&robot.rig, &robot.topics).unwrap();
            let mut captures = vec![];
            replay(&mut run, &robot.motion, |event| {
                recorder.record(&event).unwrap();
                let Data::Image(frame) = &event.data else {
                    panic!("only frames")
                };
                let depth = frame.depth.as_ref().expect("it is enabled");
                assert!(depth.len() == 16 * 12 && depth.iter().all(|depth| *depth > 0.1));
                captures.push(event.capture);
                ControlFlow::Continue(())
            });
            (recorder.into_bytes().unwrap(), captures)
        })
    };
    let (bytes, captures) = record(1);
    assert_eq!(captures.len(), 10);
    for (number, capture) in (0..).zip(&captures) {
        assert_eq!(capture.start, 100_000_000 * number);
        // The maximum exposure, and the lag.
        assert_eq!(capture.arrival - capture.start, 33_000_000 + 20_000_000);
    }
    assert_eq!(bytes, record(2).0);
    let depths = bytes.windows(6).filter(|bytes| bytes == b"32FC1\0");
    assert_eq!(depths.count(), 10, "one image of depth a frame");
    let wrong = std::fs::read_to_string(&path)
        .unwrap()
        .replace("samples", "sampels");
    let document = Document::new(path.to_str().unwrap(), wrong);
    let error = robot::parse(&document).unwrap_err();
    assert!(error.to_string().contains("sampels"), "{error}");
}
