//! Fit problems in TOML: a scene, measured scans and free parameters.
//!
//! ```toml
//! version = 1
//! scene = "arena"                         # an embedded scene, or a scene file
//! sensor = "hokuyo-urg-04lx"              # a preset or a sensor file; default: that of the scene
//!
//! [[scans]]
//! file = "scan.csv"                       # a scan log ...
//! number = 0                              # ... and the index of the scan
//!
//! [[free]]
//! path = "sensor.pose"                    # planar: height and tilt are constant
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
//! [`load`] reads a file into a [`FitTask`]. The parameter paths are checked when the scene is
//! loaded; [`Spot::error`] reports errors at their position.

mod file;
mod task;

pub use file::{
    FitFile, FreeTable, LossTable, MethodName, MotionName, ScanTable, SolverTable, ValueTable,
};
pub use task::{FitTask, FreeTask, Motion, ScanTask, Setting, Spot, begin_wide, load, parse};
