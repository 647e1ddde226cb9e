//! Every file format of etendue: the only crate that reads and writes files.

pub mod cloud;
mod digest;
mod error;
pub mod fit;
mod input;
pub mod material;
pub mod mesh;
pub mod output;
mod ply;
mod precision;
pub mod profile;
pub mod recording;
pub mod ros2;
pub mod scan_log;
pub mod scene;
pub mod sensor;
mod text;
pub mod toml_file;
pub mod trajectory;

pub use error::{FormatError, Place};
