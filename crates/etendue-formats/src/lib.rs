//! Every file format of etendue: the only crate that reads and writes files.

mod error;
mod input;
pub mod scan_log;
pub mod sensor;
mod text;
pub mod toml_file;

pub use error::{FormatError, Place};
pub mod material;
