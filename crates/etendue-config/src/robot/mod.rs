//! Robot files: a robot's frames, sensors, scene and motion, in TOML.
//!
//! ```toml
//! version = 1
//! name = "a cart"
//! scene = "arena"                       # an embedded scene, or a scene file
//! duration_s = 10.0
//! motion.circle = { radius_m = 0.3, speed_mps = 0.2 }
//!
//! [[frames]]
//! name = "mast"                         # default parent: "base"
//! position_m = [0.0, 0.0, 0.1]
//!
//! [[sensors]]
//! name = "lidar"
//! frame = "mast"
//! lag_ms = 20.0
//! device.lidar = { preset = "hokuyo-urg-04lx" }
//! filters = ["to_cloud", { compensate = { at = 0.0 } }]
//!
//! [[sensors]]
//! name = "imu"
//! rate_hz = 100.0
//! window_ms = 10.0
//! device.imu = { preset = "bosch-bmi088" }
//! ```
//!
//! [`load`] reads a file, [`parse`] a text. Unknown keys, frames and presets are errors with the
//! nearest known name, as are cycles of frames, rates of zero, negative lags and incompatible
//! filters. Frames may come from a URDF file ([`Urdf`]). A robot either follows a prescribed
//! motion, or commands ([`DynamicsTable`]): as a kinematic bicycle, or, with the feature `rapier`,
//! as a vehicle or as the links and joints of its URDF file in a physics engine. [`device_presets`]
//! lists the embedded devices.
//! come with the library.

mod device;
mod dynamics;
mod file;
mod filters;
mod gnss;
mod inertial;
mod loading;
mod mjcf;
mod motion;
mod place;
mod presets;
mod urdf;

pub use device::{BarometerTable, CameraTable, DeviceTable, LidarTable, WheelEncoderTable};
pub use dynamics::{
    DriveTable, Driven, DynamicsTable, Ground, GroundName, JointCommandTable, ModelName, Mover,
    MoverModel, Orders, Schedule, VehicleTable,
};
pub use file::{FrameTable, MountedSensorTable, RobotFile};
pub use filters::{FilterTable, Registry, UserFilterMaker, UserFilterTable};
pub use gnss::{AxisErrorTable, GnssTable, KindName};
pub use inertial::{AccelerometerTable, GyroscopeTable, ImuTable, MagnetometerTable, WarmingTable};
pub use loading::{load, load_with, parse};
pub use mjcf::Mjcf;
pub use motion::{
    CircleTable, MotionTable, RobotTrajectory, StillTable, TrajectoryFormat, TrajectoryTable,
};
pub use place::PlaceTable;
pub use presets::{device_presets, preset_device};
pub use urdf::Urdf;

use crate::scene::LoadedScene;
use etendue_sensors::rig::{Environment, Rig};

/// A robot with the content of its file.
#[derive(Debug)]
pub struct LoadedRobot {
    /// Its name.
    pub name: String,
    /// Scene.
    pub scene: LoadedScene,
    /// Geographic environment.
    pub environment: Environment,
    /// Frames and sensors.
    pub rig: Rig,
    /// Where the robot file names each sensor, as `FILE:LINE`.
    pub places: Vec<String>,
    /// Topics of each sensor's outputs, in the order of the sensors and of their outputs.
    pub topics: Vec<Vec<String>>,
    /// Prescribed motion.
    pub motion: RobotTrajectory,
    /// Dynamics and commands, if the file has them instead of a motion.
    pub driven: Option<Driven>,
    /// Duration of a run, s, if the file has one.
    pub duration: Option<f64>,
    /// Irregularities that did not prevent loading.
    pub warnings: Vec<String>,
}
