//! Figures of an experiment in the arena.

use crate::failure::Failure;
use crate::folder::Folder;
use crate::view::fit_view::FitView;
use etendue::estimate::fit::FitError;
use etendue::estimate::model::ModelError;
use etendue::scene::SceneBuilder;
use etendue_experiments::arena::{ArenaView, ExperimentResults, ResultCell, ResultTable};
use etendue_plot::{Axis, Drawing, Figure, Plot, palette};

/// Smallest error on a logarithmic axis, m and rad together.
const SMALLEST_ERROR: f64 = 1e-16;

/// Adds views of the fits, the charts, the errors over iterations, and one chart per table whose
/// first column is a varied number.
pub fn add_to(folder: &mut Folder, outcome: &ExperimentResults) -> Result<(), Failure> {
    // Views of the fits
    for view in &outcome.views {
        folder.picture(&view.name, &scene(view)?)?;
    }

    // Charts
    for chart in &outcome.figures {
        let mut plot = Plot::new(Axis::new(&chart.x), Axis::new(&chart.y));
        let lines = chart.lines.iter();
        let lines = lines.map(|line| (&line.name, line.points.clone()));
        if chart.joined {
            plot.add_marked_curves(lines);
        } else {
            for (index, (name, points)) in lines.enumerate() {
                plot.add_dots(name, points, palette::category(index, 1.7));
            }
        }
        let figure = Figure::new(&chart.title).with_plot(plot);
        folder.picture(&chart.name, &figure.draw())?;
    }

    // Errors over iterations
    if !outcome.curves.is_empty() {
        let y = Axis::new("pose error (m and rad together)").logarithmic(SMALLEST_ERROR);
        let mut plot = Plot::new(Axis::new("iterations"), y);
        let curves = outcome.curves.iter();
        plot.add_marked_curves(curves.map(|curve| (&curve.name, curve.points.clone())));
        let figure = Figure::new("Error after each iteration").with_plot(plot);
        folder.picture("iterations", &figure.draw())?;
    }

    // Tables
    for (number, table) in (1..).zip(&outcome.tables) {
        if let Some(lines) = lines(table) {
            let y = Axis::new("error (m and rad together; without those below 1e-6)");
            let x = Axis::new(&table.columns[0]);
            let mut plot = Plot::new(x, y.logarithmic(SMALLEST_ERROR));
            plot.add_marked_curves(lines);
            let figure = Figure::new(&table.title).with_plot(plot);
            folder.picture(&format!("table-{number}"), &figure.draw())?;
        }
    }
    Ok(())
}

fn scene(view: &ArenaView) -> Result<Drawing, Failure> {
    let [before, after] = &view.parts;
    let built = |parts: &SceneBuilder| {
        let scene = parts.clone().build().map_err(ModelError::from);
        scene.map_err(FitError::from)
    };
    let scenes = [built(before)?, built(after)?];
    let [start, end] = &view.sensors;
    let picture = FitView {
        title: &view.title,
        subtitle: &view.subtitle,
        scenes: [&scenes[0], &scenes[1]],
        sensors: [start, end],
        points: view.points.clone(),
        tracks: view.tracks.clone(),
    };
    Ok(picture.draw())
}

/// Smallest error drawn for a table, m and rad together: those without noise would set the scale.
const SMALLEST_DRAWN: f64 = 1e-6;

type Line = (String, Vec<[f64; 2]>);

/// Line of a table: a column for the rows of one name.
struct TableLine {
    name: String,
    column: String,
    points: Vec<[f64; 2]>,
}

/// Lines of a table whose first column is an increasing number: one per column of numbers and per
/// name in a column of texts.
fn lines(table: &ResultTable) -> Option<Vec<Line>> {
    let mut lines: Vec<TableLine> = Vec::new();
    for row in &table.rows {
        let ResultCell::Number(x) = row.first()? else {
            return None;
        };
        let name = row.iter().find_map(|cell| match cell {
            ResultCell::Text(text) => Some(text.clone()),
            _ => None,
        });
        let name = name.unwrap_or_default();
        for (column, cell) in table.columns.iter().zip(row).skip(1) {
            let ResultCell::Number(y) = cell else {
                continue;
            };
            if *y < SMALLEST_DRAWN {
                continue;
            }
            let known = |line: &&mut TableLine| line.name == name && line.column == *column;
            match lines.iter_mut().find(known) {
                Some(line) => line.points.push([*x, *y]),
                None => lines.push(TableLine {
                    name: name.clone(),
                    column: column.clone(),
                    points: vec![[*x, *y]],
                }),
            }
        }
    }
    // A single value of the first column has no axis
    let increases = |points: &[[f64; 2]]| points.windows(2).any(|pair| pair[0][0] < pair[1][0]);
    lines
        .iter()
        .any(|line| increases(&line.points))
        .then(|| named_lines(&lines))
}

/// Lines of a chart with their names; equal lines of one name become one.
fn named_lines(lines: &[TableLine]) -> Vec<Line> {
    let mut named: Vec<Line> = Vec::new();
    for line in lines {
        let mut own = lines.iter().filter(|other| other.name == line.name);
        let is_one = own.clone().count() > 1 && own.all(|other| other.points == line.points);
        let name = match (line.name.as_str(), is_one) {
            ("", _) => line.column.clone(),
            (name, true) => name.to_owned(),
            (name, false) => format!("{name}, {}", line.column),
        };
        if named.iter().all(|(known, _)| *known != name) {
            named.push((name, line.points.clone()));
        }
    }
    named
}
