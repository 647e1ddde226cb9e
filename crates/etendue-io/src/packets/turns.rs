//! Points collected into turns.

use crate::precision::single;
use crate::table::{ColumnData, PointColumn, PointTable};
use nalgebra::Point3;

/// One point of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub position: Point3<f64>,
    /// Reported range, m.
    pub range: f64,
    /// Reflectivity, in the device's counts.
    pub intensity: f64,
    pub ring: u16,
    /// From the first packet's stamp on, s.
    pub time: f64,
    pub return_number: u16,
    /// Light that is not the lidar's own, in the device's counts.
    pub ambient: Option<u16>,
}

/// Points in the making.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Turn by turn, the rows with their columns.
    rows: Vec<Vec<(Row, u32)>>,
    column: u32,
    /// The azimuth (or the number of the column) of the last firing.
    last: Option<f64>,
    clock: Clock,
}

/// Time of day that starts anew every hour.
#[derive(Debug, Default)]
struct Clock {
    first: Option<f64>,
    last: f64,
    hours: f64,
}

impl Turns {
    /// A new column of firings at the rotor's place `turned` (0 to 1, ascending): begins a turn
    /// where it falls back.
    pub fn column(&mut self, turned: f64) {
        let falls_back = self.last.is_some_and(|last| last - turned > 0.5);
        if self.rows.is_empty() || falls_back {
            self.rows.push(Vec::new());
            self.column = 0;
        } else {
            self.column += 1;
        }
        self.last = Some(turned);
    }

    /// Sets the number of the column.
    pub fn set_column(&mut self, column: u32) {
        self.column = column;
    }

    pub fn push(&mut self, row: Row) {
        if let Some(turn) = self.rows.last_mut() {
            turn.push((row, self.column));
        }
    }

    /// Seconds from the first packet on, of a clock that starts anew every `period` seconds.
    pub fn since_first(&mut self, seconds: f64, period: f64) -> f64 {
        let clock = &mut self.clock;
        if clock.first.is_some() && clock.last - seconds > 0.5 * period {
            clock.hours += period;
        }
        clock.last = seconds;
        seconds + clock.hours - *clock.first.get_or_insert(seconds)
    }

    /// The turns that hold points, as tables. Times that would be negative (before the stamp of a
    /// packet's end, or of packets out of order) move all of them: the earliest is then zero.
    pub fn tables(mut self) -> Vec<PointTable> {
        let times = self.rows.iter().flatten().map(|(row, _)| row.time);
        let begin = times.fold(0.0, f64::min);
        for (row, _) in self.rows.iter_mut().flatten() {
            row.time -= begin;
        }
        let turns = self.rows.into_iter().filter(|turn| !turn.is_empty());
        (0..)
            .zip(turns)
            .map(|(sweep, turn)| table(sweep, &turn))
            .collect()
    }
}

fn table(sweep: u32, turn: &[(Row, u32)]) -> PointTable {
    let f32s = |of: fn(&Row) -> f64| {
        ColumnData::F32(turn.iter().map(|(row, _)| single(of(row))).collect())
    };
    let u16s = |of: fn(&Row) -> u16| ColumnData::U16(turn.iter().map(|(row, _)| of(row)).collect());
    // Add the columns that every lidar has
    let mut columns = vec![
        PointColumn::new("x", f32s(|row| row.position.x)),
        PointColumn::new("y", f32s(|row| row.position.y)),
        PointColumn::new("z", f32s(|row| row.position.z)),
        PointColumn::new("intensity", f32s(|row| row.intensity)),
        PointColumn::new("ring", u16s(|row| row.ring)),
        PointColumn::new(
            "time",
            ColumnData::F64(turn.iter().map(|(row, _)| row.time).collect()),
        ),
        PointColumn::new("range", f32s(|row| row.range)),
        PointColumn::new("return_number", u16s(|row| row.return_number)),
        PointColumn::new(
            "column",
            ColumnData::U32(turn.iter().map(|(_, column)| *column).collect()),
        ),
        PointColumn::new("sweep", ColumnData::U32(vec![sweep; turn.len()])),
    ];
    // Add ambient light where the lidar measures it
    if turn.iter().any(|(row, _)| row.ambient.is_some()) {
        columns.push(PointColumn::new(
            "ambient",
            u16s(|row| row.ambient.unwrap_or(0)),
        ));
    }
    PointTable {
        points: turn.len(),
        height: 1,
        columns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of points that were fired then.
    fn times(fired: &[f64]) -> Vec<f64> {
        let mut turns = Turns::default();
        turns.column(0.0);
        for time in fired {
            turns.push(Row {
                position: Point3::origin(),
                range: 1.0,
                intensity: 0.0,
                ring: 0,
                time: *time,
                return_number: 1,
                ambient: None,
            });
        }
        let table = PointTable::together(turns.tables());
        let time = |point| table.number("time", point).expect("a time");
        (0..fired.len()).map(time).collect()
    }

    #[test]
    fn no_time_is_negative() {
        assert_eq!(times(&[-0.25, 0.0, 0.5]), [0.0, 0.25, 0.75]);
        assert_eq!(times(&[0.25, 0.5]), [0.25, 0.5]);
    }
}
