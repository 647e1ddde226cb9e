//! Tables as text, CSV and JSON.

use crate::failure::Failure;
use crate::folder::Folder;
use etendue_experiments::arena::{ExperimentResults, ResultCell, ResultTable};
use serde::Serialize;
use serde_json::{Map, Value};

/// Printed outcome of an experiment.
#[derive(Serialize)]
pub struct Report<'a> {
    experiment: &'a str,
    tables: Vec<TableReport<'a>>,
    remarks: &'a [String],
}

#[derive(Serialize)]
struct TableReport<'a> {
    title: &'a str,
    /// One object per row, by the names of the columns; numbers that are not finite are null.
    rows: Vec<Map<String, Value>>,
    #[serde(skip)]
    table: &'a ResultTable,
}

impl<'a> Report<'a> {
    /// Report of an outcome.
    pub fn new(experiment: &'a str, outcome: &'a ExperimentResults) -> Self {
        Self {
            experiment,
            tables: outcome.tables.iter().map(TableReport::new).collect(),
            remarks: &outcome.remarks,
        }
    }

    /// Tables and remarks in Markdown.
    pub fn text(&self) -> String {
        let tables = self.tables.iter().map(|table| table.table.to_string());
        let remarks = self.remarks.iter().map(|remark| format!("{remark}\n"));
        let parts: Vec<String> = tables.chain(remarks).collect();
        format!("# {}\n\n{}", self.experiment, parts.join("\n"))
    }

    /// Adds the text, and every table as `table-N.csv`.
    pub fn add_to(&self, folder: &mut Folder) -> Result<(), Failure> {
        folder.bytes("experiment.md", self.text().into_bytes());
        folder.json("experiment.json", self)?;
        for (number, table) in (1..).zip(&self.tables) {
            folder.text(&format!("table-{number}.csv"), csv(table.table))?;
        }
        Ok(())
    }
}

impl<'a> TableReport<'a> {
    fn new(table: &'a ResultTable) -> Self {
        let row = |cells: &Vec<ResultCell>| {
            let named = table.columns.iter().cloned();
            named.zip(cells.iter().map(json)).collect()
        };
        Self {
            title: &table.title,
            rows: table.rows.iter().map(row).collect(),
            table,
        }
    }
}

fn json(cell: &ResultCell) -> Value {
    match cell {
        ResultCell::Text(text) => text.clone().into(),
        ResultCell::Number(number) => (*number).into(),
        ResultCell::Count(count) => (*count).into(),
    }
}

/// Table as CSV: numbers with full precision, empty cells for those that are not finite, names with commas
/// in quotes, the title as a comment.
fn csv(table: &ResultTable) -> String {
    let cell = |cell: &ResultCell| match cell {
        ResultCell::Text(text) => quoted(text),
        ResultCell::Number(number) if !number.is_finite() => String::new(),
        ResultCell::Number(number) => number.to_string(),
        ResultCell::Count(count) => count.to_string(),
    };
    let head: Vec<String> = table.columns.iter().map(|name| quoted(name)).collect();
    let rows = table.rows.iter().map(|row| {
        let cells: Vec<String> = row.iter().map(cell).collect();
        cells.join(",") + "\n"
    });
    let rows: String = rows.collect();
    format!("# {}\n{}\n{rows}", table.title, head.join(","))
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}
