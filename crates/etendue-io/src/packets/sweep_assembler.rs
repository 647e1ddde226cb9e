//! Points assembled into sweeps of one rotation each.

use crate::precision::single;
use crate::table::{ColumnData, PointColumn, PointTable};
use nalgebra::Point3;
use std::collections::VecDeque;

/// One point of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub position: Point3<f64>,
    /// Reported range, m.
    pub range: f64,
    /// Reflectivity, device counts.
    pub intensity: f64,
    pub ring: u16,
    /// Time since the stamp of the first packet, s.
    pub time: f64,
    pub return_number: u16,
    /// Ambient light, device counts.
    pub ambient: Option<u16>,
}

/// Points of the sweeps of a capture that is being decoded.
#[derive(Debug, Default)]
pub(super) struct SweepAssembler {
    /// Rows of the present sweep with their columns.
    rows: Vec<(Row, u32)>,
    /// Sweeps that ended and were not taken, those with points.
    complete: VecDeque<Vec<(Row, u32)>>,
    /// Number of sweeps that were taken.
    taken: u32,
    /// Earliest time of the first sweep if it is negative, otherwise zero, s.
    begin: f64,
    column: u32,
    /// Position of the rotor (or number of the column) at the last firing, as a fraction of a
    /// rotation.
    last: Option<f64>,
    clock: Clock,
}

/// Clock that unwraps a periodic time stamp.
#[derive(Debug, Default)]
struct Clock {
    first: Option<f64>,
    last: f64,
    wrapped: f64,
}

impl SweepAssembler {
    /// Begins a column of firings at the rotor position `turned` (0 to 1, ascending). A decrease
    /// begins a new sweep.
    pub fn column(&mut self, turned: f64) {
        match self.last {
            Some(last) if last - turned > 0.5 => {
                let rows = std::mem::take(&mut self.rows);
                if !rows.is_empty() {
                    self.complete.push_back(rows);
                }
                self.column = 0;
            }
            Some(_) => self.column += 1,
            None => self.column = 0,
        }
        self.last = Some(turned);
    }

    /// Sets the number of the column.
    pub fn set_column(&mut self, column: u32) {
        self.column = column;
    }

    pub fn push(&mut self, row: Row) {
        self.rows.push((row, self.column));
    }

    /// Seconds since the first packet; the clock wraps around every `period` seconds.
    pub fn since_first(&mut self, seconds: f64, period: f64) -> f64 {
        let clock = &mut self.clock;
        if clock.first.is_some() && clock.last - seconds > 0.5 * period {
            clock.wrapped += period;
        }
        clock.last = seconds;
        seconds + clock.wrapped - *clock.first.get_or_insert(seconds)
    }

    /// The next sweep that ended, of those with points. If a time of the first sweep is negative (before the stamp
    /// of a packet end, or in packets out of order), all times are shifted so that its earliest is zero.
    pub fn take_complete(&mut self) -> Option<PointTable> {
        let rows = self.complete.pop_front()?;
        Some(self.table(rows))
    }

    /// The points of the last sweep, at the end of the packets, after those that ended.
    pub fn take_last(&mut self) -> Option<PointTable> {
        let rows = std::mem::take(&mut self.rows);
        (!rows.is_empty()).then(|| self.table(rows))
    }

    /// The points of the next sweep.
    fn table(&mut self, mut rows: Vec<(Row, u32)>) -> PointTable {
        if self.taken == 0 {
            self.begin = rows.iter().map(|(row, _)| row.time).fold(0.0, f64::min);
        }
        for (row, _) in &mut rows {
            row.time -= self.begin;
        }
        self.taken += 1;
        table(self.taken - 1, &rows)
    }
}

fn table(sweep: u32, rows: &[(Row, u32)]) -> PointTable {
    let f32s = |of: fn(&Row) -> f64| {
        ColumnData::F32(rows.iter().map(|(row, _)| single(of(row))).collect())
    };
    let u16s = |of: fn(&Row) -> u16| ColumnData::U16(rows.iter().map(|(row, _)| of(row)).collect());
    // Add the columns of every lidar
    let mut columns = vec![
        PointColumn::new("x", f32s(|row| row.position.x)),
        PointColumn::new("y", f32s(|row| row.position.y)),
        PointColumn::new("z", f32s(|row| row.position.z)),
        PointColumn::new("intensity", f32s(|row| row.intensity)),
        PointColumn::new("ring", u16s(|row| row.ring)),
        PointColumn::new(
            "time",
            ColumnData::F64(rows.iter().map(|(row, _)| row.time).collect()),
        ),
        PointColumn::new("range", f32s(|row| row.range)),
        PointColumn::new("return_number", u16s(|row| row.return_number)),
        PointColumn::new(
            "column",
            ColumnData::U32(rows.iter().map(|(_, column)| *column).collect()),
        ),
        PointColumn::new("sweep", ColumnData::U32(vec![sweep; rows.len()])),
    ];
    // Add ambient light if the lidar measures it
    if rows.iter().any(|(row, _)| row.ambient.is_some()) {
        columns.push(PointColumn::new(
            "ambient",
            u16s(|row| row.ambient.unwrap_or(0)),
        ));
    }
    PointTable {
        points: rows.len(),
        height: 1,
        columns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in the table of points that were fired at the given times, s.
    fn times(fired: &[f64]) -> Vec<f64> {
        let mut sweeps = SweepAssembler::default();
        sweeps.column(0.0);
        for time in fired {
            sweeps.push(Row {
                position: Point3::origin(),
                range: 1.0,
                intensity: 0.0,
                ring: 0,
                time: *time,
                return_number: 1,
                ambient: None,
            });
        }
        let table = sweeps.take_last().expect("points");
        let time = |point| table.number("time", point).expect("a time");
        (0..fired.len()).map(time).collect()
    }

    #[test]
    fn no_time_is_negative() {
        assert_eq!(times(&[-0.25, 0.0, 0.5]), [0.0, 0.25, 0.75]);
        assert_eq!(times(&[0.25, 0.5]), [0.25, 0.5]);
    }
}
