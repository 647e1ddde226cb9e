//! NumPy arrays (the NPY format, versions 1 to 3), as in NPZ archives.
//!
//! A header in the syntax of a Python dictionary precedes the values and describes their type,
//! order and shape.

use std::io::{self, Read, Write};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Alignment of the first value, bytes; the header is padded to it.
const ALIGNMENT: usize = 64;

/// Number type of an array.
pub(crate) trait Element: Sized {
    /// Kind in NumPy's notation: `f`, `i` or `u`.
    const KIND: char;
    /// Appends the number, little endian.
    fn write(&self, output: &mut impl Write) -> io::Result<()>;
    /// Decodes a number in the byte order of the array.
    fn from_bytes(bytes: &[u8], order: ByteOrder) -> Self;
}

/// Byte order of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

macro_rules! elements {
    ($($number:ty: $kind:literal),*) => {$(
        impl Element for $number {
            const KIND: char = $kind;

            fn write(&self, output: &mut impl Write) -> io::Result<()> {
                output.write_all(&self.to_le_bytes())
            }

            fn from_bytes(bytes: &[u8], order: ByteOrder) -> Self {
                let mut array = [0; size_of::<$number>()];
                array.copy_from_slice(bytes);
                match order {
                    ByteOrder::Little => Self::from_le_bytes(array),
                    ByteOrder::Big => Self::from_be_bytes(array),
                }
            }
        }
    )*};
}
elements!(f32: 'f', f64: 'f', u8: 'u', u16: 'u', u32: 'u', u64: 'u', i8: 'i', i16: 'i', i32: 'i', i64: 'i');

/// Writes an array in C order.
///
/// # Errors
/// If `output` cannot be written.
pub(crate) fn write_array<T: Element>(
    output: &mut impl Write,
    shape: &[u64],
    values: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    let order = if size_of::<T>() == 1 { "|" } else { "<" };
    let kind = T::KIND;
    let size = size_of::<T>();
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    let lengths = lengths.join(", ") + if shape.is_empty() { "" } else { ", " };
    let header = format!(
        "{{'descr': '{order}{kind}{size}', 'fortran_order': False, 'shape': ({lengths}), }}"
    );
    // Write magic number, version, length of the header, header, padding and line feed
    let unpadded = MAGIC.len() + 2 + 2 + header.len() + 1;
    let padding = unpadded.next_multiple_of(ALIGNMENT) - unpadded;
    let length = u16::try_from(header.len() + padding + 1).map_err(io::Error::other)?;
    output.write_all(MAGIC)?;
    output.write_all(&[1, 0])?;
    output.write_all(&length.to_le_bytes())?;
    writeln!(output, "{header}{:padding$}", "")?;
    values.into_iter().try_for_each(|value| value.write(output))
}

/// An array as stored.
pub(crate) struct StoredArray {
    /// Kind of the numbers in NumPy's notation; a space for other types.
    pub kind: char,
    /// Bytes per number.
    pub size: usize,
    /// Length along each axis.
    pub shape: Vec<u64>,
    order: ByteOrder,
    values: Vec<u8>,
}

impl StoredArray {
    /// Reads an array to its end.
    ///
    /// # Errors
    /// If the array is truncated or its header is invalid.
    pub(crate) fn read(input: &mut impl Read) -> io::Result<Self> {
        // Read shape and type from the header
        let header = read_header(input)?;
        let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let shape = entry(&header, "shape").ok_or_else(|| damaged("the header has no shape"))?;
        let shape = parse_shape(shape).ok_or_else(|| damaged("the shape is damaged"))?;
        let description = entry(&header, "descr");
        let description = description.ok_or_else(|| damaged("the header has no descr"))?;
        let (order, kind, size) = parse_type(description).unwrap_or((ByteOrder::Little, ' ', 0));
        // Read the bytes
        let count = shape
            .iter()
            .try_fold(1u64, |count, length| count.checked_mul(*length));
        let length = count.and_then(|count| count.checked_mul(size as u64));
        let length = length.ok_or_else(|| damaged("the shape is too large"))?;
        let mut values = Vec::new();
        input.take(length).read_to_end(&mut values)?;
        if values.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // Sort arrays in Fortran order, such as transposed ones
        let is_fortran =
            entry(&header, "fortran_order").is_some_and(|text| text.starts_with("True"));
        if is_fortran {
            values = in_c_order(&values, &shape, size);
        }
        Ok(Self {
            kind,
            size,
            shape,
            order,
            values,
        })
    }

    /// The numbers in C order; `T` must match `kind` and `size`.
    pub(crate) fn numbers<T: Element>(&self) -> impl Iterator<Item = T> {
        let values = self.values.chunks_exact(size_of::<T>());
        values.map(|bytes| T::from_bytes(bytes, self.order))
    }
}

/// The bytes of an array in Fortran order (the first axis varies fastest) in C order (the last one does). Numbers have `size` bytes.
fn in_c_order(values: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    let mut index = vec![0; shape.len()];
    let mut sorted = Vec::with_capacity(values.len());
    while sorted.len() < values.len() {
        // Copy the number at the index
        let axes = index.iter().zip(shape);
        let place = axes
            .rev()
            .fold(0, |place, (at, length)| place * length + at);
        let place = usize::try_from(place).unwrap_or(usize::MAX) * size;
        sorted.extend_from_slice(&values[place..place + size]);
        // Advance the index
        for (at, length) in index.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < *length {
                break;
            }
            *at = 0;
        }
    }
    sorted
}

fn read_header(input: &mut impl Read) -> io::Result<String> {
    let mut start = [0; 8];
    input.read_exact(&mut start)?;
    if !start.starts_with(MAGIC) {
        let message = "an array does not begin with NumPy's magic number";
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut length = [0; 4];
    let width = if start[6] == 1 { 2 } else { 4 };
    input.read_exact(&mut length[..width])?;
    let mut header = Vec::new();
    let length = u32::from_le_bytes(length);
    input.take(u64::from(length)).read_to_end(&mut header)?;
    String::from_utf8(header).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The text after the key of an entry, to the end of the header.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let quoted = ['\'', '"'].map(|quote| format!("{quote}{key}{quote}"));
    let (start, quoted) = quoted
        .iter()
        .find_map(|quoted| header.find(quoted.as_str()).map(|start| (start, quoted)))?;
    let rest = header[start + quoted.len()..].trim_start();
    Some(rest.strip_prefix(':')?.trim_start())
}

/// Parses the lengths of a tuple, for example `(2, 3)`.
fn parse_shape(text: &str) -> Option<Vec<u64>> {
    let (lengths, _) = text.strip_prefix('(')?.split_once(')')?;
    let lengths = lengths.split(',').map(str::trim);
    let lengths = lengths.filter(|length| !length.is_empty());
    // Python 2 appends an L to long integers.
    lengths
        .map(|length| length.trim_end_matches('L').parse().ok())
        .collect()
}

/// Byte order, kind and size of a number type, for example `'<f8'`; `None` for other types.
fn parse_type(text: &str) -> Option<(ByteOrder, char, usize)> {
    let quote = text
        .chars()
        .next()
        .filter(|first| matches!(first, '\'' | '"'))?;
    let (name, _) = text[1..].split_once(quote)?;
    let mut letters = name.chars();
    let order = match letters.next()? {
        '<' | '|' => ByteOrder::Little,
        '>' => ByteOrder::Big,
        _ => return None,
    };
    let kind = letters.next()?;
    Some((order, kind, letters.as_str().parse().ok()?))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_written_array_is_read_back() {
        let mut bytes = Vec::new();
        write_array(
            &mut bytes,
            &[2, 3],
            [1.5, -2.0, 0.0, 4.0, 5.0, f64::INFINITY],
        )
        .unwrap();
        assert_eq!(bytes.len() % ALIGNMENT, 6 * 8 % ALIGNMENT);
        let array = StoredArray::read(&mut &bytes[..]).unwrap();
        assert_eq!((array.kind, array.size), ('f', 8));
        assert_eq!(array.shape, [2, 3]);
        let values: Vec<f64> = array.numbers().collect();
        assert_eq!(values, [1.5, -2.0, 0.0, 4.0, 5.0, f64::INFINITY]);
    }

    #[test]
    fn headers_of_other_writers_are_read() {
        let header = b"{\"descr\": '>i2', 'fortran_order': False, 'shape': (2L,)}\n";
        let mut bytes = b"\x93NUMPY\x02\0".to_vec();
        bytes.extend(u32::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header);
        bytes.extend([0, 1, 255, 254]);
        let array = StoredArray::read(&mut &bytes[..]).unwrap();
        assert_eq!(array.numbers::<i16>().collect::<Vec<_>>(), [1, -2]);
    }

    /// NumPy stores transposed arrays with the first axis fastest.
    #[test]
    fn transposed_arrays_are_read_in_c_order() {
        let header = b"{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3, 2), }\n";
        let mut bytes = b"\x93NUMPY\x02\0".to_vec();
        bytes.extend(u32::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header);
        // The number at [i, j, k] is 100 i + 10 j + k
        for k in 0..2_u16 {
            for j in 0..3 {
                for i in 0..2 {
                    bytes.extend((100 * i + 10 * j + k).to_le_bytes());
                }
            }
        }
        let array = StoredArray::read(&mut &bytes[..]).unwrap();
        let expected = [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121];
        assert_eq!(array.numbers::<u16>().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_truncated_array_is_an_error() {
        let mut bytes = Vec::new();
        write_array(&mut bytes, &[3], [1u16, 2, 3]).unwrap();
        for length in 0..bytes.len() {
            assert!(StoredArray::read(&mut &bytes[..length]).is_err());
        }
    }
}
