//! Results are finite numbers: a result that is not is an error, and its file is not written.
//!
//! Two values that are not finite have a meaning in tables: NaN for a missing value, and the codes of REP 117
//! in the field `range` (+inf no return, -inf too near).

use super::SimulatedSweeps;
use crate::table::PointTable;
use crate::{FileLocation, FormatError};
use etendue_sensors::{BeamMeasurement, RangeReading};
use std::path::Path;

/// Field with the codes of REP 117.
const RANGE: &str = "range";

fn not_finite(path: &Path, what: &str, value: f64) -> FormatError {
    FormatError::malformed(
        path,
        FileLocation::File,
        format!("{what} is {value}, not a finite number: nothing was written"),
        "a number of the input is too large, or a surface is at the sensor: compare the units of its keys with \
         `etendue schema`",
    )
}

/// Checks the numbers of a quantity.
///
/// # Errors
/// If one of them is not finite.
pub(crate) fn check_numbers(path: &Path, what: &str, numbers: &[f64]) -> Result<(), FormatError> {
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(number) => Err(not_finite(path, what, *number)),
        None => Ok(()),
    }
}

/// Checks the beams of simulated sweeps.
///
/// # Errors
/// If a number of a beam is not finite.
pub(crate) fn check_beams(path: &Path, run: SimulatedSweeps<'_>) -> Result<(), FormatError> {
    for sweep in run.sweeps {
        for beam in &sweep.measurements {
            let mut numbers = numbers_of(beam).into_iter();
            if let Some((name, value)) = numbers.find(|(_, value)| !value.is_finite()) {
                let what = format!("{name} of beam {} in sweep {}", beam.beam, sweep.index);
                return Err(not_finite(path, &what, value));
            }
        }
    }
    Ok(())
}

/// Named numbers of a beam; 0 for those that it does not have.
fn numbers_of(beam: &BeamMeasurement) -> [(&'static str, f64); 7] {
    let range = match beam.reading {
        RangeReading::Range(range) => range,
        _ => 0.0,
    };
    let [true_range, incidence] = beam
        .truth
        .map_or([0.0; 2], |truth| [truth.range, truth.incidence]);
    [
        ("the time", beam.time),
        ("the azimuth", beam.azimuth),
        ("the elevation", beam.elevation),
        ("the range", range),
        ("the power", beam.power),
        ("the true range", true_range),
        ("the true incidence", incidence),
    ]
}

/// Checks the fields of points.
///
/// # Errors
/// If a number is infinite, except in the field `range`.
pub(crate) fn check_points(path: &Path, table: &PointTable) -> Result<(), FormatError> {
    match table.infinite_field() {
        Some((name, point, value)) => {
            let what = format!("{name} of point {point}");
            Err(not_finite(path, &what, value))
        }
        None => Ok(()),
    }
}

impl PointTable {
    /// Name, point and value of the first infinite number, except in the field `range`, where it is
    /// a code of REP 117.
    fn infinite_field(&self) -> Option<(&str, usize, f64)> {
        let columns = self.columns.iter().filter(|column| column.name != RANGE);
        columns.into_iter().find_map(|column| {
            let mut values = (0..self.points).map(|point| (point, column.data.number(point)));
            let (point, value) = values.find(|(_, value)| value.is_infinite())?;
            Some((column.name.as_ref(), point, value))
        })
    }

    /// Replaces infinite numbers by NaN, which marks a missing value, except in the field `range`.
    /// Returns the number of replaced values of each field that has some.
    ///
    /// ```
    /// use etendue_io::table::{ColumnData, PointColumn, PointTable};
    /// let x = PointColumn::new("x", ColumnData::F32(vec![1.0, f32::INFINITY]));
    /// let mut table = PointTable { points: 2, height: 1, columns: vec![x] };
    /// assert_eq!(table.clear_infinite(), [("x".to_owned(), 1)]);
    /// assert!(table.number("x", 1).unwrap().is_nan());
    /// ```
    pub fn clear_infinite(&mut self) -> Vec<(String, usize)> {
        let columns = self
            .columns
            .iter_mut()
            .filter(|column| column.name != RANGE);
        let counts = columns.map(|column| (column.name.to_string(), column.data.clear_infinite()));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::output::OutputSet;
    use crate::points::PointFormat;
    use crate::table::{ColumnData, Encoding, PointColumn, PointTable};

    fn table(name: &'static str, value: f64) -> PointTable {
        let column = |name, value| PointColumn::new(name, ColumnData::F64(vec![value]));
        PointTable {
            points: 1,
            height: 1,
            columns: vec![
                column("x", 1.0),
                column("y", 2.0),
                column("z", 3.0),
                column(name, value),
            ],
        }
    }

    #[test]
    fn an_infinite_number_is_written_in_no_format() {
        let folder = tempfile::tempdir().unwrap();
        let mut written = 0;
        for format in PointFormat::ALL
            .into_iter()
            .filter(|format| format.is_written())
        {
            let path = folder.path().join("a").with_extension(format.endings()[0]);
            let write = |name, value| {
                let mut outputs = OutputSet::new();
                format.write(&mut outputs, &path, &table(name, value), Encoding::Ascii)
            };
            let error = write("intensity", f64::INFINITY).unwrap_err().to_string();
            assert!(error.contains("intensity of point 0 is inf"), "{error}");
            // Missing values, and codes of REP 117
            let disabled = write("intensity", 1.0).is_err();
            assert!(disabled || write("incidence", f64::NAN).is_ok());
            assert!(disabled || write("range", f64::INFINITY).is_ok());
            written += usize::from(!disabled);
        }
        assert!(written >= 7, "{written}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
