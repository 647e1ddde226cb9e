//! Scan files with editable positions; all other content of the file is unchanged.
//!
//! A [`ScanFile`] keeps the content of a file and the offsets of the coordinates, so that a
//! corrected scan has the fields, types, encoding and order of the original. It supports the
//! formats of [`PointFormat`] that have an editor.
//!
//! | format | positions |
//! |---|---|
//! | PCD (ascii, binary) | fields `x y z` |
//! | PLY (text, both byte orders) | properties `x y z` of `vertex` |
//! | LAS, LAZ | coordinates, in the resolution of the file |
//! | NPZ | arrays `x`, `y`, `z`, or one array `xyz`, `points` or `positions` of shape (n, 3 or more) |
//! | KITTI `.bin` | the first three of four 4-byte numbers |
//! | CSV, text columns | columns `x y z`, or the first three |
//! | `PointCloud2` in MCAP | fields `x y z`; see [`rewrite_clouds`](crate::ros2::rewrite_clouds) |
//!
//! A field `range` or `range_m` is updated with the points if it contains the distance from the
//! origin.

use crate::editable::EditableScan;
use crate::input::read_bytes;
use crate::points::PointFormat;
use crate::{FileLocation, FormatError};
use nalgebra::Point3;
use std::path::Path;

/// A scan with editable positions.
pub struct ScanFile {
    scan: Box<dyn EditableScan>,
}

impl ScanFile {
    /// Reads a scan. The content determines the format; for KITTI and text without a header, the
    /// ending of the name.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, has no positions, or has an unknown format.
    pub fn read(path: &Path) -> Result<Self, FormatError> {
        Self::parse(path, read_bytes(path)?)
    }

    /// Parses a scan. Errors name `path`.
    ///
    /// # Errors
    /// As [`ScanFile::read`].
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, FormatError> {
        let open = PointFormat::editor(path, &bytes).ok_or_else(|| FormatError::Unsupported {
            path: path.to_owned(),
            message: "the format of the scan does not support editing".into(),
            remedy: format!("give one of: {}", PointFormat::edited_endings().join(", ")),
        })?;
        let file = Self {
            scan: open(path, bytes)?,
        };
        if file.points().is_empty() {
            let message = "the scan has no points";
            let remedy = "remove the scan, or give a scan with points";
            return Err(FormatError::malformed(
                path,
                FileLocation::File,
                message,
                remedy,
            ));
        }
        Ok(file)
    }

    /// Positions, m, including non-finite ones.
    pub fn points(&self) -> Vec<Point3<f64>> {
        self.scan.points()
    }

    /// Sets the positions; `points` has the length of [`ScanFile::points`].
    pub fn set_points(&mut self, points: &[Point3<f64>]) {
        self.scan.set_points(points);
    }

    /// Content of the file with the current positions.
    ///
    /// # Errors
    /// If the positions cannot be encoded.
    pub fn bytes(&self, path: &Path) -> Result<Vec<u8>, FormatError> {
        self.scan.bytes(path)
    }
}
