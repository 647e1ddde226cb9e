//! Serialisation of ROS 2 messages: CDR, little endian.

/// Writer of one message. Numbers are aligned to their size, relative to the end of the 4-byte
/// encapsulation header.
pub(super) struct CdrWriter {
    bytes: Vec<u8>,
}

/// Reader of one message.
pub(crate) struct CdrReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Encapsulation header of little-endian CDR.
const HEADER: [u8; 4] = [0, 1, 0, 0];

impl CdrWriter {
    pub fn new() -> Self {
        Self {
            bytes: HEADER.into(),
        }
    }

    fn align(&mut self, size: usize) {
        while !(self.bytes.len() - HEADER.len()).is_multiple_of(size) {
            self.bytes.push(0);
        }
    }

    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.align(2);
        self.bytes.extend(value.to_le_bytes());
        self
    }

    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.align(4);
        self.bytes.extend(value.to_le_bytes());
        self
    }

    pub fn f32(&mut self, value: f32) -> &mut Self {
        self.u32(value.to_bits())
    }

    pub fn f64(&mut self, value: f64) -> &mut Self {
        self.align(8);
        self.bytes.extend(value.to_le_bytes());
        self
    }

    /// Writes a length as 32 bits.
    pub fn length(&mut self, length: usize) -> &mut Self {
        self.u32(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// Writes a string with its terminating zero.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.length(text.len() + 1);
        self.bytes.extend(text.bytes());
        self.u8(0)
    }

    /// Writes a sequence of bytes.
    pub fn blob(&mut self, blob: &[u8]) -> &mut Self {
        self.length(blob.len());
        self.bytes.extend(blob);
        self
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

impl<'a> CdrReader<'a> {
    /// A reader of a message. `None` if the message is not little-endian CDR.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let body = bytes.strip_prefix(&HEADER)?;
        Some(Self { bytes: body, at: 0 })
    }

    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.at = self.at.next_multiple_of(2);
        let bytes = self.take(2)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.at = self.at.next_multiple_of(4);
        let bytes = self.take(4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub fn f64(&mut self) -> Option<f64> {
        self.at = self.at.next_multiple_of(8);
        let bytes = self.take(8)?;
        Some(f64::from_le_bytes(*bytes.first_chunk()?))
    }

    /// Reads a sequence of 32-bit floats.
    pub fn floats(&mut self) -> Option<Vec<f32>> {
        let count = self.u32()? as usize;
        let bytes = self.take(count.checked_mul(4)?)?;
        let float = |bytes: &[u8]| Some(f32::from_le_bytes(*bytes.first_chunk()?));
        bytes.chunks_exact(4).map(float).collect()
    }

    /// Reads a stamp, s.
    pub fn stamp(&mut self) -> Option<f64> {
        let seconds = self.u32()?;
        let nanoseconds = self.u32()?;
        Some(f64::from(seconds) + 1e-9 * f64::from(nanoseconds))
    }

    pub fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        let bytes = self.take(length)?;
        let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        String::from_utf8(text.to_vec()).ok()
    }

    /// Offset of the first byte of a byte sequence in the message, including the header.
    pub fn blob_start(&mut self) -> Option<usize> {
        let length = self.u32()? as usize;
        let start = self.at + HEADER.len();
        self.take(length).map(|_| start)
    }

    pub fn blob(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_from_after_the_header() {
        let mut message = CdrWriter::new();
        message.u8(7).f64(1.5).text("ab").u32(9);
        let bytes = message.finish();
        // 4 header, 1 + 7 padding, 8, then 4 length, 3 text, 1 padding, 4.
        assert_eq!(bytes.len(), 4 + 8 + 8 + 4 + 3 + 1 + 4);
        assert_eq!(&bytes[12..20], &1.5_f64.to_le_bytes());
        let mut reader = CdrReader::new(&bytes[..]).expect("little endian");
        assert_eq!(reader.u8(), Some(7));
        assert!(reader.take(15).is_some());
        assert_eq!(reader.text().as_deref(), Some("ab"));
        assert_eq!(reader.u32(), Some(9));
        assert_eq!(reader.u32(), None);
    }
}
