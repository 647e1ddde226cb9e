//! What a robot file holds.

use super::{DeviceTable, DynamicsTable, FilterTable, MotionTable, PlaceTable};
use crate::scene::{Placement, RotationDeg};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// The version of the format that is read.
pub(super) const VERSION: u32 = 1;

/// A robot file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RobotFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Name of the robot; the file's name where it is left out.
    #[serde(default)]
    pub name: Option<String>,
    /// What it is, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Its surroundings: a scene file, from the folder of this file, or a scene that comes
    /// with the program.
    #[schemars(with = "String")]
    pub scene: Spanned<String>,
    /// How long a run is, where the command line does not say.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub duration_s: Option<Spanned<f64>>,
    /// Name of the base, whose motion is known: "base", or the root of the URDF file.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub base: Option<Spanned<String>>,
    /// A URDF file with frames, from the folder of this file.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub urdf: Option<Spanned<String>>,
    /// An MJCF file with frames and joints, from the folder of this file, instead of `urdf`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub mjcf: Option<Spanned<String>>,
    /// Where on the Earth the world is, and when.
    #[serde(default)]
    pub place: Option<PlaceTable>,
    /// The motion of the robot; it is at rest at the world's origin where this is left out.
    #[serde(default)]
    pub motion: Option<MotionTable>,
    /// How commands move it, instead of `motion`.
    #[serde(default)]
    #[schemars(with = "Option<DynamicsTable>")]
    pub dynamics: Option<Spanned<DynamicsTable>>,
    /// More frames.
    #[serde(default)]
    pub frames: Vec<FrameTable>,
    /// The sensors.
    #[serde(default)]
    pub sensors: Vec<MountedSensorTable>,
}

/// A frame on the robot.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameTable {
    /// Its name, which no other frame has.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// The frame that it sits on; the base where it is left out.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub parent: Option<Spanned<String>>,
    /// Where it sits.
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
}

/// A sensor on the robot.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MountedSensorTable {
    /// Its name, which no other output has.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// The frame that it sits on; the base where it is left out.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub frame: Option<Spanned<String>>,
    /// Where on that frame.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// How it is turned on that frame.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// How it is turned, as a unit quaternion, real part first; instead of `rotation_deg`.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 4]>")]
    pub rotation_wxyz: Option<Spanned<[f64; 4]>>,
    /// Captures a second. A scanning lidar sets its own.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub rate_hz: Option<Spanned<f64>>,
    /// When the first capture begins.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub offset_ms: Option<Spanned<f64>>,
    /// How long data are gathered; an instant where it is left out. A scanning lidar sets its own.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub window_ms: Option<Spanned<f64>>,
    /// From the end of a capture until its data are there.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub lag_ms: Option<Spanned<f64>>,
    /// Topic of its data in recordings: "/" and its name where it is left out.
    #[serde(default)]
    pub topic: Option<String>,
    /// What it is.
    pub device: DeviceTable,
    /// What its data pass through, in this order.
    #[serde(default)]
    #[schemars(with = "Vec<FilterTable>")]
    pub filters: Vec<Spanned<FilterTable>>,
}

impl FrameTable {
    pub(super) fn placement(&self) -> Placement<'_> {
        Placement {
            position: self.position_m.as_ref(),
            angles: self.rotation_deg.as_ref(),
            quaternion: self.rotation_wxyz.as_ref(),
        }
    }
}

impl MountedSensorTable {
    pub(super) fn placement(&self) -> Placement<'_> {
        Placement {
            position: self.position_m.as_ref(),
            angles: self.rotation_deg.as_ref(),
            quaternion: self.rotation_wxyz.as_ref(),
        }
    }
}
