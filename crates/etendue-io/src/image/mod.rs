//! Images: writers of PNG and EXR; readers of PNG, JPEG, EXR and Radiance HDR.

mod exr;
mod hdr;
mod jpeg;
mod png_file;

pub use exr::{EXR_SUPPORTED, ExrChannel, ExrData, exr};
pub use png_file::{Pixels, png};

use crate::foreign::{guarded, is_plausible};
use crate::input::read_bytes;
use crate::{FileLocation, FormatError};
use std::path::Path;

/// An image of linear colours (red, green, blue), row by row from the upper left pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Width, pixels.
    pub width: u32,
    /// Pixels.
    pub pixels: Vec<[f32; 3]>,
}

/// Reads a PNG or JPEG image (interpreted as sRGB), an OpenEXR or a Radiance HDR image. The magic
/// number determines the format.
///
/// # Errors
/// If the file cannot be read, is truncated, or has another format.
pub fn read_picture(path: &Path) -> Result<Picture, FormatError> {
    parse_picture(path, &read_bytes(path)?)
}

/// Parses the content of an image as [`read_picture`] does. Errors name `path`.
///
/// # Errors
/// As [`read_picture`], except errors of reading.
pub fn parse_picture(path: &Path, bytes: &[u8]) -> Result<Picture, FormatError> {
    if !is_known(bytes) {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "this is not an image of a known format".into(),
            remedy: "give a .png, a .jpg, an .exr or a Radiance .hdr file".into(),
        });
    }
    if bytes.starts_with(EXR) && !EXR_SUPPORTED {
        return Err(FormatError::disabled(path, "EXR", "exr"));
    }
    picture_of(bytes).map_err(|message| {
        FormatError::malformed(path, FileLocation::File, message, "save the image again")
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

/// Decodes the image in the content of a file.
pub(crate) fn picture_of(bytes: &[u8]) -> Result<Picture, String> {
    let decode = match bytes {
        _ if bytes.starts_with(PNG) => png_file::read,
        _ if bytes.starts_with(JPEG) => jpeg::read,
        _ if bytes.starts_with(HDR) => hdr::read,
        _ if bytes.starts_with(EXR) => exr::read,
        _ => return Err("the content is not PNG, JPEG, EXR or HDR".into()),
    };
    guarded(|| decode(bytes)).map_err(|panic| panic.to_string())?
}

/// Checks the size of an image in a file of `bytes` bytes before its pixels are allocated;
/// `values` is the number of values per pixel.
fn check_size(width: usize, height: usize, values: usize, bytes: usize) -> Result<(), String> {
    if width == 0 || height == 0 {
        return Err("the image has no pixels".into());
    }
    let pixels = (width as u64).checked_mul(height as u64);
    if pixels.is_some_and(|pixels| is_plausible(pixels, values.max(3) * size_of::<f32>(), bytes)) {
        return Ok(());
    }
    Err(format!(
        "the size of {width} x {height} pixels is out of proportion to the file of {bytes} bytes"
    ))
}
