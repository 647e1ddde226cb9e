//! Reader of the tables of an SQLite 3 file: the subset of the format
//! (<https://www.sqlite.org/fileformat2.html>) that ROS 2 bags use.

use crate::input::ReadSeek;
use crate::interrupt::Interrupt;
use std::io::SeekFrom;

/// The pages of an SQLite file.
pub(super) struct Database<'a> {
    file: Box<dyn ReadSeek + 'a>,
    /// Size of the file, bytes.
    size: u64,
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

/// Why the rows of a table end before the last.
pub(super) enum RowsEnd {
    /// The table does not exist, or a page is damaged or truncated.
    Damage,
    Visitor(Interrupt),
}

/// Receives the rows of a table.
type VisitRow<'a> = &'a mut dyn FnMut(Row) -> Result<(), Interrupt>;

/// Maximum depth of a tree of pages.
const DEEPEST: usize = 40;

/// State of a walk through the pages of a table.
struct Walk {
    /// Whether each page was visited, by its number.
    visited: Vec<bool>,
    depth: usize,
    /// Bytes of the records that the file can still contain.
    left: u64,
}

impl Walk {
    fn of(database: &Database) -> Self {
        let pages = database.size / database.page_size as u64;
        Self {
            visited: vec![false; usize::try_from(pages).unwrap_or(0) + 1],
            depth: 0,
            left: database.size,
        }
    }
}

/// Types of table pages.
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;

impl<'a> Database<'a> {
    /// A database of `size` bytes; `None` if the header is invalid.
    pub fn new(mut file: Box<dyn ReadSeek + 'a>, size: u64) -> Option<Self> {
        let mut header = [0; 100];
        file.read_exact(&mut header).ok()?;
        let page_size = match usize::from(u16_at(&header, 16)?) {
            1 => 65_536,
            size => size,
        };
        let usable = page_size.checked_sub(usize::from(header[20]))?;
        (page_size >= 512 && usable >= 480).then_some(Self {
            file,
            size,
            page_size,
            usable,
        })
    }

    /// Calls `visit` with the rows of a table in ascending order. Rows before a damage are visited.
    pub fn rows(&mut self, table: &str, visit: VisitRow) -> Result<(), RowsEnd> {
        // The first page is the schema table: type, name, table, root page, definition.
        let mut first = None;
        self.walk(1, &mut Walk::of(self), &mut |row: Row| {
            if let [kind, name, _, page, ..] = &row.columns[..]
                && kind.text() == Some("table")
                && name.text() == Some(table)
            {
                first = page.integer();
            }
            Ok(())
        })?;
        let root = first.and_then(|page| usize::try_from(page).ok());
        self.walk(root.ok_or(RowsEnd::Damage)?, &mut Walk::of(self), visit)
    }

    /// The bytes of a page.
    fn page(&mut self, number: usize) -> Option<Vec<u8>> {
        let start = number.checked_sub(1)?.checked_mul(self.page_size)?;
        let mut page = vec![0; self.page_size];
        self.file.seek(SeekFrom::Start(start as u64)).ok()?;
        self.file.read_exact(&mut page).ok()?;
        Some(page)
    }

    fn walk(&mut self, number: usize, walk: &mut Walk, visit: VisitRow) -> Result<(), RowsEnd> {
        const DAMAGE: RowsEnd = RowsEnd::Damage;
        let page = self.page(number).ok_or(DAMAGE)?;
        // A page has one parent
        let visited = walk.visited.get_mut(number).ok_or(DAMAGE)?;
        if std::mem::replace(visited, true) || walk.depth > DEEPEST {
            return Err(DAMAGE);
        }
        walk.depth += 1;
        let header = if number == 1 { 100 } else { 0 };
        let kind = *page.get(header).ok_or(DAMAGE)?;
        let cells = usize::from(u16_at(&page, header + 3).ok_or(DAMAGE)?);
        let pointers = header + if kind == INTERIOR { 12 } else { 8 };
        let child = |at: usize| u32_at(&page, at).map(|page| page as usize).ok_or(DAMAGE);
        for cell in 0..cells {
            let at = usize::from(u16_at(&page, pointers + 2 * cell).ok_or(DAMAGE)?);
            match kind {
                INTERIOR => self.walk(child(at)?, walk, visit)?,
                LEAF => {
                    let row = page
                        .get(at..)
                        .and_then(|cell| self.row(cell, &mut walk.left));
                    visit(row.ok_or(DAMAGE)?).map_err(RowsEnd::Visitor)?;
                }
                _ => return Err(DAMAGE),
            }
        }
        if kind == INTERIOR {
            self.walk(child(header + 8)?, walk, visit)?;
        }
        walk.depth -= 1;
        Ok(())
    }

    /// Decodes a cell of a leaf: size, identifier, record.
    fn row(&mut self, mut cell: &[u8], left: &mut u64) -> Option<Row> {
        let size = usize::try_from(varint(&mut cell)?).ok()?;
        *left = left.checked_sub(size as u64)?;
        let number = varint(&mut cell)?;
        let record = self.payload(cell, size)?;
        Some(Row {
            number,
            columns: columns(&record)?,
        })
    }

    /// The bytes of a record; large records continue on overflow pages.
    fn payload(&mut self, cell: &[u8], size: usize) -> Option<Vec<u8>> {
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
            next = u32_at(&page, 0)? as usize;
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
