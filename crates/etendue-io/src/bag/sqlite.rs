//! The tables of an SQLite 3 file, read alone: as much of its format
//! (<https://www.sqlite.org/fileformat2.html>) as a ROS 2 bag takes.

/// A file's pages.
pub(super) struct Database<'a> {
    bytes: &'a [u8],
    page_size: usize,
    /// Used bytes of a page; the rest is reserved.
    usable: usize,
}

/// One row: its number, and its columns.
pub(super) struct Row {
    pub number: i64,
    pub columns: Vec<Value>,
}

/// Value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub fn blob(&self) -> Option<&[u8]> {
        match self {
            Self::Blob(blob) => Some(blob),
            _ => None,
        }
    }
}

/// Trees of pages are never so deep.
const DEEPEST: usize = 40;

/// Kinds of pages.
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;

impl<'a> Database<'a> {
    /// None where the header makes no sense.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let page_size = match usize::from(u16_at(bytes, 16)?) {
            1 => 65_536,
            size => size,
        };
        let usable = page_size.checked_sub(usize::from(*bytes.get(20)?))?;
        (page_size >= 512 && usable >= 480).then_some(Self {
            bytes,
            page_size,
            usable,
        })
    }

    /// The rows of a table by ascending number, each given to `visit`; none where the table is not
    /// there or a page of it is damaged or truncated, what came before has been visited then.
    pub fn rows(&self, table: &str, visit: &mut impl FnMut(Row)) -> Option<()> {
        // The first page lists the tables: type, name, table, first page, definition.
        let mut first = None;
        self.walk(1, 0, &mut |row: Row| {
            let [kind, name, _, page, ..] = &row.columns[..] else {
                return;
            };
            if kind.text() == Some("table") && name.text() == Some(table) {
                first = page.integer();
            }
        })?;
        self.walk(usize::try_from(first?).ok()?, 0, visit)
    }

    fn page(&self, number: usize) -> Option<&'a [u8]> {
        let start = number.checked_sub(1)?.checked_mul(self.page_size)?;
        self.bytes.get(start..start.checked_add(self.page_size)?)
    }

    fn walk(&self, number: usize, depth: usize, visit: &mut impl FnMut(Row)) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let page = self.page(number)?;
        let header = if number == 1 { 100 } else { 0 };
        let kind = *page.get(header)?;
        let cells = usize::from(u16_at(page, header + 3)?);
        let pointers = header + if kind == INTERIOR { 12 } else { 8 };
        for cell in 0..cells {
            let at = usize::from(u16_at(page, pointers + 2 * cell)?);
            match kind {
                INTERIOR => self.walk(u32_at(page, at)? as usize, depth + 1, visit)?,
                LEAF => visit(self.row(page.get(at..)?)?),
                _ => return None,
            }
        }
        if kind == INTERIOR {
            self.walk(u32_at(page, header + 8)? as usize, depth + 1, visit)?;
        }
        Some(())
    }

    /// A cell of a leaf: size, number, record.
    fn row(&self, mut cell: &[u8]) -> Option<Row> {
        let size = usize::try_from(varint(&mut cell)?).ok()?;
        let number = varint(&mut cell)?;
        let record = self.payload(cell, size)?;
        Some(Row {
            number,
            columns: columns(&record)?,
        })
    }

    /// A record, of which large ones go on in pages of their own.
    fn payload(&self, cell: &[u8], size: usize) -> Option<Vec<u8>> {
        let most = self.usable - 35;
        if size <= most {
            return Some(cell.get(..size)?.to_vec());
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let share = least + (size - least) % (self.usable - 4);
        let local = if share <= most { share } else { least };
        let mut record = cell.get(..local)?.to_vec();
        let mut next = u32_at(cell, local)? as usize;
        while record.len() < size {
            let page = self.page(next)?;
            let rest = (size - record.len()).min(self.usable - 4);
            record.extend(page.get(4..4 + rest)?);
            next = u32_at(page, 0)? as usize;
        }
        Some(record)
    }
}

/// A record's columns: their types, then their values.
fn columns(record: &[u8]) -> Option<Vec<Value>> {
    let mut kinds = record;
    let header = usize::try_from(varint(&mut kinds)?).ok()?;
    let used = record.len() - kinds.len();
    let mut kinds = kinds.get(..header.checked_sub(used)?)?;
    let mut values = record.get(header..)?;
    let mut columns = Vec::new();
    while !kinds.is_empty() {
        columns.push(value(varint(&mut kinds)?, &mut values)?);
    }
    Some(columns)
}

/// A big-endian integer in two's complement of any number of bytes.
fn integer(bytes: &[u8]) -> i64 {
    let is_negative = bytes.first().is_some_and(|byte| *byte >= 128);
    let sign = if is_negative { -1 } else { 0 };
    bytes
        .iter()
        .fold(sign, |value, byte| (value << 8) | i64::from(*byte))
}

/// The value of a serial type of SQLite at the start of `bytes`, which lose it.
fn value(serial_type: i64, bytes: &mut &[u8]) -> Option<Value> {
    let mut take = |length: usize| -> Option<&[u8]> {
        let (value, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Some(value)
    };
    Some(match serial_type {
        0 => Value::Null,
        1..=4 => Value::Integer(integer(take(usize::try_from(serial_type).ok()?)?)),
        5 => Value::Integer(integer(take(6)?)),
        6 => Value::Integer(integer(take(8)?)),
        7 => Value::Real(f64::from_be_bytes(take(8)?.try_into().ok()?)),
        8 | 9 => Value::Integer(serial_type - 8),
        12.. => {
            let length = usize::try_from((serial_type - 12) / 2).ok()?;
            let bytes = take(length)?;
            if serial_type % 2 == 0 {
                Value::Blob(bytes.to_vec())
            } else {
                Value::Text(String::from_utf8_lossy(bytes).into_owned())
            }
        }
        _ => return None,
    })
}

/// A number of one to nine bytes, seven bits each but for the ninth.
fn varint(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0_i64;
    for count in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if count == 8 {
            return Some((value << 8) | i64::from(*byte));
        }
        value = (value << 7) | i64::from(byte & 127);
        if *byte < 128 {
            break;
        }
    }
    Some(value)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
