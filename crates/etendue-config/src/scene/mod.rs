//! Scene files: objects, materials and the pose of the sensor, in TOML.
//!
//! ```toml
//! version = 1
//! name = "a room with a ball"
//! include = ["furniture.toml"]            # objects and materials of other scene files
//!
//! [sensor]
//! preset = "hokuyo-urg-04lx"
//! position_m = [-1.0, 0.0, 0.5]
//!
//! [materials.paint]                       # any number of own materials
//! base = "white-paint"
//!
//! [[objects]]
//! name = "room"
//! shape.box = { size_m = [4.0, 3.0, 2.5] }
//! flip_normals = true                     # seen from inside
//! material = "paint"                      # an own one, or one of the library
//!
//! [[objects]]
//! name = "ball"
//! shape.sphere = { radius_m = 0.3 }
//! position_m = [1.0, 0.5, 0.0]
//! material = "white-paper"
//!
//! [[objects]]
//! name = "shop"
//! shape.mesh = { file = "${ETENDUE_DATA}/shop.ply", materials = { "Window*" = "window-glass" } }
//! material = "wood"
//! class = "furniture"                     # labels of points and pictures
//! texture = { file = "planks.png", size_m = [1.0, 1.0] }
//!
//! [[objects]]
//! name = "car"                            # drives along an arc
//! shape.box = { size_m = [4.0, 1.8, 1.5] }
//! position_m = [8.0, -2.0, 0.75]
//! motion.twist = { velocity_m_s = [10, 0, 0], angular_velocity_deg_s = [0, 0, 15] }
//! material = "white-paint"
//!
//! [[objects]]
//! name = "walker"                         # its vertices move through numbered files
//! shape.mesh = { file = "walk_000.obj" }
//! deformation.files = { pattern = "walk_*.obj", interval_s = 0.04, repeat = true }
//! material = "wood"
//!
//! [atmosphere]
//! visibility_m = 20000
//! rain_mm_h = 10
//!
//! [lights]                                # cameras need light
//! daylight = { sun_azimuth_deg = 120, sun_elevation_deg = 40 }
//! points = [{ position_m = [0, 0, 1], flux_lm = 800, temperature_k = 2700 }]
//! ```
//!
//! [`load`] reads a file, [`parse`] a text, [`schema`] is the JSON Schema of the format and
//! [`examples`] are the embedded scenes. Unknown keys, undefined materials and invalid values are
//! errors with their position in the file.

mod ambient;
mod atmosphere;
mod builder;
mod cache;
mod default_light;
mod deformation;
mod examples;
mod file;
mod include;
mod lights;
mod materials;
mod mesh_object;
mod motion;
mod obstruction;
mod pose;
mod profile_sensors;
mod repeat;
mod shape;
mod texture;

pub use ambient::{AmbientTable, SunTable};
pub use atmosphere::AtmosphereTable;
pub use cache::SceneCache;
pub use default_light::light_if_dark;
pub use deformation::{DeformationTable, NumberedFilesTable, VertexFrameTable, VertexFramesTable};
pub use examples::{arena, example, examples};
pub use file::{ObjectTable, SceneFile, SensorTable};
pub use lights::{
    AreaTable, DaylightTable, EnvironmentTable, LightsTable, OvercastTable, PointTable, SpotTable,
    daylight,
};
pub use motion::{
    InterpolationName, KeyFrameTable, KeyFramesTable, MotionFileTable, MotionTable, TwistTable,
};
pub use obstruction::obstruction_warning;
pub(crate) use pose::pose_of_angles;
pub use pose::{Placement, RotationDeg};
pub use profile_sensors::other_sensors;
pub use repeat::RepeatTable;
pub use shape::{
    BoxShape, CheckerboardShape, ConeShape, CylinderShape, MeshShape, PlaneShape, Shape,
    SphereShape, StripesShape, UpAxis,
};
pub use texture::TextureTable;

use crate::ConfigError;
use crate::toml_file::Document;
use etendue_scene::lighting::Lighting;
use etendue_scene::{Scene, Textures, Trajectory};
use etendue_sensors::NoiseProfiles;
use etendue_sensors::lidar::Air;
use etendue_sensors::transport::AmbientLight;
use nalgebra::Isometry3;
use std::path::{Path, PathBuf};

/// A scene with the other content of its files.
#[derive(Debug)]
pub struct LoadedScene {
    /// Name of the scene.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// Noise profiles of the materials.
    pub profiles: NoiseProfiles,
    /// Ambient light.
    pub ambient: AmbientLight,
    /// Default sensor of the scene.
    pub sensor: Option<ScenePlacement>,
    /// Lights, for cameras; dark if the file has none.
    pub lighting: Lighting,
    /// Textures of the objects.
    pub textures: Textures,
    /// Classes of the objects.
    pub classes: Classes,
    /// Air; vacuum if the file has none.
    pub air: Air,
    /// SHA-256 of the scene file and the digests of its referenced files, in hexadecimal.
    pub sha256: String,
    /// All files that were read.
    pub files: Vec<PathBuf>,
    /// Where the files state the objects and the sensor.
    pub places: ScenePlaces,
    /// Irregularities that did not prevent loading.
    pub warnings: Vec<String>,
}

/// Places in scene files, as `FILE:LINE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenePlaces {
    /// The name of each object.
    pub of_object: Vec<String>,
    /// The position of the sensor, if the file has one.
    pub of_sensor: Option<String>,
}

/// Classes of the objects of a scene, for labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Names, by number, in the order of the file.
    pub names: Vec<String>,
    /// Class of each object; -1 for none.
    pub of_object: Vec<i32>,
}

impl Classes {
    /// Name of each object's class.
    pub fn of_objects(&self) -> Vec<Option<String>> {
        let name = |&number: &i32| usize::try_from(number).ok().map(|n| self.names[n].clone());
        self.of_object.iter().map(name).collect()
    }

    /// Adds the class of the next object.
    fn add(&mut self, class: Option<&String>) {
        let Some(name) = class else {
            self.of_object.push(-1);
            return;
        };
        let known = self.names.iter().position(|known| known == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name.clone());
            self.names.len() - 1
        });
        self.of_object
            .push(i32::try_from(number).unwrap_or(i32::MAX));
    }
}

/// The default sensor of a scene, with its pose.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenePlacement {
    /// The sensor, if the file defines one.
    pub sensor: Option<SensorSource>,
    /// Pose of the sensor, at time zero if it moves.
    pub world_from_sensor: Isometry3<f64>,
    /// Motion of the sensor, if the file defines one.
    pub motion: Option<Trajectory>,
}

/// Source of a sensor description.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SensorSource {
    /// A preset, by its name.
    Preset(String),
    /// A sensor file.
    File(PathBuf),
}

/// Reads a scene file and its referenced files.
///
/// # Errors
/// If a file cannot be read or the scene is invalid; the error contains the position.
pub fn load(path: &Path) -> Result<LoadedScene, ConfigError> {
    parse(&Document::read(path)?)
}

/// Parses a scene. Paths are relative to the folder of the document's path.
///
/// # Errors
/// As [`load`], except errors of reading the document.
///
/// ```
/// use etendue_config::scene::parse;
/// use etendue_config::toml_file::Document;
///
/// let text = r#"
/// version = 1
/// [[objects]]
/// name = "ball"
/// shape.sphere = { radius_m = 0.3 }
/// material = "white-papr"
/// "#;
/// let error = parse(&Document::new("ball.toml", text)).unwrap_err();
/// assert_eq!(error.to_string(), "ball.toml:6:12: unknown material \"white-papr\"");
/// assert_eq!(error.remedy(), "did you mean \"white-paper\"?");
///
/// let corrected = text.replace("papr", "paper");
/// let loaded = parse(&Document::new("ball.toml", corrected)).unwrap();
/// assert_eq!(loaded.scene.objects()[0].name, "ball");
/// ```
pub fn parse(document: &Document) -> Result<LoadedScene, ConfigError> {
    parse_reusing(document, &mut SceneCache::default())
}

/// [`parse`] with the mesh files and acceleration structures of earlier scenes, for repeated loads of an edited
/// document.
///
/// # Errors
/// As [`parse`].
pub fn parse_reusing(
    document: &Document,
    cache: &mut SceneCache,
) -> Result<LoadedScene, ConfigError> {
    builder::build(document, cache)
}

/// The JSON Schema of scene files, for completion and validation in editors.
///
/// ```
/// assert!(etendue_config::scene::schema().contains("\"size_m\""));
/// ```
pub fn schema() -> String {
    let schema = crate::toml_file::file_schema::<SceneFile>();
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON")
}
