//! TOML files of etendue and the presets embedded in the program.
//!
//! | module | describes | reader | presets |
//! |---|---|---|---|
//! | [`scene`] | objects, materials, lights, weather, motion | [`scene::load`] | examples |
//! | [`sensor`] | a lidar | [`sensor::load`] | `sensors/` |
//! | [`robot`] | a body with its sensors, dynamics and commands; URDF and MJCF | [`robot::load`] | `devices/` |
//! | [`camera`] | a camera with its lens and its sensor | [`camera::load`] | `cameras/` |
//! | [`material`] | reflection and transmission of a surface | [`material::library`] | `materials/` |
//! | [`profile`] | noise of a sensor on a material; recordings for its calibration | [`profile::ProfileFile`] | `profiles/` |
//! | [`depth_model`] | a learnt correction of range bias | [`depth_model::load`] | |
//! | [`fit`] | a fit of parameters to scans | [`fit::load`] | |
//!
//! Keys contain the unit of the value (`wavelength_nm`). A preset is one file in the folder of its
//! kind, which the build embeds ([`presets`]). An error ([`ConfigError`]) contains the position in
//! the text, the nearest known key and a remedy ([`toml_file`]).

pub mod camera;
pub mod depth_model;
mod error;
pub mod fit;
pub mod material;
pub mod pose_uncertainty;
pub mod presets;
pub mod profile;
pub mod robot;
pub mod scene;
pub mod sensor;
pub mod toml_file;

pub use error::ConfigError;
