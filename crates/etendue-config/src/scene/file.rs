//! What a scene file holds.

use super::{
    AmbientTable, AtmosphereTable, DeformationTable, LightsTable, MotionTable, Placement,
    RotationDeg, Shape, TextureTable,
};
use crate::material::MaterialFile;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The version of the format that is read.
pub(super) const VERSION: u32 = 1;

/// A scene file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Name of the scene; the file's name where it is left out.
    #[serde(default)]
    pub name: Option<String>,
    /// What it shows, in a sentence.
    #[serde(default)]
    pub description: String,
    /// The sensor and its pose, where the command line does not give them.
    #[serde(default)]
    pub sensor: Option<SensorTable>,
    /// Light that disturbs lidars; left out: that of `lights.daylight`, if it has one.
    #[serde(default)]
    #[schemars(with = "Option<AmbientTable>")]
    pub ambient: Option<Spanned<AmbientTable>>,
    /// What is in the air between surfaces and scanning lidars; nothing where it is left out.
    #[serde(default)]
    pub atmosphere: AtmosphereTable,
    /// What lights it, for cameras.
    #[serde(default)]
    pub lights: Option<LightsTable>,
    /// Own materials, by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, MaterialFile>")]
    pub materials: BTreeMap<Spanned<String>, MaterialFile>,
    /// Objects of the scene.
    #[schemars(with = "Vec<ObjectTable>")]
    pub objects: Spanned<Vec<ObjectTable>>,
}

/// The sensor that a scene proposes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorTable {
    /// Name of a sensor that comes with the program.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub preset: Option<Spanned<String>>,
    /// A sensor file, from the folder of the scene file; instead of `preset`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
    /// Its position.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// How it is turned.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// How it is turned, as a unit quaternion, real part first; instead of `rotation_deg`.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 4]>")]
    pub rotation_wxyz: Option<Spanned<[f64; 4]>>,
    /// Its motion; static where this is left out.
    #[serde(default)]
    pub motion: Option<MotionTable>,
}

/// An object of a scene.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectTable {
    /// Its name, which no other object has.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Its shape.
    pub shape: Shape,
    /// Its material: an own one of this file, or one of the library. A mesh whose file describes
    /// materials may leave it out.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub material: Option<Spanned<String>>,
    /// Position of its origin.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// How it is turned.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// How it is turned, as a unit quaternion, real part first; instead of `rotation_deg`.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 4]>")]
    pub rotation_wxyz: Option<Spanned<[f64; 4]>>,
    /// What it is, for labels: "car", "building"; points of objects without one have the class -1, pixels
    /// that of their material's name.
    #[serde(default)]
    pub class: Option<String>,
    /// Its motion; static where this is left out.
    #[serde(default)]
    pub motion: Option<MotionTable>,
    /// Deformation of its mesh file; rigid where this is left out.
    #[serde(default)]
    #[schemars(with = "Option<DeformationTable>")]
    pub deformation: Option<Spanned<DeformationTable>>,
    /// Turns the surface inside out: a box becomes a room.
    #[serde(default)]
    pub flip_normals: bool,
    /// A picture on it.
    #[serde(default)]
    pub texture: Option<TextureTable>,
    /// Rays whose own mask shares no bit with this do not see it; all see it where it is left out.
    #[serde(default)]
    pub mask: Option<u32>,
}

impl ObjectTable {
    pub(super) fn placement(&self) -> Placement<'_> {
        Placement {
            position: self.position_m.as_ref(),
            angles: self.rotation_deg.as_ref(),
            quaternion: self.rotation_wxyz.as_ref(),
        }
    }
}

impl SensorTable {
    pub(super) fn placement(&self) -> Placement<'_> {
        Placement {
            position: self.position_m.as_ref(),
            angles: self.rotation_deg.as_ref(),
            quaternion: self.rotation_wxyz.as_ref(),
        }
    }
}
