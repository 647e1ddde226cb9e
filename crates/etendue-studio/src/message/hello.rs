//! What does not change during a session: presets and schemas.

use etendue::config::camera;
use etendue::config::material::{MaterialFile, library};
use etendue::config::presets::{CAMERAS, PROFILES, Preset, SCENES, SENSORS};
use etendue::config::scene::SceneFile;
use etendue::config::sensor::{self, SensorFile};
use schemars::schema_for;
use serde::Serialize;
use serde_json::Value as Json;
use std::sync::LazyLock;

/// Version of the messages.
pub const PROTOCOL: u32 = 1;

/// First message to a page.
#[derive(Serialize)]
pub struct Hello {
    /// Version of the messages.
    protocol: u32,
    /// Number of the page.
    client: u64,
    #[serde(flatten)]
    known: &'static Known,
}

/// What all pages get, read once.
#[derive(Serialize)]
struct Known {
    /// Built-in scenes.
    scenes: Vec<&'static str>,
    /// Built-in sensors, with their names.
    sensors: Vec<[String; 2]>,
    /// Built-in noise profiles.
    profiles: Vec<&'static str>,
    /// Built-in cameras, with their numbers of columns and rows.
    cameras: Vec<CameraEntry>,
    /// Built-in materials.
    library: Vec<LibraryEntry>,
    /// JSON Schema of scene files: units, bounds and descriptions of their numbers.
    scene_schema: Json,
    /// JSON Schema of sensor files.
    sensor_schema: Json,
}

/// A built-in camera.
#[derive(Serialize)]
pub struct CameraEntry {
    name: &'static str,
    width: u32,
    height: u32,
}

fn camera_entry(preset: &Preset) -> Option<CameraEntry> {
    let camera = camera::preset(preset.name).ok()?;
    Some(CameraEntry {
        name: preset.name,
        width: camera.width,
        height: camera.height,
    })
}

/// A built-in material.
#[derive(Serialize)]
pub struct LibraryEntry {
    name: &'static str,
    description: String,
    file: MaterialFile,
}

impl Hello {
    /// The message to a page.
    pub fn new(client: u64) -> Self {
        Self {
            protocol: PROTOCOL,
            client,
            known: &KNOWN,
        }
    }

    /// Reads what all pages get, so that the first one does not wait for it.
    pub fn prepare() {
        LazyLock::force(&KNOWN);
    }
}

static KNOWN: LazyLock<Known> = LazyLock::new(Known::read);

impl Known {
    fn read() -> Self {
        let entry = |material: &etendue::config::material::LibraryMaterial| LibraryEntry {
            name: material.name,
            description: material.description.clone(),
            file: material.file.clone(),
        };
        let sensors = SENSORS.all().iter().map(|preset| {
            let title = sensor::preset(preset.name).map(|sensor| sensor.name);
            [preset.name.to_owned(), title.unwrap_or_default()]
        });
        Self {
            scenes: SCENES.all().iter().map(|preset| preset.name).collect(),
            sensors: sensors.collect(),
            profiles: PROFILES.all().iter().map(|preset| preset.name).collect(),
            cameras: CAMERAS.all().iter().filter_map(camera_entry).collect(),
            library: library().iter().map(entry).collect(),
            scene_schema: schema_for!(SceneFile).into(),
            sensor_schema: schema_for!(SensorFile).into(),
        }
    }
}
