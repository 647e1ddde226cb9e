//! Radiance HDR images: 8 bits per colour with a common exponent (Ward 1991, "Real pixels",
//! Graphics Gems II).

use super::{Picture, check_size};

pub(super) fn read(bytes: &[u8]) -> Result<Picture, String> {
    let (width, height, mut rest) = header(bytes)?;
    let columns = width as usize;
    check_size(columns, height as usize, 3, bytes.len())?;
    let mut pixels = Vec::with_capacity(columns * height as usize);
    for _ in 0..height {
        let row = scan_line(&mut rest, columns).ok_or("the image is truncated")?;
        pixels.extend(row.into_iter().map(radiance));
    }
    Ok(Picture { width, pixels })
}

/// Parses the header: width, height and the remaining bytes.
fn header(bytes: &[u8]) -> Result<(u32, u32, &[u8]), String> {
    let mut rest = bytes;
    loop {
        let end = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or("the header is truncated")?;
        let line = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        if line.starts_with("FORMAT=") && line.trim() != "FORMAT=32-bit_rle_rgbe" {
            return Err(format!("{line} is not supported, only 32-bit_rle_rgbe"));
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["-Y", height, "+X", width] = words[..] {
            let size = |word: &str| {
                word.parse()
                    .map_err(|_| format!("the size {word} is not a number"))
            };
            return Ok((size(width)?, size(height)?, rest));
        }
    }
}

fn radiance([red, green, blue, exponent]: [u8; 4]) -> [f32; 3] {
    if exponent == 0 {
        return [0.0; 3];
    }
    let scale = 2_f32.powi(i32::from(exponent) - 136);
    [red, green, blue].map(|value| f32::from(value) * scale)
}

fn scan_line(rest: &mut &[u8], width: usize) -> Option<Vec<[u8; 4]>> {
    // Read an uncompressed line: four bytes per pixel
    let is_run_length_encoded = (8..32768).contains(&width)
        && matches!(rest, [2, 2, high, low, ..] if usize::from(*high) << 8 | usize::from(*low) == width);
    if !is_run_length_encoded {
        let (line, after) = rest.split_at_checked(4 * width)?;
        *rest = after;
        return Some(
            line.chunks_exact(4)
                .map(|p| [p[0], p[1], p[2], p[3]])
                .collect(),
        );
    }

    // Decode the runs of each channel
    *rest = &rest[4..];
    let mut line = vec![[0; 4]; width];
    for channel in 0..4 {
        let mut column = 0;
        while column < width {
            let count = usize::from(*rest.first()?);
            let length = if count > 128 {
                // Repeat one byte
                let length = count - 128;
                let value = *rest.get(1)?;
                for pixel in line.get_mut(column..column + length)? {
                    pixel[channel] = value;
                }
                *rest = &rest[2..];
                length
            } else {
                // Copy literal bytes
                let values = rest.get(1..=count)?;
                for (pixel, value) in line.get_mut(column..column + count)?.iter_mut().zip(values) {
                    pixel[channel] = *value;
                }
                *rest = &rest[1 + count..];
                count
            };
            column += length.max(1);
        }
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_and_plain_lines_are_read() {
        let mut file = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 8\n".to_vec();
        file.extend([2, 2, 0, 8]);
        // A run, single values, a run, a run.
        file.extend([136, 128, 8, 1, 2, 3, 4, 5, 6, 7, 8, 136, 0, 136, 129]);
        let picture = read(&file).expect("a picture");
        assert_eq!(picture.pixels.len(), 8);
        assert_eq!(picture.pixels[2], [1.0, 3.0 / 128.0, 0.0]);
        assert!(read(&file[..file.len() - 3]).is_err());
        let plain = b"#?RADIANCE\n\n-Y 1 +X 1\n\x80\x40\x20\x80".to_vec();
        assert_eq!(
            read(&plain).expect("a picture").pixels,
            [[0.5, 0.25, 0.125]]
        );
    }
}
