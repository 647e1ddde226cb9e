//! Points as binary records of equal size.

use super::EditableScan;
use crate::FormatError;
use crate::precision::single;
use nalgebra::Point3;
use std::path::Path;

/// Type of a stored number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl NumberType {
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Floating-point type of a ROS `PointField`; `None` for integers.
    pub fn of_ros(datatype: u8) -> Option<Self> {
        Some(match datatype {
            7 => Self::F32,
            8 => Self::F64,
            _ => return None,
        })
    }
}

/// Byte positions and type of one number of each point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteColumn {
    start: usize,
    step: usize,
    kind: NumberType,
    is_big_endian: bool,
}

impl ByteColumn {
    /// Little-endian column that begins at byte `start` with a stride of `step` bytes.
    pub fn new(start: usize, step: usize, kind: NumberType) -> Self {
        Self {
            start,
            step,
            kind,
            is_big_endian: false,
        }
    }

    /// The column in big-endian byte order if `is_big_endian`.
    pub fn ordered(mut self, is_big_endian: bool) -> Self {
        self.is_big_endian = is_big_endian;
        self
    }

    /// End of the last of `points` numbers, bytes; `None` if it overflows.
    fn end(&self, points: usize) -> Option<usize> {
        let last = self.step.checked_mul(points.saturating_sub(1))?;
        self.start.checked_add(last)?.checked_add(self.kind.size())
    }

    /// Whether the type is floating-point and the bytes contain `points` numbers.
    pub fn fits(&self, bytes: &[u8], points: usize) -> bool {
        let is_within = self.end(points).is_some_and(|end| end <= bytes.len());
        points == 0 || is_within && self.is_real() && (self.step > 0 || points == 1)
    }

    /// Whether the type is floating-point; integers are not changed.
    fn is_real(&self) -> bool {
        matches!(self.kind, NumberType::F32 | NumberType::F64)
    }

    pub fn get(&self, bytes: &[u8], point: usize) -> f64 {
        let at = self.start + self.step * point;
        match self.kind {
            NumberType::F32 => f64::from(f32::from_le_bytes(self.array_at(bytes, at))),
            NumberType::F64 => f64::from_le_bytes(self.array_at(bytes, at)),
            NumberType::I8 => f64::from(i8::from_le_bytes(self.array_at(bytes, at))),
            NumberType::U8 => f64::from(bytes[at]),
            NumberType::I16 => f64::from(i16::from_le_bytes(self.array_at(bytes, at))),
            NumberType::U16 => f64::from(u16::from_le_bytes(self.array_at(bytes, at))),
            NumberType::I32 => f64::from(i32::from_le_bytes(self.array_at(bytes, at))),
            NumberType::U32 => f64::from(u32::from_le_bytes(self.array_at(bytes, at))),
        }
    }

    fn array_at<const N: usize>(&self, bytes: &[u8], at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&bytes[at..at + N]);
        if self.is_big_endian {
            array.reverse();
        }
        array
    }

    pub fn set(&self, bytes: &mut [u8], point: usize, value: f64) {
        let at = self.start + self.step * point;
        match self.kind {
            NumberType::F32 => self.write_at(bytes, at, single(value).to_le_bytes()),
            NumberType::F64 => self.write_at(bytes, at, value.to_le_bytes()),
            _ => {}
        }
    }

    fn write_at<const N: usize>(&self, bytes: &mut [u8], at: usize, mut value: [u8; N]) {
        if self.is_big_endian {
            value.reverse();
        }
        bytes[at..at + N].copy_from_slice(&value);
    }
}

/// A file with binary records.
pub(crate) struct Records {
    bytes: Vec<u8>,
    points: usize,
    position: [ByteColumn; 3],
    range: Option<ByteColumn>,
}

impl Records {
    /// A file with records. `None` if the bytes end before the points, or positions are integers.
    pub fn new(
        bytes: Vec<u8>,
        points: usize,
        position: [ByteColumn; 3],
        range: Option<ByteColumn>,
    ) -> Option<Self> {
        let fits = position.iter().all(|c| c.fits(&bytes, points));
        let range = range.filter(|c| c.fits(&bytes, points));
        fits.then_some(Self {
            bytes,
            points,
            position,
            range,
        })
    }

    /// Bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl EditableScan for Records {
    fn points(&self) -> Vec<Point3<f64>> {
        let point = |i| Point3::from(self.position.map(|c| c.get(&self.bytes, i)));
        (0..self.points).map(point).collect()
    }

    fn set_points(&mut self, points: &[Point3<f64>]) {
        for (i, point) in points.iter().enumerate().take(self.points) {
            let before = Point3::from(self.position.map(|c| c.get(&self.bytes, i)));
            if before == *point {
                continue;
            }
            for (axis, column) in self.position.iter().enumerate() {
                column.set(&mut self.bytes, i, point[axis]);
            }
            if let Some(range) = self.range
                && is_distance(range.get(&self.bytes, i), &before)
            {
                range.set(&mut self.bytes, i, point.coords.norm());
            }
        }
    }

    fn bytes(&self, _: &Path) -> Result<Vec<u8>, FormatError> {
        Ok(self.bytes.clone())
    }
}

/// Whether `range` is the distance of `point` from the origin within 1 mm. Such a range is updated
/// with the point.
pub(crate) fn is_distance(range: f64, point: &Point3<f64>) -> bool {
    (range - point.coords.norm()).abs() < 1e-3
}
