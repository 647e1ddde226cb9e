//! Scene files: content and errors.

use crate::recordings::recording;
use etendue_config::ConfigError;
use etendue_config::scene::{
    LoadedScene, SceneCache, SensorSource, examples, parse, parse_reusing, schema,
};
use etendue_config::toml_file::{Document, TomlProblem};
use etendue_physics::surface::Lobe;
use etendue_scene::{CastScratch, Ray};
use nalgebra::{Point3, Vector3};
use std::path::Path;

fn scene(text: &str) -> Result<LoadedScene, ConfigError> {
    parse(&Document::new("scene.toml", text))
}

/// A scene with one object that has the given lines.
fn with(lines: &str) -> String {
    format!("version = 1\n[[objects]]\nname = \"thing\"\n{lines}\n")
}

/// The text at the error, the message and the remedy.
fn refusal(text: &str) -> (String, String, String) {
    let error = scene(text).expect_err("the scene is bad");
    let document = error.document().expect("the error has a position");
    let spot = document.text()[document.span()].to_owned();
    (spot, error.to_string(), error.remedy())
}

fn distance(scene: &LoadedScene, from: [f64; 3], to: [f64; 3]) -> Option<f64> {
    let mut scratch = CastScratch::new();
    let ray = Ray::new(Point3::from(from), Vector3::from(to).normalize());
    scene
        .scene
        .closest_hit(&ray, &mut scratch)
        .map(|hit| hit.distance)
}

#[test]
fn every_embedded_example_loads_without_a_warning_and_is_in_examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    assert!(examples().len() >= 4);
    for example in examples() {
        let loaded = parse(&example.document()).unwrap();
        assert!(
            loaded.warnings.is_empty(),
            "{}: {:?}",
            example.name,
            loaded.warnings
        );
        let copy = std::fs::read_to_string(folder.join(format!("{}.toml", example.name))).unwrap();
        assert_eq!(copy, example.text, "examples/{}.toml", example.name);
    }
}

#[test]
fn the_arena_has_the_papers_walls_a_mirror_and_a_pane() {
    let arena = etendue_config::scene::arena();
    let [least, most] = arena.scene.bounds();
    let size = most - least;
    assert!((size - Vector3::new(1.85, 0.92, 0.28)).norm() < 1e-12);
    let placement = arena.sensor.as_ref().unwrap();
    assert_eq!(
        placement.sensor,
        Some(SensorSource::Preset("hokuyo-urg-04lx".into()))
    );
    assert_eq!(distance(&arena, [0.0; 3], [1.0, 0.0, 0.0]), Some(0.4));
    assert!((distance(&arena, [0.0; 3], [0.0, 1.0, 0.0]).unwrap() - 0.46).abs() < 1e-12);
    let wall = &arena.scene.materials()[0];
    assert_eq!(wall.name, "wall");
    assert_eq!(wall.material.lobes, [Lobe::lambert(0.8.into())]);
    assert_eq!(arena.sha256.len(), 64);
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn every_example_on_recorded_meshes_has_its_sensor_in_free_space() {
    let meshes = recording("mesh_aws_worlds");
    let data = meshes.parent().unwrap().to_str().unwrap();
    for name in ["small-house", "hospital", "bookstore", "cornell-box"] {
        let path = format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("${ETENDUE_DATA}", data);
        let loaded = parse(&Document::new(path, text)).unwrap();
        let expected: &[&str] = match name {
            "hospital" => &["hospital: 967 duplicate triangles, first at triangle 5049"],
            _ => &[],
        };
        assert_eq!(loaded.warnings, expected, "{name}");
        let at = loaded
            .sensor
            .as_ref()
            .unwrap()
            .world_from_sensor
            .translation;
        let from = [at.x, at.y, at.z];
        let around = (0..360).filter_map(|degree| {
            let azimuth = f64::from(degree).to_radians();
            distance(&loaded, from, [azimuth.cos(), azimuth.sin(), 0.0])
        });
        let around: Vec<f64> = around.collect();
        let nearest = around.iter().copied().fold(f64::INFINITY, f64::min);
        let floor = distance(&loaded, from, [0.0, 0.0, -1.0]).unwrap();
        println!(
            "{name}: {} of 360 hit, nearest {nearest:.2} m, floor {floor:.2} m",
            around.len()
        );
        assert!(nearest > 0.3 && (0.3..=1.2).contains(&floor));
        assert!(around.len() > 150);
    }
}

#[test]
fn a_box_with_flipped_normals_is_a_room() {
    let lines =
        "shape.box = { size_m = [2, 2, 2] }\nmaterial = \"white-paint\"\nflip_normals = true";
    let room = scene(&with(lines)).unwrap();
    let mesh = room.scene.mesh(room.scene.objects()[0].mesh);
    let [a, b, c] = mesh.corners(0);
    assert!((b - a).cross(&(c - a)).dot(&a.coords) < 0.0);
}

#[test]
fn yaw_turns_left_and_pitch_turns_down() {
    let lines = "shape.plane = { size_m = [1, 1] }\nmaterial = \"wood\"\nposition_m = [0, 2, 0]\n\
                 rotation_deg = { yaw = 90, pitch = 90 }";
    let turned = scene(&with(lines)).unwrap();
    let pose = turned.scene.objects()[0].world_from_object;
    // The normal: the pitch rotates z to x, the yaw rotates x to y.
    assert!((pose * Vector3::z() - Vector3::y()).norm() < 1e-12);
    let quaternion = lines.replace(
        "rotation_deg = { yaw = 90, pitch = 90 }",
        "rotation_wxyz = [0.5, -0.5, 0.5, 0.5]",
    );
    let same = scene(&with(&quaternion)).unwrap().scene.objects()[0].world_from_object;
    assert!((same.rotation.angle_to(&pose.rotation)).abs() < 1e-7);
}

#[test]
fn an_unknown_key_gets_the_nearest_one() {
    let (spot, text, remedy) = refusal(&with(
        "shape.box = { size = [1, 1, 1] }\nmaterial = \"wood\"",
    ));
    assert_eq!(
        (spot.as_str(), remedy.as_str()),
        ("size", "did you mean \"size_m\"?")
    );
    assert_eq!(text, "scene.toml:4:15: unknown key \"size\"");
    let (spot, _, remedy) = refusal(&with(
        "shape.box = { size_m = [1, 1, 1] }\nmateral = \"wood\"",
    ));
    assert_eq!(
        (spot.as_str(), remedy.as_str()),
        ("materal", "did you mean \"material\"?")
    );
}

#[test]
fn an_unknown_shape_gets_the_nearest_one() {
    let (_, text, remedy) = refusal(&with("shape.spher = { radius_m = 1 }\nmaterial = \"wood\""));
    assert!(text.contains("spher"), "{text}");
    assert_eq!(remedy, "did you mean \"sphere\"?");
}

#[test]
fn an_undefined_material_gets_the_nearest_own_or_ready_one() {
    let own = "\n[materials.\"shiny steel\"]\nmirror = { reflectance = 0.6 }\n";
    let object = with("shape.sphere = { radius_m = 1 }\nmaterial = \"shiny steal\"");
    let (spot, _, remedy) = refusal(&(object.clone() + own));
    assert_eq!(
        (spot.as_str(), remedy.as_str()),
        ("\"shiny steal\"", "did you mean \"shiny steel\"?")
    );
    let (_, _, remedy) = refusal(&object.replace("shiny steal", "window-glas"));
    assert_eq!(remedy, "did you mean \"window-glass\"?");
}

#[test]
fn two_objects_of_one_name_are_refused() {
    let one = "[[objects]]\nname = \"a\"\nshape.sphere = { radius_m = 1 }\nmaterial = \"wood\"\n";
    let (spot, text, _) = refusal(&format!("version = 1\n{one}{one}"));
    assert_eq!(spot, "\"a\"");
    assert_eq!(text, "scene.toml:7:8: two objects are named \"a\"");
}

#[test]
fn values_that_make_no_sense_are_pointed_at() {
    for (lines, spot, expected) in [
        (
            "shape.box = { size_m = [1, 0, 1] }\nmaterial = \"wood\"",
            "[1, 0, 1]",
            "above zero",
        ),
        (
            "shape.sphere = { radius_m = nan }\nmaterial = \"wood\"",
            "nan",
            "radius",
        ),
        (
            "shape.sphere = { radius_m = \"1\" }\nmaterial = \"wood\"",
            "\"1\"",
            "radius_m is the text \"1\", where a number is expected",
        ),
        (
            "shape.sphere = { radius_m = 1 }\nmaterial = \"wood\"\nposition_m = [0, inf, 0]",
            "inf",
            "position_m is inf m",
        ),
        (
            "shape.sphere = { radius_m = 1 }\nmaterial = \"wood\"\nrotation_wxyz = [1, 1, 0, 0]",
            "[1, 1, 0, 0]",
            "norm",
        ),
        (
            "shape.sphere = { radius_m = 1 }",
            "\"thing\"",
            "no material",
        ),
        (
            "shape.mesh = { file = \"none.obj\" }\nmaterial = \"wood\"",
            "\"none.obj\"",
            "does not exist",
        ),
        (
            "shape.mesh = { file = \"${NO_SUCH_PLACE}/a.obj\" }\nmaterial = \"wood\"",
            "\"${NO_SUCH_PLACE}/a.obj\"",
            "NO_SUCH_PLACE is not set",
        ),
    ] {
        let (found, text, remedy) = refusal(&with(lines));
        assert_eq!(found, spot, "{text}");
        assert!(text.contains(expected) && !remedy.is_empty(), "{text}");
    }
}

#[test]
fn ambient_light_has_the_direction_of_the_file() {
    let text = format!(
        "{}[ambient]\nsun = {{ azimuth_deg = 90, elevation_deg = 30, irradiance_w_per_m2_nm = 1.2 }}\n\
         sky_w_per_m2_nm = 0.1\ntemperature_k = 300\n",
        with("shape.sphere = { radius_m = 1 }\nmaterial = \"brick\""),
    );
    let light = scene(&text).unwrap().ambient;
    let sun = light.sun.unwrap();
    let towards = Vector3::new(0.0, 0.75_f64.sqrt(), 0.5);
    assert!((sun.towards - towards).norm() < 1e-15);
    assert_eq!(sun.irradiance, Some(1.2 / 1e-9));
    assert_eq!(light.sky_irradiance, Some(0.1 / 1e-9));
    assert_eq!(light.temperature, Some(300.0));
    let (spot, message, _) = refusal(&text.replace("elevation_deg = 30", "elevation_deg = 100"));
    assert!(spot.contains("[ambient]"), "{spot}");
    assert!(message.contains("sun.elevation_deg is 100"), "{message}");
    let day = format!(
        "{}[lights]\ndaylight = {{ sun_azimuth_deg = 90, sun_elevation_deg = 30 }}\n",
        with("shape.sphere = { radius_m = 1 }\nmaterial = \"brick\""),
    );
    let by_day = scene(&day).unwrap().ambient;
    assert!((by_day.sun.unwrap().towards - towards).norm() < 1e-15);
    let (_, message, remedy) = refusal(&text.replace("sky_w", "sku_w"));
    assert!(message.contains("sku_w_per_m2_nm"), "{message}");
    assert!(remedy.contains("sky_w_per_m2_nm"), "{remedy}");
}

#[test]
fn a_material_that_creates_light_is_refused_by_name() {
    let text = with("shape.sphere = { radius_m = 1 }\nmaterial = \"too white\"")
        + "[materials.\"too white\"]\ndiffuse = { reflectance = 1.2 }\n";
    let (spot, text, _) = refusal(&text);
    assert!(
        spot == "1.2" && text.contains("material \"too white\""),
        "{spot} {text}"
    );
}

#[test]
fn another_version_and_no_object_are_refused() {
    let (spot, text, _) = refusal("version = 2\nobjects = []\n");
    assert_eq!(spot, "2");
    assert!(text.contains("version 2 is not known"));
    let (_, text, remedy) = refusal("version = 1\nobjects = []\n");
    assert!(text.contains("no object") && remedy.contains("[[objects]]"));
}

#[test]
fn an_unknown_preset_and_two_sensors_are_refused() {
    let body = with("shape.sphere = { radius_m = 1 }\nmaterial = \"wood\"");
    let (_, _, remedy) = refusal(&format!("{body}[sensor]\npreset = \"hokuyo-urg04lx\"\n"));
    assert_eq!(remedy, "did you mean \"hokuyo-urg-04lx\"?");
    let twice = format!("{body}[sensor]\npreset = \"hokuyo-urg-04lx\"\nfile = \"a.toml\"\n");
    assert!(refusal(&twice).1.contains("defined twice"));
}

#[test]
fn parts_of_a_mesh_take_the_material_of_the_longest_name_that_fits() {
    let folder = tempfile::tempdir().unwrap();
    let obj = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl wall_1\nf 1 2 3\nusemtl wall_2\nf 1 3 2\nusemtl pane\nf 2 3 1\n";
    std::fs::write(folder.path().join("a.obj"), obj).unwrap();
    std::fs::write(folder.path().join("a.mtl"), "newmtl pane\nKd 0.5 0.5 0.5\n").unwrap();
    let lines = "[objects.shape.mesh]\nfile = \"a.obj\"\nscale = 0.5\n\
                 materials = { \"wall*\" = \"wood\", \"wall_2\" = \"brick\", \"door*\" = \"brick\" }";
    let document = Document::new(folder.path().join("scene.toml"), with(lines));
    let loaded = parse(&document).unwrap();
    let mesh = loaded.scene.mesh(loaded.scene.objects()[0].mesh);
    let names: Vec<&str> = mesh
        .materials
        .iter()
        .map(|id| loaded.scene.materials()[id.0 as usize].name.as_str())
        .collect();
    assert_eq!(names, ["wood", "brick", "pane"]);
    assert_eq!(mesh.vertices[1].x, 0.5);
    assert_eq!(
        loaded.warnings,
        [
            "thing: no part of a.obj is named \"door*\"",
            "thing: 2 duplicate triangles, first at triangle 1"
        ]
    );
    assert_eq!(loaded.files.len(), 3);
}

#[test]
fn odd_triangles_of_a_mesh_file_are_counted_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    // A tetrahedron with inward normals, one duplicate triangle and one degenerate triangle.
    let faces = "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\nf 2 3 1\nf 1 1 2\n";
    std::fs::write(folder.path().join("a.obj"), format!("{corners}{faces}")).unwrap();
    let warnings = |more: &str| {
        let lines = format!("shape.mesh = {{ file = \"a.obj\" }}\nmaterial = \"wood\"\n{more}");
        let document = Document::new(folder.path().join("scene.toml"), with(&lines));
        parse(&document).unwrap().warnings
    };
    let odd = "thing: 1 degenerate triangle, first at triangle 5; \
               1 duplicate triangle, first at triangle 4";
    let inside_out = format!("{odd}; 1 closed part inside out, first at triangle 0");
    assert_eq!(warnings(""), [inside_out]);
    assert_eq!(warnings("flip_normals = true"), [odd]);
}

#[test]
fn an_edited_scene_with_a_cache_is_that_without_and_shares_equal_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    let faces = "usemtl low\nf 1 3 2\nf 1 2 4\nusemtl high\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(folder.path().join("a.obj"), format!("{corners}{faces}")).unwrap();
    let mut cache = SceneCache::default();
    let mut load = |keys: &str, part: &str, more: &str| {
        let lines = format!(
            "[objects.shape.mesh]\nfile = \"a.obj\"\n{keys}\n[objects.shape.mesh.materials]\nlow = \"{part}\"\n"
        );
        let text = with(&format!("material = \"wood\"\n{more}\n{lines}"));
        let document = Document::new(folder.path().join("scene.toml"), text);
        let reused = parse_reusing(&document, &mut cache).unwrap().scene;
        let alone = parse(&document).unwrap().scene;
        let [reused, alone] = [reused, alone].map(|scene| scene.parts().clone());
        assert_eq!(reused.meshes, alone.meshes, "{document:?}");
        assert_eq!(reused.materials, alone.materials);
        reused.meshes[0].clone()
    };
    let first = load("", "brick", "");
    // A change of a pose shares the mesh; changes of the mesh make others, until they are undone
    let moved = load("", "brick", "position_m = [1, 2, 3]");
    assert!(std::sync::Arc::ptr_eq(&first, &moved));
    for (keys, part, more) in [
        ("scale = 2.0", "brick", ""),
        ("up = \"y\"", "brick", ""),
        ("", "wood", ""),
        ("", "brick", "flip_normals = true"),
    ] {
        let other = load(keys, part, more);
        assert!(
            !std::sync::Arc::ptr_eq(&first, &other),
            "{keys} {part} {more}"
        );
        assert_eq!(*load("", "brick", ""), *first);
    }
}

#[test]
fn the_hash_changes_with_the_scene_and_with_its_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let document = Document::new(
        folder.path().join("scene.toml"),
        with("shape.mesh = { file = \"a.obj\" }\nmaterial = \"wood\""),
    );
    let hash = |obj: &str| {
        std::fs::write(folder.path().join("a.obj"), obj).unwrap();
        parse(&document).unwrap().sha256
    };
    let first = hash("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_ne!(first, hash("v 0 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 3\n"));
    assert_eq!(first, hash("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"));
}

#[test]
fn the_schema_names_every_shape_and_refuses_other_keys() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    assert_eq!(schema["additionalProperties"], false);
    let text = schema.to_string();
    for shape in [
        "box",
        "plane",
        "cylinder",
        "sphere",
        "cone",
        "checkerboard",
        "stripes",
        "mesh",
    ] {
        assert!(text.contains(&format!("\"{shape}\"")), "{shape}");
    }
}

#[test]
fn a_problem_has_a_kind() {
    let error = scene(&with(
        "shape.sphere = { radius_m = 1 }\nmaterial = \"none\"",
    ))
    .unwrap_err();
    let problem = error.document().unwrap().problem();
    assert!(matches!(problem, TomlProblem::UnknownName(unknown) if unknown.kind == "material"));
}
