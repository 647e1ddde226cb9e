//! OpenEXR pictures of light, read.

use super::Picture;
use flate2::read::ZlibDecoder;
use std::collections::BTreeMap;
use std::io::Read;

/// Largest number of pixels that is read.
const MOST: usize = 1 << 28;

/// A picture of scan lines, plain or packed with ZIP or ZIPS ("OpenEXR file layout", Academy
/// Software Foundation); its channels R, G and B, or Y, in half or single precision.
pub(super) fn read(bytes: &[u8]) -> Result<Picture, String> {
    let mut cursor = Cursor { bytes, at: 4 };
    let version = cursor.u32()?;
    if version & 0xff != 2 || version & !0x4ff != 0 {
        return Err("tiled, deep and multi-part EXR pictures are not read".into());
    }
    let header = Header::read(&mut cursor)?;
    let [width, height] = [header.width, header.height];
    let mut planes = vec![vec![0.0_f32; width * height]; header.channels.len()];
    let blocks = height.div_ceil(header.rows);
    cursor.skip(8 * blocks)?;
    for _ in 0..blocks {
        header.block(&mut cursor, &mut planes)?;
    }
    header.picture(&planes)
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        self.at += count;
        taken.ok_or_else(|| "the picture is cut".into())
    }

    fn skip(&mut self, count: usize) -> Result<(), String> {
        self.take(count).map(|_| ())
    }

    fn u32(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn i32(&mut self) -> Result<i32, String> {
        self.u32().map(u32::cast_signed)
    }

    /// Text up to its closing zero.
    fn text(&mut self) -> Result<String, String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == 0);
        let text = self.take(end.ok_or("the head is cut")?)?;
        self.at += 1;
        Ok(String::from_utf8_lossy(text).into_owned())
    }
}

/// Types of a channel's numbers.
#[derive(Clone, Copy)]
enum Kind {
    Uint,
    Half,
    Float,
}

impl Kind {
    fn size(self) -> usize {
        match self {
            Self::Half => 2,
            Self::Uint | Self::Float => 4,
        }
    }
}

struct Header {
    width: usize,
    height: usize,
    /// Number of the first row.
    first: i32,
    channels: Vec<(String, Kind)>,
    /// Rows of a block.
    rows: usize,
    is_packed: bool,
}

impl Header {
    fn read(cursor: &mut Cursor) -> Result<Self, String> {
        let mut attributes = BTreeMap::new();
        loop {
            let name = cursor.text()?;
            if name.is_empty() {
                break;
            }
            cursor.text()?;
            let length = cursor.u32()? as usize;
            attributes.insert(name, cursor.take(length)?);
        }
        let value = |name: &str| {
            let bytes = attributes.get(name).copied();
            let bytes = bytes.ok_or_else(|| format!("the head has no {name}"))?;
            Ok::<_, String>(Cursor { bytes, at: 0 })
        };
        let mut window = value("dataWindow")?;
        let [left, top, right, bottom] =
            [window.i32()?, window.i32()?, window.i32()?, window.i32()?];
        let side = |from: i32, to: i32| usize::try_from(i64::from(to) - i64::from(from) + 1).ok();
        let sides = side(left, right).zip(side(top, bottom));
        let (width, height) = sides
            .filter(|(width, height)| {
                let pixels = width.checked_mul(*height);
                pixels.is_some_and(|pixels| (1..=MOST).contains(&pixels))
            })
            .ok_or("the size of the picture is out of range")?;
        let (rows, is_packed) = match value("compression")?.take(1)?[0] {
            0 => (1, false),
            2 => (1, true),
            3 => (16, true),
            _ => return Err("only plain, ZIP and ZIPS packing are read: save it with ZIP".into()),
        };
        Ok(Self {
            width,
            height,
            first: top,
            channels: channels(&mut value("channels")?)?,
            rows,
            is_packed,
        })
    }

    fn block(&self, cursor: &mut Cursor, planes: &mut [Vec<f32>]) -> Result<(), String> {
        let row = cursor.i32()?.checked_sub(self.first);
        let row = row.and_then(|row| usize::try_from(row).ok());
        let row = row
            .filter(|row| *row < self.height)
            .ok_or("a block is out of range")?;
        let length = cursor.u32()? as usize;
        let content = cursor.take(length)?;
        let rows = self.rows.min(self.height - row);
        let pixel: usize = self.channels.iter().map(|(_, kind)| kind.size()).sum();
        let size = rows * self.width * pixel;
        let plain = if self.is_packed && length < size {
            unpacked(content, size)?
        } else {
            content.to_vec()
        };
        if plain.len() != size {
            return Err("a block has another length than its rows".into());
        }
        let mut rest = Cursor {
            bytes: &plain,
            at: 0,
        };
        for row in row..row + rows {
            for ((_, kind), plane) in self.channels.iter().zip(planes.iter_mut()) {
                for value in &mut plane[row * self.width..(row + 1) * self.width] {
                    *value = number(*kind, rest.take(kind.size())?);
                }
            }
        }
        Ok(())
    }

    fn picture(&self, planes: &[Vec<f32>]) -> Result<Picture, String> {
        let plane = |name: &str| {
            let place = self.channels.iter().position(|(known, _)| known == name);
            place.map(|place| &planes[place])
        };
        let colours = plane("R").zip(plane("G")).zip(plane("B"));
        let colours = colours.map(|((red, green), blue)| [red, green, blue]);
        let grey = plane("Y").map(|grey| [grey; 3]);
        let [red, green, blue] = colours
            .or(grey)
            .ok_or("the picture has neither channels R, G and B nor Y")?;
        let pixels = red.iter().zip(green).zip(blue);
        Ok(Picture {
            width: u32::try_from(self.width).map_err(|_| "the picture is too wide")?,
            pixels: pixels
                .map(|((red, green), blue)| [*red, *green, *blue])
                .collect(),
        })
    }
}

fn channels(list: &mut Cursor) -> Result<Vec<(String, Kind)>, String> {
    let mut channels = Vec::new();
    loop {
        let name = list.text()?;
        if name.is_empty() {
            return Ok(channels);
        }
        let kind = match list.u32()? {
            0 => Kind::Uint,
            1 => Kind::Half,
            2 => Kind::Float,
            _ => return Err(format!("the channel {name} is of an unknown type")),
        };
        list.skip(4)?;
        if [list.u32()?, list.u32()?] != [1, 1] {
            return Err(format!(
                "the channel {name} has fewer pixels than the picture"
            ));
        }
        channels.push((name, kind));
    }
}

/// Undoes the packing: differences of bytes, even ones before odd ones.
fn unpacked(content: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(size);
    let most = size as u64 + 1;
    let read = ZlibDecoder::new(content).take(most).read_to_end(&mut bytes);
    if read.is_err() || bytes.len() != size {
        return Err("a block cannot be unpacked".into());
    }
    for i in 1..size {
        bytes[i] = bytes[i].wrapping_add(bytes[i - 1]).wrapping_sub(128);
    }
    let (even, odd) = bytes.split_at(size.div_ceil(2));
    Ok((0..size)
        .map(|i| if i % 2 == 0 { even[i / 2] } else { odd[i / 2] })
        .collect())
}

fn number(kind: Kind, bytes: &[u8]) -> f32 {
    match (kind, bytes) {
        (Kind::Half, [low, high]) => half(u16::from_le_bytes([*low, *high])),
        (Kind::Float, [a, b, c, d]) => f32::from_le_bytes([*a, *b, *c, *d]),
        (Kind::Uint, [a, b, c, d]) => {
            let whole = f64::from(u32::from_le_bytes([*a, *b, *c, *d]));
            crate::precision::single(whole)
        }
        _ => 0.0,
    }
}

/// A number of half precision (IEEE 754 binary16).
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f32::from(bits & 0x3ff);
    let size = match (bits >> 10) & 0x1f {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1024.0 + fraction) * 2_f32.powi(i32::from(exponent) - 25),
    };
    sign * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{ExrChannel, ExrData, exr};

    #[test]
    fn what_is_written_is_read() {
        let values: Vec<f32> = (0..5 * 37)
            .map(|i: u16| f32::from(i) * 0.25 - 3.0)
            .collect();
        let plane = |name, scale: f32| ExrChannel {
            name,
            data: ExrData::Float(values.iter().map(|v| v * scale).collect::<Vec<_>>().into()),
        };
        let file = exr(5, 37, &[plane("R", 1.0), plane("G", 2.0), plane("B", 0.5)]);
        let file = file.expect("it fits");
        let picture = read(&file).expect("a picture");
        assert_eq!((picture.width, picture.pixels.len()), (5, 185));
        assert!(
            picture
                .pixels
                .iter()
                .zip(&values)
                .all(|(pixel, value)| { *pixel == [*value, 2.0 * value, 0.5 * value] })
        );
        for cut in [3, 10, 100, file.len() - 5] {
            assert!(read(&file[..cut.max(4)]).is_err(), "{cut}");
        }
        let grey = exr(5, 37, &[plane("Y", 1.0)]).expect("it fits");
        assert_eq!(read(&grey).expect("a picture").pixels[7], [values[7]; 3]);
        let nameless = exr(5, 37, &[plane("Z", 1.0)]).expect("it fits");
        assert!(read(&nameless).expect_err("no colours").contains("neither"));
    }

    #[test]
    fn halves_are_numbers() {
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc000), -2.0);
        assert_eq!(half(0x7bff), 65504.0);
        assert_eq!(half(0x0001), 5.960_464_5e-8);
        assert_eq!(half(0x7c00), f32::INFINITY);
        assert!(half(0x7e00).is_nan());
    }
}
