//! Reader of the primitive values of a serialised ROS message.

use crate::ros2::CdrReader;

/// The primitive values of a message, in order. Every method returns `None` at the end of the
/// message.
pub(super) trait MessageReader<'a> {
    fn u8(&mut self) -> Option<u8>;
    fn u32(&mut self) -> Option<u32>;
    fn f64(&mut self) -> Option<f64>;
    /// A byte array of a fixed length.
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]>;
    /// A byte sequence with its length.
    fn blob(&mut self) -> Option<&'a [u8]>;
    fn text(&mut self) -> Option<String>;
    /// A message header: its stamp, s, and its frame.
    fn header(&mut self) -> Option<(f64, String)>;

    fn f32(&mut self) -> Option<f32> {
        self.u32().map(f32::from_bits)
    }

    /// A sequence of 32-bit floats.
    fn floats(&mut self) -> Option<Vec<f32>>;

    /// A stamp, s.
    fn stamp(&mut self) -> Option<f64> {
        let seconds = self.u32()?;
        let nanoseconds = self.u32()?;
        Some(f64::from(seconds) + 1e-9 * f64::from(nanoseconds))
    }
}

impl<'a> MessageReader<'a> for CdrReader<'a> {
    fn u8(&mut self) -> Option<u8> {
        Self::u8(self)
    }

    fn u32(&mut self) -> Option<u32> {
        Self::u32(self)
    }

    fn f64(&mut self) -> Option<f64> {
        Self::f64(self)
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        self.take(length)
    }

    fn blob(&mut self) -> Option<&'a [u8]> {
        Self::blob(self)
    }

    fn text(&mut self) -> Option<String> {
        Self::text(self)
    }

    fn header(&mut self) -> Option<(f64, String)> {
        Some((self.stamp()?, self.text()?))
    }

    fn floats(&mut self) -> Option<Vec<f32>> {
        Self::floats(self)
    }
}

/// Reader of the serialisation of ROS 1: little endian, without alignment.
pub(super) struct Ros1Reader<'a>(pub &'a [u8]);

impl Ros1Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }
}

impl<'a> MessageReader<'a> for Ros1Reader<'a> {
    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    fn blob(&mut self) -> Option<&'a [u8]> {
        let length = MessageReader::u32(self)? as usize;
        self.bytes(length)
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.blob()?.to_vec()).ok()
    }

    fn header(&mut self) -> Option<(f64, String)> {
        let _sequence = MessageReader::u32(self)?;
        Some((self.stamp()?, self.text()?))
    }

    fn floats(&mut self) -> Option<Vec<f32>> {
        let count = MessageReader::u32(self)? as usize;
        let (bytes, rest) = self.0.split_at_checked(count.checked_mul(4)?)?;
        self.0 = rest;
        let float = |bytes: &[u8]| Some(f32::from_le_bytes(*bytes.first_chunk()?));
        bytes.chunks_exact(4).map(float).collect()
    }
}
