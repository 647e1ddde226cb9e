//! Start times of the columns of a sweep.

use super::description::Lidar;
use super::pattern::{Columns, columns_before};
use std::ops::Range;

/// Start times of the columns of a sweep.
#[derive(Clone, PartialEq)]
pub(crate) struct ColumnTimes {
    columns: Columns,
    /// Duration of a sweep, s.
    duration: f64,
    sweep: u32,
    /// When the sweep begins, s, where it is not its number times its duration.
    begins: Option<f64>,
    /// Their numbers: those of the run, where a clock runs on from sweep to sweep.
    numbers: Range<usize>,
}

impl ColumnTimes {
    pub fn of(lidar: &Lidar, sweep: u32, begins: Option<f64>) -> Self {
        let duration = lidar.sweep_duration();
        let columns = lidar.pattern.columns();
        let numbers = match columns {
            Columns::PerSweep { .. } | Columns::Steps { .. } => 0..lidar.columns() as usize,
            Columns::Period { seconds } => {
                let begins = |sweep: f64| columns_before(sweep * duration / seconds);
                let sweep = f64::from(sweep);
                begins(sweep) as usize..begins(sweep + 1.0) as usize
            }
        };
        Self {
            columns,
            duration,
            sweep,
            begins,
            numbers,
        }
    }

    /// Number of columns.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Time between them, s.
    pub fn period(&self) -> f64 {
        match self.columns {
            Columns::PerSweep { columns, .. } => self.duration / f64::from(columns),
            Columns::Period { seconds } => seconds,
            Columns::Steps { period, .. } => period,
        }
    }

    /// When one of the sweep begins, s from the start of the run.
    pub fn start(&self, column: usize) -> f64 {
        if let Some(begins) = self.begins {
            return begins + self.period() * column as f64;
        }
        let number = (self.numbers.start + column) as f64;
        match self.columns {
            Columns::PerSweep { columns, .. } => {
                (f64::from(self.sweep) + number / f64::from(columns)) * self.duration
            }
            Columns::Period { seconds } => number * seconds,
            Columns::Steps { period, .. } => {
                f64::from(self.sweep) * self.duration + period * number
            }
        }
    }
}
