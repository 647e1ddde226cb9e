//! Schema of scene files.

use super::{
    AmbientTable, AtmosphereTable, DeformationTable, LightsTable, MotionTable, Placement,
    RepeatTable, RotationDeg, Shape, TextureTable,
};
use crate::material::MaterialFile;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// Supported version of the format.
pub(super) const VERSION: u32 = 1;

/// A scene file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Name of the scene. Default: the name of the file.
    #[serde(default)]
    pub name: Option<String>,
    /// Description of the scene in one sentence.
    #[serde(default)]
    pub description: String,
    /// Other scene files, relative to the folder of this one: their objects and materials are added. Their sensors,
    /// lights and air are not used.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub include: Vec<Spanned<String>>,
    /// Default sensor and pose, used without options on the command line.
    #[serde(default)]
    pub sensor: Option<SensorTable>,
    /// Ambient light for lidars. Default: the light of `lights.daylight`, if present.
    #[serde(default)]
    #[schemars(with = "Option<AmbientTable>")]
    pub ambient: Option<Spanned<AmbientTable>>,
    /// Air between surfaces and scanning lidars. Default: vacuum.
    #[serde(default)]
    pub atmosphere: AtmosphereTable,
    /// Lights, for cameras.
    #[serde(default)]
    pub lights: Option<LightsTable>,
    /// Materials of this scene, by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, MaterialFile>")]
    pub materials: BTreeMap<Spanned<String>, MaterialFile>,
    /// Objects of the scene; at least one, here or in an included file.
    #[serde(default)]
    pub objects: Vec<ObjectTable>,
}

/// The default sensor of a scene.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorTable {
    /// Name of a sensor preset.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub preset: Option<Spanned<String>>,
    /// A sensor file, relative to the folder of the scene file; alternative to `preset`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
    /// Position.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Rotation.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// Rotation as a unit quaternion, real part first; alternative to `rotation_deg`.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 4]>")]
    pub rotation_wxyz: Option<Spanned<[f64; 4]>>,
    /// Motion. Default: static.
    #[serde(default)]
    pub motion: Option<MotionTable>,
}

/// An object of a scene.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectTable {
    /// Unique name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Shape.
    pub shape: Shape,
    /// Name of a material of this file or of the library. Optional for a mesh file that describes
    /// materials.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub material: Option<Spanned<String>>,
    /// Position of the origin.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Rotation.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// Rotation as a unit quaternion, real part first; alternative to `rotation_deg`.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 4]>")]
    pub rotation_wxyz: Option<Spanned<[f64; 4]>>,
    /// Class for labels, for example "car" or "building". Without it, points have the class -1 and
    /// pixels the class of their material's name.
    #[serde(default)]
    pub class: Option<String>,
    /// Motion. Default: static.
    #[serde(default)]
    pub motion: Option<MotionTable>,
    /// Deformation of the mesh file. Default: rigid.
    #[serde(default)]
    #[schemars(with = "Option<DeformationTable>")]
    pub deformation: Option<Spanned<DeformationTable>>,
    /// Whether to flip the normals: a box becomes a room.
    #[serde(default)]
    pub flip_normals: bool,
    /// Texture.
    #[serde(default)]
    pub texture: Option<TextureTable>,
    /// Copies of the object in a grid. Default: one object.
    #[serde(default)]
    #[schemars(with = "Option<RepeatTable>")]
    pub repeat: Option<Spanned<RepeatTable>>,
    /// Visibility mask: rays whose mask shares no bit with it do not hit the object. Default: all
    /// bits.
    #[serde(default)]
    #[schemars(range(max = 4_294_967_295_u32))]
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
    /// Span of the first key that places or names the sensor.
    pub(super) fn span(&self) -> Option<Range<usize>> {
        let position = self.position_m.as_ref().map(Spanned::span);
        let name = self.preset.as_ref().or(self.file.as_ref());
        position.or(name.map(Spanned::span))
    }

    pub(super) fn placement(&self) -> Placement<'_> {
        Placement {
            position: self.position_m.as_ref(),
            angles: self.rotation_deg.as_ref(),
            quaternion: self.rotation_wxyz.as_ref(),
        }
    }
}
