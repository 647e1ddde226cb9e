//! Reader of the primitive values of a serialised ROS message.

use crate::little_endian::LittleEndian;
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

/// The serialisation of ROS 1.
impl<'a> MessageReader<'a> for LittleEndian<'a> {
    fn u8(&mut self) -> Option<u8> {
        Self::u8(self)
    }

    fn u32(&mut self) -> Option<u32> {
        Self::u32(self)
    }

    fn f64(&mut self) -> Option<f64> {
        Self::f64(self)
    }

    fn blob(&mut self) -> Option<&'a [u8]> {
        Self::blob(self)
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        self.take(length)
    }

    fn text(&mut self) -> Option<String> {
        Self::text(self)
    }

    fn header(&mut self) -> Option<(f64, String)> {
        let _sequence = Self::u32(self)?;
        Some((self.stamp()?, Self::text(self)?))
    }

    fn floats(&mut self) -> Option<Vec<f32>> {
        let count = Self::u32(self)? as usize;
        let bytes = self.take(count.checked_mul(4)?)?;
        let float = |bytes: &[u8]| Some(f32::from_le_bytes(*bytes.first_chunk()?));
        bytes.chunks_exact(4).map(float).collect()
    }
}
