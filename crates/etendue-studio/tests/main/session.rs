//! A session without its server.

use etendue_studio::Opening;
use etendue_studio::session::{Document, Edit, Session};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;

fn edits(json: Json) -> Vec<Edit> {
    serde_json::from_value(json).unwrap()
}

fn open(scene: &Path) -> Session {
    let opening = Opening {
        scene: Some(scene.display().to_string()),
        seed: 3,
        ..Opening::default()
    };
    Session::open(&opening, scene.parent().unwrap().to_owned()).unwrap()
}

const SCENE: &str = include_str!("../../../etendue-config/scenes/glass-door.toml");

#[test]
fn an_edited_session_has_the_sweep_of_a_new_session_of_the_saved_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("door.toml");
    std::fs::write(&path, SCENE).unwrap();
    let mut session = open(&path);
    // Changes of a material, a pose, a shape, the list of objects, weather and sensor
    let changes = [
        json!([{ "set": { "document": "scene", "path": ["materials", "white-paint"], "value": { "base": "white-paint", "diffuse": { "reflectance": 0.3 } } } }]),
        json!([{ "set": { "document": "scene", "path": ["objects", 3, "rotation_deg"], "value": { "pitch": -90, "yaw": 5 } } }]),
        json!([{ "set": { "document": "scene", "path": ["objects", 5, "shape", "cylinder", "radius_m"], "value": 0.2 } }]),
        json!([{ "set": { "document": "scene", "path": ["objects", 6], "value": { "name": "ball", "shape": { "sphere": { "radius_m": 0.2 } }, "material": "concrete", "position_m": [-0.5, 0.1, 0.6] } } }]),
        json!([{ "set": { "document": "scene", "path": ["objects", 1], "value": null } }]),
        json!([{ "set": { "document": "scene", "path": ["atmosphere", "fog_visibility_m"], "value": 60 } }]),
    ];
    for (gesture, change) in (1..).zip(changes) {
        let before = session.sweep().clone();
        session.edit(&edits(change.clone()), gesture).unwrap();
        session.simulate().unwrap();
        assert_ne!(session.sweep().sweep, before.sweep, "{change}");
        session.save(Document::Scene).unwrap();
        let fresh = open(&path);
        assert!(session.sweep().sweep == fresh.sweep().sweep, "{change}");
    }
    assert_eq!(session.steps(), [6, 0]);
}

#[test]
fn a_saved_file_differs_in_the_changed_line_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("door.toml");
    std::fs::write(&path, SCENE).unwrap();
    let mut session = open(&path);
    let change = json!([{ "set": { "document": "scene", "path": ["objects", 5, "position_m"], "value": [1.25, 0.5, 1.25] } }]);
    session.edit(&edits(change), 1).unwrap();
    assert_eq!(session.export().unsaved, std::slice::from_ref(&path));
    session.save(Document::Scene).unwrap();
    let saved = std::fs::read_to_string(&path).unwrap();
    let changed: Vec<(&str, &str)> = SCENE
        .lines()
        .zip(saved.lines())
        .filter(|(a, b)| a != b)
        .collect();
    assert_eq!(
        changed,
        [(
            "position_m = [1.5, 0.5, 1.25]",
            "position_m = [1.25, 0.5, 1.25]"
        )]
    );
    assert_eq!(SCENE.lines().count(), saved.lines().count());
    assert!(session.export().unsaved.is_empty());
    // Undoing after the save is a change of the saved file
    session.undo().unwrap();
    assert_eq!(session.export().unsaved, [path]);
}

#[test]
fn meshes_that_do_not_change_are_not_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("door.toml");
    std::fs::write(&path, SCENE).unwrap();
    let mut session = open(&path);
    let before = session.loaded().scene.scene.parts().meshes.clone();
    let change = json!([
        { "set": { "document": "scene", "path": ["objects", 5, "shape", "cylinder", "radius_m"], "value": 0.3 } },
        { "set": { "document": "scene", "path": ["objects", 0, "position_m"], "value": [0.1, 0, 1.25] } },
    ]);
    session.edit(&edits(change), 1).unwrap();
    let after = &session.loaded().scene.scene.parts().meshes;
    // Equal meshes share one
    let is_known = |mesh: &Arc<_>| before.iter().any(|known| Arc::ptr_eq(known, mesh));
    let same: Vec<bool> = after.iter().map(is_known).collect();
    assert_eq!(same, [true, true, true, true, true, false]);
}
