//! LAS and LAZ.

use super::DAMAGED;
use crate::points::pack_las;
use crate::{FormatError, Place};
use las::{Header, Point, Reader};
use nalgebra::Point3;
use std::io::Cursor;
use std::path::Path;

/// The points of a file with its header.
pub(super) struct Las {
    header: Header,
    records: Vec<Point>,
}

impl Las {
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        let fail = |error: las::Error| {
            let message = format!("this LAS file is truncated or damaged: {error}");
            FormatError::malformed(path, Place::File, message, DAMAGED)
        };
        let mut reader = Reader::new(Cursor::new(bytes.to_vec())).map_err(fail)?;
        let data = reader.read_all().map_err(fail)?;
        let records = data.points().collect::<Result<_, _>>().map_err(fail)?;
        Ok(Self {
            header: reader.header().clone(),
            records,
        })
    }

    pub fn points(&self) -> Vec<Point3<f64>> {
        let point = |p: &Point| Point3::new(p.x, p.y, p.z);
        self.records.iter().map(point).collect()
    }

    pub fn set_points(&mut self, points: &[Point3<f64>]) {
        for (record, point) in self.records.iter_mut().zip(points) {
            [record.x, record.y, record.z] = [point.x, point.y, point.z];
        }
    }

    pub fn bytes(&self, path: &Path) -> Result<Vec<u8>, FormatError> {
        pack_las(self.header.clone(), self.records.iter().cloned()).map_err(|error| {
            let message = format!("the points do not fit the file's own steps: {error}");
            let remedy = "export it with a coarser scale, or an offset nearer to its points";
            FormatError::malformed(path, Place::File, message, remedy)
        })
    }
}
