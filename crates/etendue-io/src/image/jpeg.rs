//! JPEG images.

use super::{Picture, check_size};
use crate::precision::single;
use etendue_physics::camera::Tone;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

pub(super) fn read(bytes: &[u8]) -> Result<Picture, String> {
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder
        .decode_headers()
        .map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions().ok_or("the image has no size")?;
    check_size(width, height, 3, bytes.len())?;
    let values = decoder.decode().map_err(|error| error.to_string())?;
    let linear = |value: u8| single(Tone::Srgb.decode(f64::from(value) / 255.0));
    let (pixels, _) = values.as_chunks::<3>();
    Ok(Picture {
        width: u32::try_from(width).map_err(|error| error.to_string())?,
        pixels: pixels.iter().map(|pixel| pixel.map(linear)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;

    /// Two adjacent squares, (200, 60, 30) and (20, 120, 220), encoded by Pillow 13 (quality 90, no
    /// subsampling).
    const SQUARES: &str = "\
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4R\
        DgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU\
        FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAIABADAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA\
        BAf/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAACQcI/8QAFBEBAAAAAAAAAAAAAAAA\
        AAAAAP/aAAwDAQACEQMRAD8Al6LtgFkbFI//2Q==";

    #[test]
    fn the_colours_are_those_that_went_in() {
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(SQUARES)
            .expect("base64");
        let picture = read(&bytes).expect("a picture");
        assert_eq!((picture.width, picture.pixels.len()), (16, 128));
        for (column, colour) in [(1, [200, 60, 30]), (14, [20, 120, 220_u8])] {
            let found = picture.pixels[4 * 16 + column].map(f64::from);
            for (value, byte) in found.iter().zip(colour) {
                let found = Tone::Srgb.encode(*value) * 255.0;
                assert!((found - f64::from(byte)).abs() < 4.0, "{found} {byte}");
            }
        }
        assert!(read(&bytes[..bytes.len() / 2]).is_err());
    }
}
