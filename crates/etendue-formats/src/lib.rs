//! Every file format of etendue: the only crate that reads and writes files.

mod error;
pub mod sensor;
pub mod toml_file;

pub use error::{FormatError, Place};
