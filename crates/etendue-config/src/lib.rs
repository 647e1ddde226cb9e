//! TOML files of etendue: scenes, sensors, robots, cameras, materials, noise profiles, depth models
//! and fits.
//!
//! Each module reads one kind of file and lists the presets of that kind. Errors point into the
//! text and name the nearest known key ([`toml_file`]).

pub mod camera;
pub mod depth_model;
mod error;
pub mod fit;
pub mod material;
pub mod presets;
pub mod profile;
pub mod robot;
pub mod scene;
pub mod sensor;
pub mod toml_file;

pub use error::ConfigError;
