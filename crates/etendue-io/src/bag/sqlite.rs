//! Reader of the tables of an SQLite 3 file: the subset of the format
//! (<https://www.sqlite.org/fileformat2.html>) that ROS 2 bags use.

/// The pages of an SQLite file.
pub(super) struct Database<'a> {
    bytes: &'a [u8],
    page_size: usize,
    /// Usable bytes of a page; the remaining bytes are reserved.
    usable: usize,
}

/// One row: its identifier and its columns.
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

/// Maximum depth of a tree of pages.
const DEEPEST: usize = 40;

/// State of a walk through the pages of a table.
struct Walk {
    /// Whether each page was visited, by its number.
    visited: Vec<bool>,
    depth: usize,
    /// Bytes of the records that the file can still contain.
    left: usize,
}

impl Walk {
    fn of(database: &Database) -> Self {
        Self {
            visited: vec![false; database.bytes.len() / database.page_size + 1],
            depth: 0,
            left: database.bytes.len(),
        }
    }
}

/// Types of table pages.
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;

impl<'a> Database<'a> {
    /// A database; `None` if the header is invalid.
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

    /// Calls `visit` with the rows of a table in ascending order. `None` if the table does not
    /// exist or one of its pages is damaged or truncated; rows before the damage are visited.
    pub fn rows(&self, table: &str, visit: &mut impl FnMut(Row)) -> Option<()> {
        // The first page is the schema table: type, name, table, root page, definition.
        let mut first = None;
        self.walk(1, &mut Walk::of(self), &mut |row: Row| {
            let [kind, name, _, page, ..] = &row.columns[..] else {
                return;
            };
            if kind.text() == Some("table") && name.text() == Some(table) {
                first = page.integer();
            }
        })?;
        let root = usize::try_from(first?).ok()?;
        self.walk(root, &mut Walk::of(self), visit)
    }

    fn page(&self, number: usize) -> Option<&'a [u8]> {
        let start = number.checked_sub(1)?.checked_mul(self.page_size)?;
        self.bytes.get(start..start.checked_add(self.page_size)?)
    }

    fn walk(&self, number: usize, walk: &mut Walk, visit: &mut impl FnMut(Row)) -> Option<()> {
        let page = self.page(number)?;
        // A page has one parent
        if std::mem::replace(walk.visited.get_mut(number)?, true) || walk.depth > DEEPEST {
            return None;
        }
        walk.depth += 1;
        let header = if number == 1 { 100 } else { 0 };
        let kind = *page.get(header)?;
        let cells = usize::from(u16_at(page, header + 3)?);
        let pointers = header + if kind == INTERIOR { 12 } else { 8 };
        for cell in 0..cells {
            let at = usize::from(u16_at(page, pointers + 2 * cell)?);
            match kind {
                INTERIOR => self.walk(u32_at(page, at)? as usize, walk, visit)?,
                LEAF => visit(self.row(page.get(at..)?, &mut walk.left)?),
                _ => return None,
            }
        }
        if kind == INTERIOR {
            self.walk(u32_at(page, header + 8)? as usize, walk, visit)?;
        }
        walk.depth -= 1;
        Some(())
    }

    /// Decodes a cell of a leaf: size, identifier, record.
    fn row(&self, mut cell: &[u8], left: &mut usize) -> Option<Row> {
        let size = usize::try_from(varint(&mut cell)?).ok()?;
        *left = left.checked_sub(size)?;
        let number = varint(&mut cell)?;
        let record = self.payload(cell, size)?;
        Some(Row {
            number,
            columns: columns(&record)?,
        })
    }

    /// The bytes of a record; large records continue on overflow pages.
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

/// Decodes the columns of a record: serial types, then values.
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

/// A big-endian two's complement integer of any length.
fn integer(bytes: &[u8]) -> i64 {
    let is_negative = bytes.first().is_some_and(|byte| *byte >= 128);
    let sign = if is_negative { -1 } else { 0 };
    bytes
        .iter()
        .fold(sign, |value, byte| (value << 8) | i64::from(*byte))
}

/// Decodes the value of a serial type at the start of `bytes` and advances `bytes`.
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

/// Decodes a variable-length integer of one to nine bytes: seven bits each, eight in the ninth.
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
