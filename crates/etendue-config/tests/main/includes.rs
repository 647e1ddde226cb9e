//! Scene files that include others.

use etendue_config::ConfigError;
use etendue_config::scene::{LoadedScene, load};
use std::path::Path;

const ROOM: &str = r#"
version = 1
include = ["furniture.toml", "paints.toml"]
[[objects]]
name = "room"
shape.box = { size_m = [4.0, 3.0, 2.5] }
flip_normals = true
material = "blue"
"#;

const FURNITURE: &str = r#"
version = 1
include = ["paints.toml"]
[[objects]]
name = "shelf"
shape.box = { size_m = [1.0, 0.3, 1.0] }
material = "blue"
"#;

const PAINTS: &str = "
version = 1
[materials.blue]
diffuse = { reflectance = 0.3 }
[materials.red]
diffuse = { reflectance = 0.2 }
";

/// Loads room.toml from a folder with files.
fn loaded(folder: &Path, files: &[(&str, &str)]) -> Result<LoadedScene, ConfigError> {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    load(&folder.join("room.toml"))
}

/// Message and remedy of a scene with an error, with names of files in place of paths.
fn error_of(files: &[(&str, &str)]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let error = loaded(folder.path(), files).unwrap_err();
    let path = format!("{}/", folder.path().display());
    (error.to_string().replace(&path, ""), error.remedy())
}

#[test]
fn objects_and_materials_of_included_files_are_added_once() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("room.toml", ROOM),
        ("furniture.toml", FURNITURE),
        ("paints.toml", PAINTS),
    ];
    let scene = loaded(folder.path(), &files).unwrap();
    let names: Vec<&str> = scene
        .scene
        .objects()
        .iter()
        .map(|object| &object.name[..])
        .collect();
    assert_eq!(names, ["room", "shelf"]);
    // One material, which the files share; an unused one of an included file is no mistake
    assert_eq!(scene.scene.materials().len(), 1);
    assert_eq!(scene.warnings, Vec::<String>::new());
    let places = scene.places.of_object.iter();
    let places: Vec<_> = places
        .map(|place| place.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(places, ["room.toml:5", "furniture.toml:5"]);
    // The digest covers every file
    let other = PAINTS.replace("0.2", "0.1");
    let changed = loaded(folder.path(), &[("paints.toml", &other)]).unwrap();
    assert_ne!(changed.sha256, scene.sha256);
}

#[test]
fn errors_are_placed_in_the_included_file() {
    let unknown = FURNITURE.replace("\"blue\"", "\"bleu\"");
    let (message, remedy) = error_of(&[
        ("room.toml", ROOM),
        ("furniture.toml", &unknown),
        ("paints.toml", PAINTS),
    ]);
    assert_eq!(message, "furniture.toml:7:12: unknown material \"bleu\"");
    assert_eq!(remedy, "did you mean \"blue\"?");

    let twice = FURNITURE.replace("shelf", "room");
    let (message, _) = error_of(&[
        ("room.toml", ROOM),
        ("furniture.toml", &twice),
        ("paints.toml", PAINTS),
    ]);
    assert_eq!(
        message,
        "furniture.toml:5:8: two objects are named \"room\""
    );

    let material = format!("{FURNITURE}[materials.red]\nbase = \"wood\"\n");
    let (message, _) = error_of(&[
        ("room.toml", ROOM),
        ("furniture.toml", &material),
        ("paints.toml", PAINTS),
    ]);
    assert_eq!(message, "paints.toml:5:12: two materials are named \"red\"");
}

#[test]
fn a_missing_file_and_a_cycle_are_errors_at_the_include() {
    let (message, remedy) = error_of(&[("room.toml", ROOM), ("furnitures.toml", FURNITURE)]);
    assert!(message.starts_with("room.toml:3:12: the file"), "{message}");
    assert!(remedy.ends_with("furnitures.toml?"), "{remedy}");

    let cycle = FURNITURE.replace("paints.toml", "room.toml");
    let (message, _) = error_of(&[
        ("room.toml", ROOM),
        ("furniture.toml", &cycle),
        ("paints.toml", PAINTS),
    ]);
    assert_eq!(
        message,
        "furniture.toml:3:12: the file includes itself: room.toml, furniture.toml, room.toml"
    );
}

#[test]
fn light_of_an_included_file_has_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let lit =
        format!("{FURNITURE}[lights]\npoints = [{{ position_m = [0, 0, 1], flux_lm = 800 }}]\n");
    let files = [
        ("room.toml", ROOM),
        ("furniture.toml", &lit),
        ("paints.toml", PAINTS),
    ];
    let scene = loaded(folder.path(), &files).unwrap();
    let [warning] = &scene.warnings[..] else {
        panic!("{:?}", scene.warnings)
    };
    assert!(warning.ends_with("furniture.toml: light and air of an included file have no effect"));
    assert!(scene.lighting.is_dark());
}

#[test]
fn a_scene_without_objects_is_an_error() {
    let (message, remedy) = error_of(&[("room.toml", PAINTS)]);
    assert_eq!(message, "room.toml:1:1: the scene has no objects");
    assert_eq!(remedy, "add [[objects]]");
}
