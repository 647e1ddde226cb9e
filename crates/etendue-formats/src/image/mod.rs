//! Pictures: PNG and EXR out; PNG, EXR and Radiance HDR in.

mod exr;
mod exr_read;
mod hdr;
mod png_file;

pub use exr::{ExrChannel, ExrData, exr};
pub use png_file::{Pixels, png};

use crate::input::read_bytes;
use crate::{FormatError, Place};
use std::path::Path;

/// A picture of linear colours (red, green, blue), row by row from the upper left pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Columns.
    pub width: u32,
    /// Its pixels.
    pub pixels: Vec<[f32; 3]>,
}

/// Reads a PNG picture (taken as sRGB), an OpenEXR or a Radiance HDR picture, told by their first
/// bytes.
///
/// # Errors
/// Where the file cannot be read, is cut, or is of another format.
pub fn read_picture(path: &Path) -> Result<Picture, FormatError> {
    let bytes = read_bytes(path)?;
    let read = if bytes.starts_with(b"\x89PNG") {
        png_file::read(&bytes)
    } else if bytes.starts_with(b"#?") {
        hdr::read(&bytes)
    } else if bytes.starts_with(&[0x76, 0x2f, 0x31, 0x01]) {
        exr_read::read(&bytes)
    } else {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "this is no picture of a known format".into(),
            remedy: "give a .png, an .exr or a Radiance .hdr file".into(),
        });
    };
    read.map_err(|message| {
        FormatError::malformed(path, Place::File, message, "save the picture again")
    })
}
