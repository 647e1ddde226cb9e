//! Extra bytes of LAS 1.4: fields of points that the file describes in a record.

use crate::table::{ColumnData, ColumnType, PointColumn, PointTable};
use ::las::{Header, Point, Vlr};

/// User and number of the record that describes the fields.
const USER: &str = "LASF_Spec";
const RECORD: u16 = 4;

/// Size of the description of a field, bytes.
const DESCRIPTION: usize = 192;

/// Places in a description: type, options, name, value that marks missing numbers, scale, offset.
const TYPE: usize = 2;
const OPTIONS: usize = 3;
const NAME: usize = 4;
const MISSING: usize = 40;
const SCALE: usize = 112;
const OFFSET: usize = 136;

/// Length of a name, bytes.
const NAME_LENGTH: usize = 32;

/// Bits of the options.
const HAS_MISSING: u8 = 1;
const HAS_SCALE: u8 = 8;
const HAS_OFFSET: u8 = 16;

/// Type of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NumberType {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl NumberType {
    /// All types; the first has the number 1.
    const ALL: [Self; 10] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F32,
        Self::F64,
    ];

    /// The type with a number; `None` for deprecated vectors and bytes without a type.
    fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// The number at the beginning of some bytes.
    fn number(self, bytes: &[u8]) -> Option<f64> {
        Some(match self {
            Self::U8 => f64::from(*bytes.first()?),
            Self::I8 => f64::from(i8::from_le_bytes(*bytes.first_chunk()?)),
            Self::U16 => f64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
            Self::I16 => f64::from(i16::from_le_bytes(*bytes.first_chunk()?)),
            Self::U32 => f64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
            Self::I32 => f64::from(i32::from_le_bytes(*bytes.first_chunk()?)),
            Self::U64 => u64::from_le_bytes(*bytes.first_chunk()?) as f64,
            Self::I64 => i64::from_le_bytes(*bytes.first_chunk()?) as f64,
            Self::F32 => f64::from(f32::from_le_bytes(*bytes.first_chunk()?)),
            Self::F64 => f64::from_le_bytes(*bytes.first_chunk()?),
        })
    }

    /// The number that marks missing values, which has eight bytes in a description.
    fn missing(self, bytes: &[u8]) -> Option<f64> {
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Self::U64,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => Self::I64,
            Self::F32 | Self::F64 => Self::F64,
        }
        .number(bytes)
    }

    /// Type of a column that holds all numbers of this type.
    const fn column(self) -> ColumnType {
        match self {
            Self::U8 | Self::U16 => ColumnType::U16,
            Self::I8 | Self::I16 | Self::I32 => ColumnType::I32,
            Self::U32 => ColumnType::U32,
            Self::F32 => ColumnType::F32,
            Self::U64 | Self::I64 | Self::F64 => ColumnType::F64,
        }
    }
}

/// Size of the values of a type by its number: numbers, or deprecated vectors of two or three; `options` is the number of bytes without
/// a type.
fn size_of_type(number: u8, options: u8) -> Option<usize> {
    match number {
        0 => Some(options.into()),
        1..=30 => {
            let components = usize::from((number - 1) / 10) + 1;
            Some(components * NumberType::of((number - 1) % 10 + 1)?.size())
        }
        _ => None,
    }
}

/// The fields that a file describes, as far as the points have their bytes.
pub(super) fn columns(header: &Header, points: &[Point]) -> Vec<PointColumn> {
    let mut records = header.vlrs().iter().chain(header.evlrs());
    let Some(record) = records.find(|vlr| vlr.user_id == USER && vlr.record_id == RECORD) else {
        return Vec::new();
    };
    let mut columns = Vec::new();
    let mut at = 0;
    for description in record.data.chunks_exact(DESCRIPTION) {
        let [number, options] = [description[TYPE], description[OPTIONS]];
        let Some(size) = size_of_type(number, options) else {
            break;
        };
        if let Some(number) = NumberType::of(number) {
            columns.extend(column(description, number, at, points));
        }
        at += size;
    }
    columns
}

/// The values of a field that begins at a byte; `None` without a name, or if a point is too short.
fn column(
    description: &[u8],
    number: NumberType,
    at: usize,
    points: &[Point],
) -> Option<PointColumn> {
    // Name, scale, offset and missing value
    let name = &description[NAME..NAME + NAME_LENGTH];
    let name = name.split(|byte| *byte == 0).next()?;
    let name = String::from_utf8_lossy(name).trim().to_owned();
    let option = |bit| description[OPTIONS] & bit != 0;
    let of_place = |at: usize| NumberType::F64.number(&description[at..]);
    let scale = of_place(SCALE).filter(|_| option(HAS_SCALE));
    let offset = of_place(OFFSET).filter(|_| option(HAS_OFFSET));
    let missing = number.missing(&description[MISSING..]);
    let missing = missing.filter(|_| option(HAS_MISSING));
    if name.is_empty() {
        return None;
    }

    // Values
    let value = |point: &Point| {
        let stored = number.number(point.extra_bytes.get(at..)?)?;
        Some(if missing == Some(stored) {
            f64::NAN
        } else {
            stored * scale.unwrap_or(1.0) + offset.unwrap_or(0.0)
        })
    };
    let values = points.iter().map(value).collect::<Option<Vec<f64>>>()?;
    let is_plain =
        scale.is_none() && offset.is_none() && values.iter().all(|value| !value.is_nan());
    let is_real = matches!(number, NumberType::F32 | NumberType::F64);
    let kind = if is_plain || is_real && scale.is_none() && offset.is_none() {
        number.column()
    } else {
        ColumnType::of_field(&name, &values)
    };
    Some(PointColumn::new(name, ColumnData::of(kind, values)))
}

/// Fields of a table that LAS has no place for, as extra bytes.
pub(super) struct ExtraBytes<'a> {
    fields: Vec<(&'static str, NumberType, &'a ColumnData)>,
}

/// Fields that are written as extra bytes.
const WRITTEN: [(&str, NumberType); 2] = [("ring", NumberType::U16), ("material", NumberType::I32)];

impl<'a> ExtraBytes<'a> {
    /// The fields of a table.
    pub fn of(table: &'a PointTable) -> Self {
        let field = |(name, number)| Some((name, number, table.column(name)?));
        Self {
            fields: WRITTEN.into_iter().filter_map(field).collect(),
        }
    }

    /// Number of bytes of a point.
    pub fn size(&self) -> u16 {
        let sizes = self.fields.iter().map(|(_, number, _)| number.size());
        u16::try_from(sizes.sum::<usize>()).unwrap_or(u16::MAX)
    }

    /// The record that describes the fields; `None` without fields.
    pub fn record(&self) -> Option<Vlr> {
        let description = |(name, number, _): &(&str, NumberType, &ColumnData)| {
            let mut bytes = vec![0; DESCRIPTION];
            let place = NumberType::ALL.iter().position(|known| known == number);
            bytes[TYPE] = place
                .and_then(|place| u8::try_from(place + 1).ok())
                .unwrap_or(0);
            bytes[NAME..NAME + name.len()].copy_from_slice(name.as_bytes());
            bytes
        };
        (!self.fields.is_empty()).then(|| Vlr {
            user_id: USER.to_owned(),
            record_id: RECORD,
            description: "Extra Bytes Record".to_owned(),
            data: self.fields.iter().flat_map(description).collect(),
        })
    }

    /// The bytes of a point.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates at the range of the field"
    )]
    pub fn of_point(&self, point: usize) -> Vec<u8> {
        let bytes = |(_, number, data): &(&str, NumberType, &ColumnData)| {
            let value = data.number(point).round();
            match number {
                NumberType::U16 => (value as u16).to_le_bytes().to_vec(),
                _ => (value as i32).to_le_bytes().to_vec(),
            }
        };
        self.fields.iter().flat_map(bytes).collect()
    }
}
