//! The figures of an experiment.

use crate::failure::Failure;
use crate::folder::Folder;
use crate::picture::line_chart::LineChart;
use etendue::estimate::experiments::{Cell, Outcome, Table};

/// Adds a figure of the errors over iterations, and one for every table of numbers over a number.
pub fn add_to(folder: &mut Folder, outcome: &Outcome) -> Result<(), Failure> {
    if !outcome.curves.is_empty() {
        let curves = outcome.curves.iter();
        let chart = LineChart {
            title: "Error after each iteration",
            x: "iterations",
            y: "pose error (m and rad together)",
            logarithmic: true,
            lines: curves.map(|c| (c.name.clone(), c.points.clone())).collect(),
            joined: true,
        };
        folder.picture("iterations", &chart.draw())?;
    }
    for (number, table) in (1..).zip(&outcome.tables) {
        if let Some(lines) = lines(table) {
            let chart = LineChart {
                title: &table.title,
                x: &table.columns[0],
                y: "error (m and rad together)",
                logarithmic: true,
                lines,
                joined: true,
            };
            folder.picture(&format!("table-{number}"), &chart.draw())?;
        }
    }
    Ok(())
}

type Line = (String, Vec<[f64; 2]>);

/// The lines of a table whose first column is a number: one for every column of numbers, and where
/// another column names something, one for every name.
fn lines(table: &Table) -> Option<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    for row in &table.rows {
        let Cell::Number(x) = row.first()? else {
            return None;
        };
        let name = row.iter().find_map(|cell| match cell {
            Cell::Text(text) => Some(format!("{text}, ")),
            _ => None,
        });
        let name = name.unwrap_or_default();
        for (column, cell) in table.columns.iter().zip(row).skip(1) {
            let Cell::Number(y) = cell else { continue };
            let name = format!("{name}{column}");
            match lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push([*x, *y]),
                None => lines.push((name, vec![[*x, *y]])),
            }
        }
    }
    (!lines.is_empty()).then_some(lines)
}
