//! Schema of robot files.

use super::{DeviceTable, DynamicsTable, FilterTable, MotionTable, PlaceTable};
use crate::scene::{Placement, RotationDeg};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Supported version of the format.
pub(super) const VERSION: u32 = 1;

/// A robot file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RobotFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Name of the robot. Default: the name of the file.
    #[serde(default)]
    pub name: Option<String>,
    /// Description in one sentence.
    #[serde(default)]
    pub description: String,
    /// Scene: a scene file, relative to the folder of this file, or an embedded scene.
    #[schemars(with = "String")]
    pub scene: Spanned<String>,
    /// Duration of a run, used without an option on the command line.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    #[schemars(range(min = 1e-09))]
    pub duration_s: Option<Spanned<f64>>,
    /// Name of the base frame. Default: "base", or the root of the URDF file.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub base: Option<Spanned<String>>,
    /// A URDF file with frames, relative to the folder of this file.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub urdf: Option<Spanned<String>>,
    /// An MJCF file with frames and joints, relative to the folder of this file; alternative to
    /// `urdf`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub mjcf: Option<Spanned<String>>,
    /// Geographic origin of the world, and time of the run.
    #[serde(default)]
    pub place: Option<PlaceTable>,
    /// Motion of the robot. Default: at rest at the origin of the world.
    #[serde(default)]
    pub motion: Option<MotionTable>,
    /// Command-driven motion; alternative to `motion`.
    #[serde(default)]
    #[schemars(with = "Option<DynamicsTable>")]
    pub dynamics: Option<Spanned<DynamicsTable>>,
    /// Additional frames.
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
    /// Unique name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Parent frame. Default: the base.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub parent: Option<Spanned<String>>,
    /// Position in the parent frame.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Rotation in the parent frame.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// Rotation as a unit quaternion, real part first; alternative to `rotation_deg`.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 4]>")]
    pub rotation_wxyz: Option<Spanned<[f64; 4]>>,
}

/// A sensor on the robot.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MountedSensorTable {
    /// Unique name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Frame of the mount. Default: the base.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub frame: Option<Spanned<String>>,
    /// Position in the frame.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Rotation in the frame.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// Rotation as a unit quaternion, real part first; alternative to `rotation_deg`.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 4]>")]
    pub rotation_wxyz: Option<Spanned<[f64; 4]>>,
    /// Captures per second. A scanning lidar defines its own rate.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    #[schemars(range(min = 0.001, max = 100000.0))]
    pub rate_hz: Option<Spanned<f64>>,
    /// Start of the first capture.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub offset_ms: Option<Spanned<f64>>,
    /// Duration of a capture. Default: instantaneous. A scanning lidar defines its own duration.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    #[schemars(range(min = 0.0))]
    pub window_ms: Option<Spanned<f64>>,
    /// Delay from the end of a capture until its data are available.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    #[schemars(range(min = 0.0))]
    pub lag_ms: Option<Spanned<f64>>,
    /// Topic of the data in recordings. Default: "/" and the name.
    #[serde(default)]
    pub topic: Option<String>,
    /// Device.
    pub device: DeviceTable,
    /// Filters of the data, applied in this order.
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
