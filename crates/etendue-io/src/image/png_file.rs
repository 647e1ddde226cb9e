//! PNG images.

use super::{Picture, check_size};
use crate::precision::single;
use etendue_physics::camera::Tone;
use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};
use std::io::{self, Cursor};

/// Pixels of a PNG file, row by row from the upper left.
#[derive(Clone, Copy, Debug)]
pub enum Pixels<'a> {
    /// Grey, 8 bits.
    Grey8(&'a [u8]),
    /// Grey, 16 bits.
    Grey16(&'a [u16]),
    /// Red, green, blue, 8 bits.
    Colour8(&'a [u8]),
    /// Red, green, blue, 16 bits.
    Colour16(&'a [u16]),
}

/// Encodes a PNG file with the given width and height.
///
/// # Errors
/// If the number of pixels does not match the size.
///
/// ```
/// use etendue_io::image::{Pixels, png};
/// let file = png(2, 1, Pixels::Grey8(&[0, 255])).unwrap();
/// assert!(file.starts_with(b"\x89PNG"));
/// assert!(png(2, 2, Pixels::Grey8(&[0, 255])).is_err());
/// ```
pub fn png(width: u32, height: u32, pixels: Pixels) -> io::Result<Vec<u8>> {
    let (colour, depth, bytes) = match pixels {
        Pixels::Grey8(values) => (ColorType::Grayscale, BitDepth::Eight, values.to_vec()),
        Pixels::Grey16(values) => (ColorType::Grayscale, BitDepth::Sixteen, big_endian(values)),
        Pixels::Colour8(values) => (ColorType::Rgb, BitDepth::Eight, values.to_vec()),
        Pixels::Colour16(values) => (ColorType::Rgb, BitDepth::Sixteen, big_endian(values)),
    };
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    writer.finish()?;
    Ok(file)
}

fn big_endian(values: &[u16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect()
}

pub(super) fn read(bytes: &[u8]) -> Result<Picture, String> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::normalize_to_color8());
    let text = |error: png::DecodingError| error.to_string();
    let mut reader = decoder.read_info().map_err(text)?;
    let info = reader.info();
    check_size(info.width as usize, info.height as usize, 3, bytes.len())?;
    let size = reader
        .output_buffer_size()
        .ok_or("the image is too large")?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).map_err(text)?;
    let linear = |value: u8| single(Tone::Srgb.decode(f64::from(value) / 255.0));
    let channels = info.color_type.samples();
    let pixels = buffer[..info.buffer_size()].chunks_exact(channels);
    let colour = |pixel: &[u8]| match *pixel {
        [grey] | [grey, _] => [linear(grey); 3],
        [red, green, blue, ..] => [linear(red), linear(green), linear(blue)],
        [] => [0.0; 3],
    };
    Ok(Picture {
        width: info.width,
        pixels: pixels.map(colour).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let bytes: Vec<u8> = (0..18).map(|i| i * 14).collect();
        let file = png(3, 2, Pixels::Colour8(&bytes)).expect("it fits");
        let picture = read(&file).expect("a picture");
        assert_eq!((picture.width, picture.pixels.len()), (3, 6));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "images have single precision"
        )]
        let expected = Tone::Srgb.decode(f64::from(bytes[4]) / 255.0) as f32;
        assert_eq!(picture.pixels[1][1], expected);
        assert!(read(&file[..file.len() / 2]).is_err());
    }
}
