//! Pictures: PNG and EXR out; PNG, JPEG, EXR and Radiance HDR in.

mod exr;
mod hdr;
mod jpeg;
mod png_file;

pub use exr::{EXR_SUPPORTED, ExrChannel, ExrData, exr};
pub use png_file::{Pixels, png};

use crate::input::read_bytes;
use crate::{FileLocation, FormatError};
use std::path::Path;

/// A picture of linear colours (red, green, blue), row by row from the upper left pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Columns.
    pub width: u32,
    /// Its pixels.
    pub pixels: Vec<[f32; 3]>,
}

/// Reads a PNG or JPEG picture (taken as sRGB), an OpenEXR or a Radiance HDR picture, recognised
/// by its first bytes.
///
/// # Errors
/// If the file cannot be read, is truncated, or is of another format.
pub fn read_picture(path: &Path) -> Result<Picture, FormatError> {
    let bytes = read_bytes(path)?;
    if !is_known(&bytes) {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "this is no picture of a known format".into(),
            remedy: "give a .png, a .jpg, an .exr or a Radiance .hdr file".into(),
        });
    }
    if bytes.starts_with(EXR) && !EXR_SUPPORTED {
        return Err(FormatError::disabled(path, "EXR", "exr"));
    }
    picture_of(&bytes).map_err(|message| {
        FormatError::malformed(path, FileLocation::File, message, "save the picture again")
    })
}

const PNG: &[u8] = b"\x89PNG";
const JPEG: &[u8] = b"\xff\xd8\xff";
const HDR: &[u8] = b"#?";
const EXR: &[u8] = &[0x76, 0x2f, 0x31, 0x01];

fn is_known(bytes: &[u8]) -> bool {
    [PNG, JPEG, HDR, EXR]
        .iter()
        .any(|start| bytes.starts_with(start))
}

/// The picture in the bytes of a file.
pub(crate) fn picture_of(bytes: &[u8]) -> Result<Picture, String> {
    match bytes {
        _ if bytes.starts_with(PNG) => png_file::read(bytes),
        _ if bytes.starts_with(JPEG) => jpeg::read(bytes),
        _ if bytes.starts_with(HDR) => hdr::read(bytes),
        _ if bytes.starts_with(EXR) => exr::read(bytes),
        _ => Err("it is neither PNG nor JPEG, EXR or HDR".into()),
    }
}
