//! OpenEXR: many channels of real numbers in one picture.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the format counts rows and bytes in 32 bits"
)]

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{self, ErrorKind, Write};

/// A channel of an EXR picture, row by row from the upper left pixel.
#[derive(Clone, Debug)]
pub struct ExrChannel<'a> {
    /// Its name: `R`, `G`, `B`, `Y`, `Z` mean what readers expect; others are free.
    pub name: &'a str,
    /// Its values.
    pub data: ExrData<'a>,
}

/// Values of a channel.
#[derive(Clone, Debug)]
pub enum ExrData<'a> {
    /// Real numbers.
    Float(std::borrow::Cow<'a, [f32]>),
    /// Whole numbers.
    Uint(std::borrow::Cow<'a, [u32]>),
}

/// Rows that are packed together.
const ROWS: usize = 16;

/// An EXR file (version 2, scan lines, ZIP packing; "OpenEXR file layout", Academy Software
/// Foundation) of a picture of that width and height.
///
/// # Errors
/// Where a channel does not have a value a pixel, or there is no pixel or channel.
pub fn exr(width: u32, height: u32, channels: &[ExrChannel]) -> io::Result<Vec<u8>> {
    let (columns, rows) = (width as usize, height as usize);
    let fits = |channel: &ExrChannel| channel.data.len() == columns * rows;
    if channels.is_empty() || columns * rows == 0 || !channels.iter().all(fits) {
        let message = "every channel of an EXR picture needs a value a pixel";
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    let mut channels: Vec<&ExrChannel> = channels.iter().collect();
    channels.sort_by_key(|channel| channel.name);
    let mut file = header(width, height, &channels);
    let blocks: Vec<Vec<u8>> = (0..rows)
        .step_by(ROWS)
        .map(|row| block(&channels, columns, row..(row + ROWS).min(rows)))
        .collect::<io::Result<_>>()?;
    let mut offset = file.len() + 8 * blocks.len();
    for block in &blocks {
        file.extend((offset as u64).to_le_bytes());
        offset += block.len();
    }
    file.extend(blocks.into_iter().flatten());
    Ok(file)
}

impl ExrData<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Uint(values) => values.len(),
        }
    }

    fn bytes(&self, index: usize) -> [u8; 4] {
        match self {
            Self::Float(values) => values[index].to_le_bytes(),
            Self::Uint(values) => values[index].to_le_bytes(),
        }
    }

    fn kind(&self) -> i32 {
        match self {
            Self::Uint(_) => 0,
            Self::Float(_) => 2,
        }
    }
}

fn header(width: u32, height: u32, channels: &[&ExrChannel]) -> Vec<u8> {
    let mut file = vec![0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0];
    let mut list = Vec::new();
    for channel in channels {
        list.extend(channel.name.bytes().chain([0]));
        list.extend(channel.data.kind().to_le_bytes());
        list.extend([0; 4]);
        list.extend(1_i32.to_le_bytes());
        list.extend(1_i32.to_le_bytes());
    }
    list.push(0);
    let window: Vec<u8> = [0, 0, width - 1, height - 1]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let one = 1_f32.to_le_bytes();
    let attributes: [(&str, &str, &[u8]); 8] = [
        ("channels", "chlist", &list),
        ("compression", "compression", &[3]),
        ("dataWindow", "box2i", &window),
        ("displayWindow", "box2i", &window),
        ("lineOrder", "lineOrder", &[0]),
        ("pixelAspectRatio", "float", &one),
        ("screenWindowCenter", "v2f", &[0; 8]),
        ("screenWindowWidth", "float", &one),
    ];
    for (name, kind, value) in attributes {
        file.extend(name.bytes().chain([0]).chain(kind.bytes()).chain([0]));
        file.extend((value.len() as u32).to_le_bytes());
        file.extend(value);
    }
    file.push(0);
    file
}

/// Some rows: their first one's number, how long they are, and their values, packed where that is
/// shorter.
fn block(
    channels: &[&ExrChannel],
    columns: usize,
    rows: std::ops::Range<usize>,
) -> io::Result<Vec<u8>> {
    let first = rows.start;
    let mut plain = Vec::with_capacity(rows.len() * columns * channels.len() * 4);
    for row in rows {
        for channel in channels {
            for column in 0..columns {
                plain.extend(channel.data.bytes(row * columns + column));
            }
        }
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&predicted(&plain))?;
    let packed = encoder.finish()?;
    let content = if packed.len() < plain.len() {
        packed
    } else {
        plain
    };
    let mut block = (first as i32).to_le_bytes().to_vec();
    block.extend((content.len() as i32).to_le_bytes());
    block.extend(content);
    Ok(block)
}

/// Even bytes before odd ones, each less the one before it: what packs well.
fn predicted(plain: &[u8]) -> Vec<u8> {
    let even = plain.iter().step_by(2);
    let odd = plain.iter().skip(1).step_by(2);
    let mut bytes: Vec<u8> = even.chain(odd).copied().collect();
    for i in (1..bytes.len()).rev() {
        bytes[i] = bytes[i].wrapping_sub(bytes[i - 1]).wrapping_add(128);
    }
    bytes
}
