//! Structures of Thrift's compact protocol, read.
//!
//! Source: the Thrift compact protocol specification.

/// Deepest nesting that is followed.
const DEEPEST: usize = 16;

/// A value.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Bool(bool),
    Int(i64),
    Bytes(&'a [u8]),
    List(Vec<Value<'a>>),
    Struct(Vec<(i64, Value<'a>)>),
    /// A floating-point number or a map, which no field that is read here is.
    Other,
}

impl<'a> Value<'a> {
    /// A field of a structure.
    pub fn field(&self, number: i64) -> Option<&Value<'a>> {
        let Self::Struct(fields) = self else {
            return None;
        };
        let found = fields.iter().find(|(own, _)| *own == number);
        found.map(|(_, value)| value)
    }

    pub fn int(&self, field: i64) -> Option<i64> {
        match self.field(field)? {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A count: not negative.
    pub fn count(&self, field: i64) -> Option<usize> {
        usize::try_from(self.int(field)?).ok()
    }

    pub fn bool(&self, field: i64) -> Option<bool> {
        match self.field(field)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<String> {
        match self {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// A list's elements; none where there is no list.
    pub fn list(&self, field: i64) -> &[Value<'a>] {
        match self.field(field) {
            Some(Value::List(values)) => values,
            _ => &[],
        }
    }
}

/// Reads on from a place in some bytes.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// How many bytes have been read.
    pub at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A whole structure, or nothing where the bytes are none.
    pub fn structure(&mut self) -> Option<Value<'a>> {
        self.fields(0)
    }

    fn fields(&mut self, depth: usize) -> Option<Value<'a>> {
        let mut fields = Vec::new();
        let mut number = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(Value::Struct(fields));
            }
            number = match head >> 4 {
                0 => unzigzag(self.varint()?),
                step => number + i64::from(step),
            };
            let value = match head & 0xf {
                1 => Value::Bool(true),
                2 => Value::Bool(false),
                kind => self.value(kind, depth)?,
            };
            fields.push((number, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Value<'a>> {
        if depth > DEEPEST {
            return None;
        }
        Some(match kind {
            1 | 2 => Value::Bool(self.byte()? == 1),
            3 => Value::Int(i64::from(self.byte()?.cast_signed())),
            4..=6 => Value::Int(unzigzag(self.varint()?)),
            7 => {
                self.take(8)?;
                Value::Other
            }
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            9 | 10 => Value::List(self.elements(depth)?),
            11 => self.map(depth)?,
            12 => self.fields(depth + 1)?,
            _ => return None,
        })
    }

    fn elements(&mut self, depth: usize) -> Option<Vec<Value<'a>>> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        let elements = (0..count).map(|_| self.value(head & 0xf, depth + 1));
        elements.collect()
    }

    fn map(&mut self, depth: usize) -> Option<Value<'a>> {
        let count = self.varint()?;
        if count > 0 {
            let kinds = self.byte()?;
            for _ in 0..count {
                self.value(kinds >> 4, depth + 1)?;
                self.value(kinds & 0xf, depth + 1)?;
            }
        }
        Some(Value::Other)
    }

    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
