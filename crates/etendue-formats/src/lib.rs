//! Every file format of etendue: the only crate that reads and writes files.

pub mod camera;
pub mod cloud;
pub mod depth_model;
mod digest;
mod error;
pub mod fit;
pub mod image;
mod input;
pub mod material;
mod mcap_chunks;
pub mod mesh;
pub mod nmea;
mod npy;
pub mod output;
pub mod packets;
mod ply;
pub mod points;
mod precision;
pub mod profile;
pub mod recording;
pub mod robot;
pub mod ros2;
pub mod scan_file;
pub mod scan_log;
pub mod scene;
pub mod sensor;
pub mod sequence;
mod text;
pub mod toml_file;
pub mod trajectory;

pub use error::{FormatError, Place};
