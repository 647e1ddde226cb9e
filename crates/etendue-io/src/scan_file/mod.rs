//! Scans whose points are moved and written back: everything else in the file stays as it is.
//!
//! [`ScanFile`] keeps a file's bytes and knows where in them the coordinates stand, so that what a
//! correction writes has the fields, the types, the encoding and the order of what it read.
//!
//! | format | positions |
//! |---|---|
//! | PCD (ascii, binary) | fields `x y z` |
//! | PLY (text, both byte orders) | properties `x y z` of `vertex` |
//! | LAS, LAZ | coordinates, in the steps of the file |
//! | NPZ | arrays `x`, `y`, `z`, or one array `xyz`, `points` or `positions` of shape (n, 3 or more) |
//! | KITTI `.bin` | the first three of four 4-byte numbers |
//! | CSV, text columns | columns `x y z`, or the first three |
//! | `PointCloud2` in MCAP | fields `x y z`; see [`rewrite_clouds`](crate::ros2::rewrite_clouds) |
//!
//! A field `range` or `range_m` next to them stays equal to the distance from the origin where it
//! was so.

mod las;
mod npz;
mod rows;

use crate::input::read_bytes;
use crate::points::pcd;
use crate::records::{Column, NumberType, Records};
use crate::{FormatError, Place};
use nalgebra::Point3;
use std::path::Path;

/// A scan that can be written back with its points moved.
pub struct ScanFile {
    content: Content,
}

enum Content {
    Records(Records),
    Rows(rows::Rows),
    Npz(npz::Npz),
    Las(Box<las::Las>),
}

/// Endings of files that hold one scan each.
pub const ENDINGS: [&str; 9] = [
    "pcd", "ply", "las", "laz", "npz", "bin", "csv", "txt", "xyz",
];

impl ScanFile {
    /// Reads a scan; the content determines the format; for KITTI and text without a header,
    /// the ending.
    ///
    /// # Errors
    /// Where the file cannot be read, is damaged, has no positions, or is of no known format.
    pub fn read(path: &Path) -> Result<Self, FormatError> {
        Self::parse(path, read_bytes(path)?)
    }

    /// The scan in the content of a file; `path` is named in errors.
    ///
    /// # Errors
    /// As [`ScanFile::read`].
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, FormatError> {
        // Recognise the format by content, then by name
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        let content = if bytes.starts_with(b"ply") {
            of_ply(path, bytes)?
        } else if bytes.starts_with(b"# .PCD") || bytes.starts_with(b"VERSION") {
            of_pcd(path, bytes)?
        } else if bytes.starts_with(b"LASF") {
            Content::Las(Box::new(las::Las::parse(path, &bytes)?))
        } else if bytes.starts_with(b"PK") {
            Content::Npz(npz::Npz::parse(path, &bytes)?)
        } else if ending == "bin" {
            Content::Records(of_kitti(path, bytes)?)
        } else if ["csv", "txt", "xyz"].iter().any(|known| ending == *known) {
            Content::Rows(rows::Rows::of_table(path, &bytes)?)
        } else {
            return Err(FormatError::Unsupported {
                path: path.to_owned(),
                message: "this is no scan that can be written back".into(),
                remedy: format!("give one of: {}", ENDINGS.join(", ")),
            });
        };
        // Refuse a file without points
        let file = Self { content };
        if file.points().is_empty() {
            let message = "the scan holds no point";
            let remedy = "leave it out, or give a scan with points";
            return Err(FormatError::malformed(path, Place::File, message, remedy));
        }
        Ok(file)
    }

    /// The points, m, those that are not finite with them.
    pub fn points(&self) -> Vec<Point3<f64>> {
        match &self.content {
            Content::Records(records) => records.points(),
            Content::Rows(rows) => rows.points(),
            Content::Npz(npz) => npz.points(),
            Content::Las(las) => las.points(),
        }
    }

    /// Moves the points, which are as many as [`ScanFile::points`] gave.
    ///
    /// # Panics
    /// Where they are fewer.
    pub fn set_points(&mut self, points: &[Point3<f64>]) {
        match &mut self.content {
            Content::Records(records) => records.set_points(points),
            Content::Rows(rows) => rows.set_points(points),
            Content::Npz(npz) => npz.set_points(points),
            Content::Las(las) => las.set_points(points),
        }
    }

    /// The file's content as it is now.
    ///
    /// # Errors
    /// Where it cannot be packed again.
    pub fn bytes(&self, path: &Path) -> Result<Vec<u8>, FormatError> {
        match &self.content {
            Content::Records(records) => Ok(records.bytes().to_vec()),
            Content::Rows(rows) => Ok(rows.bytes()),
            Content::Npz(npz) => npz.bytes(path),
            Content::Las(las) => las.bytes(path),
        }
    }
}

const DAMAGED: &str = "the file is truncated or damaged: copy or export it again";

fn without_positions(path: &Path) -> FormatError {
    FormatError::malformed(
        path,
        Place::File,
        "there are no columns x, y and z",
        "export the scan with positions",
    )
}

fn of_pcd(path: &Path, bytes: Vec<u8>) -> Result<Content, FormatError> {
    // Find the fields of position and range
    let header = pcd::Header::read(path, &bytes)?;
    let find = |name: &str| header.fields.iter().position(|field| field.name == name);
    let (Some(x), Some(y), Some(z)) = (find("x"), find("y"), find("z")) else {
        return Err(without_positions(path));
    };
    let range = find("range").or_else(|| find("range_m"));
    // Read a text file by rows
    if header.data == "ascii" {
        let starts = header.starts(|field| field.count);
        let [x, y, z] = [x, y, z].map(|field| starts[field]);
        let range = range.map(|field| starts[field]);
        let rows = rows::Rows::after(path, &bytes, header.body, [x, y, z], range, header.points)?;
        return Ok(Content::Rows(rows));
    }
    // Read a binary file by records
    if header.data != "binary" {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: format!("PCD data of the kind \"{}\" are not read", header.data),
            remedy: "save the scan as ascii or binary (pcl_convert_pcd_ascii_binary)".into(),
        });
    }
    let starts = header.starts(|field| field.size * field.count);
    let step = starts[header.fields.len()];
    let column = |field: usize| {
        let found = &header.fields[field];
        let kind = NumberType::of_pcd(found.kind, found.size)?;
        Some(Column::new(header.body + starts[field], step, kind))
    };
    let columns = [column(x), column(y), column(z)];
    let [Some(x), Some(y), Some(z)] = columns else {
        return Err(without_positions(path));
    };
    let range = range.and_then(column);
    let records = Records::new(bytes, header.points, [x, y, z], range);
    records.map(Content::Records).ok_or_else(|| {
        FormatError::malformed(path, Place::File, "the points are truncated", DAMAGED)
    })
}

fn of_ply(path: &Path, bytes: Vec<u8>) -> Result<Content, FormatError> {
    use crate::ply::header::{self, Layout};
    // Check that the points come first and are plain numbers
    let header = header::parse(path, &bytes)?;
    let Some(vertices) = header.elements.first().filter(|e| e.name == "vertex") else {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "the element \"vertex\" is not the first".into(),
            remedy: "export the scan with its points first".into(),
        });
    };
    if vertices
        .properties
        .iter()
        .any(|property| property.length.is_some())
    {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "points with lists are not written back".into(),
            remedy: "export the scan with one number a property".into(),
        });
    }
    // Find the properties of position and range
    let find = |name: &str| vertices.properties.iter().position(|p| p.name == name);
    let (Some(x), Some(y), Some(z)) = (find("x"), find("y"), find("z")) else {
        return Err(without_positions(path));
    };
    let range = find("range").or_else(|| find("range_m"));
    // Read a text file by rows
    if header.layout == Layout::Ascii {
        let rows = rows::Rows::after(path, &bytes, header.body, [x, y, z], range, vertices.count)?;
        return Ok(Content::Rows(rows));
    }
    // Read a binary file by records
    let kinds: Vec<NumberType> = vertices.properties.iter().map(|p| p.kind).collect();
    let start = |property: usize| kinds[..property].iter().map(|k| k.size()).sum::<usize>();
    let step = start(kinds.len());
    let column = |property: usize| {
        let column = Column::new(header.body + start(property), step, kinds[property]);
        column.ordered(header.layout == Layout::BigEndian)
    };
    let records = Records::new(
        bytes,
        vertices.count,
        [x, y, z].map(column),
        range.map(column),
    );
    records.map(Content::Records).ok_or_else(|| {
        FormatError::malformed(path, Place::File, "the points are truncated", DAMAGED)
    })
}

fn of_kitti(path: &Path, bytes: Vec<u8>) -> Result<Records, FormatError> {
    if !bytes.len().is_multiple_of(16) {
        let message = format!(
            "{} bytes are no whole number of 16-byte points",
            bytes.len()
        );
        return Err(FormatError::malformed(path, Place::File, message, DAMAGED));
    }
    let points = bytes.len() / 16;
    let columns = [0, 4, 8].map(|start| Column::new(start, 16, NumberType::F32));
    Records::new(bytes, points, columns, None).ok_or_else(|| {
        FormatError::malformed(path, Place::File, "the points are truncated", DAMAGED)
    })
}
