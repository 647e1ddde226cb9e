//! Files of a fit.

use super::arrangement::Arrangement;
use super::report::Report;
use super::setup::Setup;
use super::values::{numbers, setting};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::view::fit_view::FitView;
use etendue::estimate::fit::FitReport as Found;
use etendue::estimate::manifold::Variable;
use etendue::estimate::model::Direction;
use etendue_plot::{Axis, Drawing, Figure, Plot, palette};
use nalgebra::{DMatrix, Isometry3};

/// Adds all files.
pub fn add_to(
    folder: &mut Folder,
    setup: &Setup,
    found: &Found,
    report: &Report,
) -> Result<(), Failure> {
    let uncertainty = &found.uncertainty;
    let residuals = residuals(setup, &found.solution.state);
    folder.json("estimate.json", report)?;
    folder.text("covariance.csv", matrix(found, &uncertainty.covariance))?;
    folder.text("correlation.csv", matrix(found, &uncertainty.correlation()))?;
    folder.text("log.csv", log(found))?;
    folder.text("residuals.csv", residual_table(&residuals))?;
    folder.picture("fit", &picture(setup, found)?)?;
    folder.picture("residuals", &residual_picture(&residuals))
}

/// Matrix over the components as CSV, with their names in the first row and column. The cells of components
/// that are not determined are empty.
fn matrix(found: &Found, matrix: &DMatrix<f64>) -> String {
    let names = || {
        let components = found.uncertainty.components.iter();
        components.map(|component| component.name.as_str())
    };
    let head: Vec<&str> = names().collect();
    let rows = names().zip(matrix.row_iter()).map(|(name, row)| {
        let cells: Vec<String> = row.iter().copied().map(finite_cell).collect();
        format!("{name},{}\n", cells.join(","))
    });
    format!("component,{}\n{}", head.join(","), rows.collect::<String>())
}

/// A cell of a table, empty for a number that is not finite.
fn finite_cell(number: f64) -> String {
    if number.is_finite() {
        number.to_string()
    } else {
        String::new()
    }
}

/// One row per iteration with the values of all unknowns. The widening of the loss is empty for least
/// squares.
fn log(found: &Found) -> String {
    let paths: Vec<&str> = found
        .estimate
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();

    // Columns
    let columns = |state: &[Variable]| -> Vec<(String, f64)> {
        let all = paths.iter().zip(state).flat_map(|(path, variable)| {
            let numbers = numbers(&setting(variable)).into_iter();
            numbers.map(move |(ending, value)| (format!("{path}{ending}"), value))
        });
        all.collect()
    };
    let names: Vec<String> = columns(&found.solution.state)
        .into_iter()
        .map(|(n, _)| n)
        .collect();

    // Rows
    let mut text = format!(
        "iteration,cost,gradient,step,damping,widening,missing,{}\n",
        names.join(",")
    );
    for step in &found.solution.log {
        let values = columns(&step.state).into_iter().map(|(_, v)| v.to_string());
        let line = format!(
            "{},{},{},{},{},{},{},{}\n",
            step.number,
            step.cost,
            step.gradient,
            step.step,
            step.damping,
            finite_cell(step.widening),
            step.missing,
            values.collect::<Vec<_>>().join(",")
        );
        text += &line;
    }
    text
}

/// Measured beam with its prediction.
struct Residual {
    scan: usize,
    beam: usize,
    direction: Direction,
    measured: f64,
    predicted: Option<f64>,
    /// Measured and predicted intensity.
    intensities: [Option<f64>; 2],
}

fn residuals(setup: &Setup, state: &[Variable]) -> Vec<Residual> {
    let model = &setup.problem.model;
    let mut all = Vec::new();
    for (scan, (shots, readings)) in model.predict(state).iter().zip(&setup.readings).enumerate() {
        for (beam, (shot, reading)) in shots.iter().zip(readings).enumerate() {
            let Some(measured) = reading.range() else {
                continue;
            };
            all.push(Residual {
                scan,
                beam,
                direction: model.sensor(scan).direction(beam),
                measured,
                predicted: shot.range(),
                intensities: [reading.intensity(), shot.intensity()],
            });
        }
    }
    all
}

fn residual_table(residuals: &[Residual]) -> String {
    let cell = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    let rows = residuals.iter().map(|row| {
        let [measured, predicted] = row.intensities.map(cell);
        format!(
            "{},{},{},{},{},{},{measured},{predicted}\n",
            row.scan,
            row.beam,
            row.direction.azimuth,
            row.direction.elevation,
            row.measured,
            cell(row.predicted)
        )
    });
    format!(
        "scan,beam,azimuth_rad,elevation_rad,measured_m,predicted_m,measured_intensity,\
         predicted_intensity\n{}",
        rows.collect::<String>()
    )
}

fn residual_picture(residuals: &[Residual]) -> Drawing {
    let mut lines: Vec<(String, Vec<[f64; 2]>)> = Vec::new();
    for row in residuals {
        let Some(predicted) = row.predicted else {
            continue;
        };
        if lines.len() <= row.scan {
            lines.resize_with(row.scan + 1, Default::default);
        }
        let residual = 1e3 * (predicted - row.measured);
        lines[row.scan]
            .1
            .push([row.direction.azimuth.to_degrees(), residual]);
    }
    for (scan, (name, points)) in lines.iter_mut().enumerate() {
        *name = format!("scan {scan} ({} beams)", points.len());
    }
    let mut plot = Plot::new(Axis::new("azimuth, deg"), Axis::new("residual, mm"));
    for (index, (name, points)) in lines.into_iter().enumerate() {
        plot.add_dots(name, points, palette::category(index, 1.7));
    }
    Figure::new("Predicted minus measured range")
        .with_plot(plot)
        .draw()
}

fn picture(setup: &Setup, found: &Found) -> Result<Drawing, Failure> {
    // Scene and sensors at the start and with the result
    let before = Arrangement::new(setup, &setup.start);
    let after = Arrangement::new(setup, &found.solution.state);
    let start_scene = before.scene()?;
    let result_scene = after.scene()?;

    // Draw
    let view = FitView {
        title: &format!("{} in {}", setup.sensor, setup.scene),
        subtitle: &format!(
            "fit of {}: {} iterations, rms {:.2} mm",
            paths(found),
            found.solution.log.len(),
            1e3 * found.rms
        ),
        scenes: [&start_scene, &result_scene],
        sensors: [&before.world_from_sensor, &after.world_from_sensor],
        points: [&before, &after].map(|at| setup.problem.points(&at.world_from_sensor)),
        tracks: tracks(setup, found),
    };
    Ok(view.draw())
}

fn paths(found: &Found) -> String {
    let paths: Vec<&str> = found
        .estimate
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();
    match &paths[..] {
        [first, .., last] if paths.len() > 4 => format!("{first} ... {last} ({})", paths.len()),
        all => all.join(", "),
    }
}

/// Positions of every unknown pose from the start to the result, m.
fn tracks(setup: &Setup, found: &Found) -> Vec<Vec<[f64; 2]>> {
    let states = || {
        let steps = found.solution.log.iter().map(|step| &step.state);
        std::iter::once(&setup.start).chain(steps)
    };
    let unknowns = setup.problem.model.unknowns().iter().enumerate();
    let poses = unknowns.filter(|(_, known)| known.parameter.is_pose());
    let track = |(index, _): (usize, _)| {
        let place = |state: &Vec<Variable>| {
            let pose = super::values::placed(&setting(&state[index]), &Isometry3::identity());
            [pose.translation.x, pose.translation.y]
        };
        states().map(place).collect()
    };
    poses.map(track).collect()
}
