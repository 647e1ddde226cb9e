//! Measured points with their fields: what point-cloud files hold.

use super::Run;
use crate::precision::single;
use etendue_sensors::{Measurement, Sweep};

/// How a point cloud is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Numbers as text.
    Ascii,
    /// Numbers as bytes, little endian.
    #[default]
    Binary,
}

/// The values of one field, one a point.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnData {
    /// 4-byte floating point.
    F32(Vec<f32>),
    /// 8-byte floating point.
    F64(Vec<f64>),
    /// 2-byte count.
    U16(Vec<u16>),
    /// 4-byte count.
    U32(Vec<u32>),
    /// 4-byte integer.
    I32(Vec<i32>),
}

/// One field of every point.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The field's name in the file.
    pub name: &'static str,
    /// Its values.
    pub data: ColumnData,
}

/// A point cloud with named fields, all equally long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointTable {
    /// How many points.
    pub points: usize,
    /// Rows of the grid that they stand in; 1 where they stand in none.
    pub height: usize,
    /// The fields, in the order of the file.
    pub columns: Vec<Column>,
}

impl PointTable {
    /// Every point that a run measured, in the world frame; beams without a range have none.
    ///
    /// Fields: `x y z` (m), `intensity` (received power, 1/(m² sr)), `range` (m), `time` (s),
    /// `sweep`, `beam`, `returns`, and of the truth `incidence` (rad, NaN where the beam's axis
    /// meets nothing), `object` and `material` (numbers, -1 where there are none).
    pub fn of_run(run: Run<'_>) -> Self {
        let measured: Vec<(&Sweep, &Measurement, [f32; 3])> = run
            .sweeps
            .iter()
            .flat_map(|sweep| {
                sweep.measurements.iter().filter_map(move |beam| {
                    let point = sweep.world_from_sensor * beam.point()?;
                    let position = [single(point.x), single(point.y), single(point.z)];
                    Some((sweep, beam, position))
                })
            })
            .collect();
        let mut table = Self {
            points: measured.len(),
            height: 1,
            columns: Vec::new(),
        };
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            table.add(
                name,
                ColumnData::F32(measured.iter().map(|m| m.2[axis]).collect()),
            );
        }
        let beams = || measured.iter().map(|(_, beam, _)| *beam);
        let number = |id: Option<u32>| id.map_or(-1, |id| i32::try_from(id).unwrap_or(-1));
        table.add(
            "intensity",
            ColumnData::F32(beams().map(|b| single(b.power)).collect()),
        );
        table.add(
            "range",
            ColumnData::F32(beams().map(|b| single(b.reading.rep117())).collect()),
        );
        table.add("time", ColumnData::F64(beams().map(|b| b.time).collect()));
        table.add(
            "sweep",
            ColumnData::U32(measured.iter().map(|m| m.0.index).collect()),
        );
        table.add("beam", ColumnData::U32(beams().map(|b| b.beam).collect()));
        table.add(
            "returns",
            ColumnData::U16(beams().map(|b| b.returns).collect()),
        );
        let incidence = |b: &Measurement| b.truth.map_or(f32::NAN, |t| single(t.incidence));
        table.add(
            "incidence",
            ColumnData::F32(beams().map(incidence).collect()),
        );
        let objects = beams().map(|b| number(b.truth.map(|t| t.object.0)));
        table.add("object", ColumnData::I32(objects.collect()));
        let materials = beams().map(|b| number(b.truth.map(|t| t.material.0)));
        table.add("material", ColumnData::I32(materials.collect()));
        table
    }

    fn add(&mut self, name: &'static str, data: ColumnData) {
        self.columns.push(Column { name, data });
    }

    /// The value of a field of one point, if there is that field.
    pub fn number(&self, name: &str, point: usize) -> Option<f64> {
        let column = self.columns.iter().find(|column| column.name == name)?;
        Some(match &column.data {
            ColumnData::F32(values) => f64::from(values[point]),
            ColumnData::F64(values) => values[point],
            ColumnData::U16(values) => f64::from(values[point]),
            ColumnData::U32(values) => f64::from(values[point]),
            ColumnData::I32(values) => f64::from(values[point]),
        })
    }

    /// The numbers of the points that have a position.
    pub(crate) fn finite_points(&self) -> impl Iterator<Item = usize> {
        let finite = |name, point| self.number(name, point).is_some_and(f64::is_finite);
        (0..self.points).filter(move |&p| finite("x", p) && finite("y", p) && finite("z", p))
    }

    /// The points one after the other, each with all its fields.
    pub(crate) fn encode(&self, encoding: Encoding) -> Vec<u8> {
        let mut bytes = Vec::new();
        for point in 0..self.points {
            for (index, column) in self.columns.iter().enumerate() {
                match encoding {
                    Encoding::Binary => column.data.push_bytes(point, &mut bytes),
                    Encoding::Ascii => {
                        let space = if index == 0 { "" } else { " " };
                        bytes.extend(space.bytes().chain(column.data.text(point).bytes()));
                    }
                }
            }
            if encoding == Encoding::Ascii {
                bytes.push(b'\n');
            }
        }
        bytes
    }
}

impl ColumnData {
    fn push_bytes(&self, point: usize, bytes: &mut Vec<u8>) {
        match self {
            Self::F32(values) => bytes.extend(values[point].to_le_bytes()),
            Self::F64(values) => bytes.extend(values[point].to_le_bytes()),
            Self::U16(values) => bytes.extend(values[point].to_le_bytes()),
            Self::U32(values) => bytes.extend(values[point].to_le_bytes()),
            Self::I32(values) => bytes.extend(values[point].to_le_bytes()),
        }
    }

    pub(super) fn text(&self, point: usize) -> String {
        match self {
            Self::F32(values) => number_text(f64::from(values[point]), values[point].to_string()),
            Self::F64(values) => number_text(values[point], values[point].to_string()),
            Self::U16(values) => values[point].to_string(),
            Self::U32(values) => values[point].to_string(),
            Self::I32(values) => values[point].to_string(),
        }
    }
}

/// Readers want "nan", not Rust's "NaN".
fn number_text(value: f64, text: String) -> String {
    if value.is_nan() { "nan".into() } else { text }
}
