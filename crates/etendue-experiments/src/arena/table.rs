//! Tables and curves of results.

use std::fmt;

/// Table of results.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultTable {
    /// Title.
    pub title: String,
    /// Names of the columns with units.
    pub columns: Vec<String>,
    /// Rows with one cell per column.
    pub rows: Vec<Vec<ResultCell>>,
}

/// Cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultCell {
    /// Text.
    Text(String),
    /// Number, shown with three digits.
    Number(f64),
    /// Count.
    Count(usize),
}

/// Line of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureLine {
    /// Name.
    pub name: String,
    /// Points (x, y).
    pub points: Vec<[f64; 2]>,
}

impl ResultTable {
    /// Empty table.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            title: title.into(),
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<ResultCell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }
}

impl FigureLine {
    /// Pose errors of the start and after each iteration.
    pub fn of_errors(name: impl Into<String>, start: f64, errors: &[f64]) -> Self {
        let all = std::iter::once(&start).chain(errors);
        Self {
            name: name.into(),
            points: (0_u32..)
                .map(f64::from)
                .zip(all)
                .map(|(i, e)| [i, *e])
                .collect(),
        }
    }
}

impl From<f64> for ResultCell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for ResultCell {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl From<&str> for ResultCell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for ResultCell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for ResultCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(x) if *x == 0.0 || !x.is_finite() => write!(f, "{x}"),
            Self::Number(x) if (1e-2..1e4).contains(&x.abs()) => {
                let whole = x.abs().log10().floor();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "0 to 4"
                )]
                let digits = (2.0 - whole).clamp(0.0, 4.0) as usize;
                write!(f, "{x:.digits$}")
            }
            Self::Number(x) => write!(f, "{x:.2e}"),
        }
    }
}

/// Table in Markdown with aligned columns.
impl fmt::Display for ResultTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Widths of the columns
        let texts: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(ResultCell::to_string).collect())
            .collect();
        let width = |k: usize| {
            let cells = texts.iter().map(|row| row[k].chars().count());
            cells
                .chain([self.columns[k].chars().count()])
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();

        // Title, header and rows
        let line = |f: &mut fmt::Formatter<'_>, cells: &[String]| {
            for (cell, &width) in cells.iter().zip(&widths) {
                write!(f, "| {cell:width$} ")?;
            }
            writeln!(f, "|")
        };
        writeln!(f, "{}\n", self.title)?;
        line(f, &self.columns)?;
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        line(f, &rule)?;
        texts.iter().try_for_each(|row| line(f, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_markdown_with_three_digits() {
        let mut table = ResultTable::new("Errors", &["method", "error"]);
        table.push(vec!["icp".into(), 0.353_04.into()]);
        table.push(vec!["gicp".into(), 1.0326e-3.into()]);
        table.push(vec!["ours".into(), 12_usize.into()]);
        assert_eq!(
            table.to_string(),
            "Errors\n\n| method | error   |\n| ------ | ------- |\n| icp    | 0.353   |\n\
             | gicp   | 1.03e-3 |\n| ours   | 12      |\n"
        );
    }
}
