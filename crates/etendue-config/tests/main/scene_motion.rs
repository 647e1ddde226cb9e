//! Motions and air in scene files.

use etendue_config::ConfigError;
use etendue_config::scene::{LoadedScene, parse};
use etendue_config::toml_file::Document;
use etendue_io::trajectory::{PoseFile, parse_trajectory};
use etendue_physics::atmosphere::Weather;
use etendue_scene::{Interpolation, ObjectId};
use nalgebra::{Isometry3, Vector3};
use std::path::Path;

fn scene(extra: &str) -> Result<LoadedScene, ConfigError> {
    let text = format!(
        "version = 1\n[[objects]]\nname = \"car\"\nmaterial = \"white-paper\"\n\
         shape.box = {{ size_m = [4, 2, 1] }}\nposition_m = [10, 0, 0]\n\
         rotation_deg = {{ yaw = 90 }}\n{extra}\n"
    );
    parse(&Document::new("drive.toml", text))
}

fn place(extra: &str, time: f64) -> Isometry3<f64> {
    let loaded = scene(extra).unwrap_or_else(|error| panic!("{error}"));
    loaded.scene.world_from_object(ObjectId(0), time)
}

/// All three descriptions give the same motion: 2 m/s forward, along y of the world.
#[test]
fn an_object_drives_from_where_it_is_placed() {
    let frames = "motion.key_frames = { poses = [{ time_s = 0 }, \
                  { time_s = 4, position_m = [8, 0, 0] }] }";
    let twist = "motion.twist = { velocity_m_s = [2, 0, 0] }";
    for motion in [frames, twist] {
        let pose = place(motion, 1.5);
        let off = pose.translation.vector - Vector3::new(10.0, 3.0, 0.0);
        assert!(off.norm() < 1e-12, "{motion}: {off}");
    }
    // Half a rotation to the left in one second, about the z axis of the car.
    let turning = "motion.twist = { angular_velocity_deg_s = [0, 0, 180] }";
    assert!((place(turning, 0.5).rotation.angle() - std::f64::consts::PI).abs() < 1e-9);
    assert_eq!(place("", 3.0), place(twist, 0.0));
}

#[test]
fn an_object_drives_along_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 1\n2 4 0 0 0 0 0 1\n";
    std::fs::write(folder.path().join("way.tum"), text).unwrap();
    let scene = "version = 1\n[[objects]]\nname = \"car\"\nmaterial = \"white-paper\"\n\
                 shape.box = { size_m = [4, 2, 1] }\n\
                 motion.file = { path = \"way.tum\", interpolation = \"cubic\" }\n";
    let loaded = parse(&Document::new(folder.path().join("s.toml"), scene)).unwrap();
    let place = loaded.scene.world_from_object(ObjectId(0), 1.5);
    assert!((place.translation.x - 2.25).abs() < 1e-12, "{place}");
    assert_eq!(loaded.files.len(), 2);
}

#[test]
fn tum_and_kitti_are_distinguished() {
    let kitti = "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 3 0 1 0 0 0 0 1 0\n";
    let how = PoseFile {
        interval: 0.5,
        interpolation: Interpolation::Cubic,
    };
    let trajectory = parse_trajectory("a.txt".as_ref(), kitti, how).unwrap();
    assert_eq!(trajectory.span(), [0.0, 0.5]);
    assert_eq!(trajectory.interpolation(), Interpolation::Cubic);
}

#[test]
fn motions_that_cannot_be_are_pointed_at() {
    for (motion, place, expected) in [
        (
            "motion.twist = { speed = 3 }",
            "8:18",
            "unknown key \"speed\"",
        ),
        (
            "motion.twist = { velocity_m_s = [1, nan, 0] }",
            "8:37",
            "velocity_m_s is nan m/s",
        ),
        ("motion.spin = { }", "8:", "unknown choice \"spin\""),
        ("motion.key_frames = { poses = [] }", "8:31", "no pose"),
        (
            "motion.key_frames = { poses = [{ time_s = 1 }, { time_s = 0.5 }] }",
            "8:48",
            "not later than the one before",
        ),
        (
            "motion.key_frames = { poses = [{ time_s = nan }] }",
            "8:43",
            "time_s is nan s",
        ),
        (
            "motion.key_frames = { poses = [{ time_s = 1, rotation_wxyz = [1, 1, 0, 0] }] }",
            "8:",
            "not 1",
        ),
        (
            "motion.file = { path = \"x.txt\", interval_s = 0 }",
            "8:46",
            "interval is 0 s",
        ),
        (
            "motion.file = { path = \"nowhere.txt\" }",
            "",
            "nowhere.txt",
        ),
    ] {
        let error = scene(motion).expect_err(motion);
        let text = error.to_string();
        assert!(text.contains(expected), "{motion}: {text}");
        assert!(
            text.contains(&format!("drive.toml:{place}")) || place.is_empty(),
            "{text}"
        );
        assert!(!error.remedy().is_empty());
    }
}

#[test]
fn the_air_is_that_of_the_file() {
    let loaded =
        scene("[atmosphere]\nvisibility_m = 20000\nrain_mm_h = 3.6\ndrops_from_mm = 1.5").unwrap();
    let rain = Weather::Rain { rate: 1e-6 };
    assert_eq!(
        loaded.air.atmosphere.weather[0],
        Weather::Haze { visibility: 2e4 }
    );
    let Weather::Rain { rate } = loaded.air.atmosphere.weather[1] else {
        panic!("{rain:?}");
    };
    assert!((rate - 1e-6).abs() < 1e-18);
    assert_eq!(loaded.air.drops_from, Some(1.5e-3));
    assert!(scene("").unwrap().air.atmosphere.weather.is_empty());
    let drawn_from = |air: &str| {
        let loaded = scene(&format!("[atmosphere]\n{air}")).unwrap();
        loaded.air.drops_from
    };
    assert_eq!(drawn_from("snow_mm_h = 1"), Some(0.5e-3));
    assert_eq!(drawn_from("fog_visibility_m = 100"), None);
    let dry = scene("[atmosphere]\nrain_mm_h = 0\nsnow_mm_h = 0.0\ndust_g_m3 = 0").unwrap();
    assert!(dry.air.atmosphere.weather.is_empty());
    for (air, expected) in [
        ("fog_visibility_m = 0", "0 is not above zero"),
        ("rain_mm_h = inf", "rain_mm_h is inf mm/h"),
        ("rain_mm_h = -1", "-1 is not zero or more"),
        ("rane_mm_h = 3", "unknown key \"rane_mm_h\""),
    ] {
        let error = scene(&format!("[atmosphere]\n{air}")).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.to_string().starts_with("drive.toml:9:"), "{error}");
    }
}

#[test]
fn the_sensor_of_a_scene_drives_too() {
    let loaded =
        scene("[sensor]\nposition_m = [0, 0, 2]\nmotion.twist = { velocity_m_s = [3, 0, 0] }")
            .unwrap();
    let placement = loaded.sensor.unwrap();
    let motion = placement.motion.unwrap();
    assert!((motion.at(2.0).translation.vector - Vector3::new(6.0, 0.0, 2.0)).norm() < 1e-12);
    assert_eq!(placement.world_from_sensor, motion.at(0.0));
}

/// A square in numbered files: 1 m wide at first and 3 m one second later, in centimetres.
fn folder_of_key_frames() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, half) in [("wave_2.obj", 50), ("wave_10.obj", 150)] {
        let text = format!(
            "v -{half} -{half} 0\nv {half} -{half} 0\nv {half} {half} 0\nv -{half} {half} 0\n\
             f 1 2 3\nf 1 3 4\n"
        );
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    std::fs::write(
        folder.path().join("other.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    )
    .unwrap();
    folder
}

fn deforming(folder: &Path, shape: &str, deformation: &str) -> Result<LoadedScene, ConfigError> {
    let text = format!(
        "version = 1\n[[objects]]\nname = \"sheet\"\nmaterial = \"white-paper\"\n\
         shape.{shape}\n{deformation}\n"
    );
    parse(&Document::new(folder.join("s.toml"), text))
}

const SHEET: &str = "mesh = { file = \"wave_2.obj\", scale = 0.01 }";

/// The half width increases from 0.5 to 1.5 m in one second; files are sorted by number.
#[test]
fn the_vertices_of_a_mesh_file_move_through_key_frames() {
    let folder = folder_of_key_frames();
    let files = "deformation.files = { pattern = \"wave_*.obj\", interval_s = 1, start_s = 2 }";
    let frames = "deformation.key_frames = { frames = [{ time_s = 2, file = \"wave_2.obj\" }, \
                  { time_s = 3, file = \"wave_10.obj\" }] }";
    for deformation in [files, frames] {
        let loaded = deforming(folder.path(), SHEET, deformation).unwrap_or_else(|e| panic!("{e}"));
        assert!(loaded.scene.deforms());
        for (time, half) in [(0.0, 0.5), (2.25, 0.75), (3.0, 1.5), (9.0, 1.5)] {
            let [_, high] = loaded.scene.at(time).bounds();
            assert!((high.x - half).abs() < 1e-12, "{time}: {high}");
        }
        // The scene file, the mesh and its two key frames, one of which is the mesh.
        assert_eq!(loaded.files.len(), 3);
    }
}

#[test]
fn key_frames_of_vertices_that_cannot_be_are_pointed_at() {
    let folder = folder_of_key_frames();
    for (shape, deformation, expected) in [
        (
            "box = { size_m = [1, 1, 1] }",
            "deformation.files = { pattern = \"wave_*.obj\", interval_s = 1 }",
            "s.toml:6:1: deformation requires a mesh file",
        ),
        (
            SHEET,
            "deformation.files = { pattern = \"wave.obj\", interval_s = 1 }",
            "\"wave.obj\" has no *",
        ),
        (
            SHEET,
            "deformation.files = { pattern = \"walk_*.obj\", interval_s = 1 }",
            "no file matches",
        ),
        (
            SHEET,
            "deformation.files = { pattern = \"wave_*.obj\", interval_s = 0 }",
            "the interval is 0 s",
        ),
        (
            SHEET,
            "deformation.files = { pattern = \"wave_*.obj\", interval = 1 }",
            "unknown key \"interval\"",
        ),
        (
            SHEET,
            "deformation.key_frames = { frames = [{ time_s = 2, file = \"other.obj\" }] }",
            "the triangles differ from those of wave_2.obj",
        ),
        (
            SHEET,
            "deformation.key_frames = { frames = [{ time_s = 2, file = \"wave_2.obj\" }, \
             { time_s = 1, file = \"wave_10.obj\" }] }",
            "key frame 1 is at 1 s, it must be later than 2 s",
        ),
        (
            SHEET,
            "deformation.key_frames = { frames = [] }",
            "no key frame",
        ),
        (
            SHEET,
            "deformation.key_frames = { frames = [{ time_s = 1, file = \"nowhere.obj\" }] }",
            "nowhere.obj does not exist",
        ),
    ] {
        let error = deforming(folder.path(), shape, deformation).expect_err(deformation);
        assert!(
            error.to_string().contains(expected),
            "{deformation}: {error}"
        );
        assert!(!error.remedy().is_empty());
    }
}

/// The street of the README: a car, a pedestrian and the vertices of a flag move, and the
/// trajectory is long enough for the drive.
#[test]
fn the_streets_traffic_moves_and_its_flag_waves() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = std::fs::read_to_string(folder.join("street.toml")).unwrap();
    let loaded = parse(&Document::new(folder.join("street.toml"), text)).unwrap();
    assert_eq!(loaded.warnings, [""; 0]);
    let scene = &loaded.scene;
    let moving = |id: &u32| scene.motion(ObjectId(*id)).is_some();
    let moving: Vec<&str> = (0..)
        .zip(scene.objects())
        .filter(|(id, _)| moving(id))
        .map(|(_, object)| object.name.as_str())
        .collect();
    assert_eq!(moving, ["car", "pedestrian"]);
    let flag = scene.objects().iter().find(|object| object.name == "flag");
    let flag = flag.unwrap().mesh;
    let corner = 12;
    let at = |time| scene.deformation(flag).unwrap().vertex_at(corner, time);
    assert!((at(0.0) - at(0.5)).norm() > 0.5);
    // It repeats after one second.
    assert!((at(0.25) - at(7.25)).norm() < 1e-12);
}
