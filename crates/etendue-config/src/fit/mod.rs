//! Fit problems: a scene, scans of it, and what is unknown, in TOML.
//!
//! ```toml
//! version = 1
//! scene = "arena"                         # a built-in scene, or a scene file
//! sensor = "hokuyo-urg-04lx"              # a preset or a sensor file; else the scene's
//!
//! [[scans]]
//! file = "scan.csv"                       # a scan log ...
//! number = 0                              # ... and which of its scans
//!
//! [[free]]
//! path = "sensor.pose"                    # in the plane: height and tilt stay
//! start = { position_m = [0.1, 0.1, 0.0], rotation_deg = { yaw = 10 } }
//!
//! [[free]]
//! path = "materials.white.reflectance"
//! start = { value = 0.5 }
//! between = [0.0, 1.0]
//! truth = { value = 0.8 }                 # if known, the error is reported
//!
//! [solver]
//! loss.cauchy = { scale_m = 0.05 }
//! ```
//!
//! [`load`] reads a file into a [`FitTask`]; whether its parameter paths name something is known
//! when the scene is read, and [`Spot::error`] then points at them.

mod file;
mod task;

pub use file::{
    FitFile, FreeTable, LossTable, MethodName, MotionName, ScanTable, SolverTable, ValueTable,
};
pub use task::{FitTask, FreeTask, Motion, ScanTask, Setting, Spot, begin_wide, load, parse};
