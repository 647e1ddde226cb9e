//! From the start alone, or from all over the scene.

use super::setup::Setup;
use crate::failure::Failure;
use etendue::config::fit::{FitTask, Motion};
use etendue::estimate::fit::{
    Coarse, FitError, Twins, chance, coarse_search, find_twins, planar_grid, scatter,
    solve_in_stages,
};
use etendue::estimate::manifold::{Manifold, Variable};
use etendue::estimate::solve::{Iteration, Loss, Solution};
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Isometry2;
use std::f64::consts::TAU;

/// Rays of a scan that a coarse search casts, about.
const COARSE_BEAMS: usize = 48;

/// Candidates that are followed to their minimum.
const FOLLOWED: usize = 12;

/// Yaws of the grid at each place.
const YAWS: f64 = 36.0;

/// Poses tried about each of the best of the grid.
const AROUND: u32 = 60;

/// The answer, and others that explain the scans as well.
pub struct Answers {
    /// The best.
    pub solution: Solution<Vec<Variable>>,
    /// Where the others stand.
    pub twins: Vec<Vec<Variable>>,
}

/// Solves the problem.
pub fn answers(task: &FitTask, setup: &Setup) -> Result<Answers, Failure> {
    match task.search_poses {
        None => from_start(task, setup),
        Some(poses) => from_anywhere(task, setup, poses),
    }
}

fn from_start(task: &FitTask, setup: &Setup) -> Result<Answers, Failure> {
    let most = task.solver.limits.iterations as u64;
    let progress = ProgressBar::new(most).with_style(style("fitting {pos} iterations, cost {msg}"));
    let mut observe = |iteration: &Iteration<Vec<Variable>>| {
        progress.set_message(format!("{:.3e}", iteration.cost));
        progress.inc(1);
    };
    let start = setup.start.clone();
    let widths = &task.beam_widths;
    let solution = solve_in_stages(&setup.problem, &task.solver, widths, start, &mut observe);
    progress.finish_and_clear();
    Ok(Answers {
        solution: solution.map_err(FitError::from)?,
        twins: Vec::new(),
    })
}

fn from_anywhere(task: &FitTask, setup: &Setup, poses: usize) -> Result<Answers, Failure> {
    let place = Place::new(task, setup)?;
    let grid = planar_grid(place.lower, place.upper, poses);
    let progress = ProgressBar::new(grid.len() as u64)
        .with_style(style("searching {bar:40} {pos}/{len} poses, {eta} left"));
    let states = grid.map(|pose| {
        progress.inc(1);
        place.state(&setup.start, &pose)
    });
    let problem = &setup.problem;
    let coarse = Coarse {
        // Odd, so that it meets all channels of a scanner in turn.
        every: problem.model.beams().div_ceil(COARSE_BEAMS) | 1,
        loss: Loss::Cauchy { scale: 0.1 },
        gate: task.solver.limits.gate,
        keep: FOLLOWED,
        apart: 0.3,
    };
    let rough = coarse_search(problem, states, &coarse);
    progress.finish_and_clear();
    let fine = Coarse {
        every: (coarse.every / 4) | 1,
        apart: 0.1,
        ..coarse
    };
    let around = scatter(rough, &place.spread(&setup.start, poses), AROUND, 0);
    let starts = coarse_search(problem, around, &fine);
    let starts = starts.into_iter().map(|(state, _)| state);
    let measured = problem.measured();
    let margin = |best: &Solution<_>| chance(best.residuals.rms(), measured);
    let Twins { solutions, .. } = find_twins(
        problem,
        &task.solver,
        &task.beam_widths,
        starts,
        1e-2,
        margin,
    )
    .map_err(FitError::from)?;
    let mut solutions = solutions.into_iter();
    let solution = solutions.next().expect("the cheapest is one of them");
    Ok(Answers {
        solution,
        twins: solutions.map(|twin| twin.state).collect(),
    })
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is well formed")
}

/// The unknown that is searched for, and where.
struct Place {
    number: usize,
    lower: [f64; 2],
    upper: [f64; 2],
}

impl Place {
    fn new(task: &FitTask, setup: &Setup) -> Result<Self, Failure> {
        let in_plane =
            |known: &Variable| matches!(known, Variable::Planar(_) | Variable::Boxed { .. });
        let Some(number) = setup.start.iter().position(in_plane) else {
            return Err(Failure::Usage {
                message: "a search needs an unknown pose in the plane, and there is none".into(),
                remedy: "free sensor.pose, or leave the search out".into(),
            });
        };
        let path = &setup.problem.model.unknowns()[number].path;
        let free = task.free.iter().find(|free| free.path == *path);
        let [lower, upper] = match free.map(|free| free.motion) {
            Some(Motion::Boxed { lower, upper }) => [lower, upper],
            _ => setup
                .problem
                .model
                .scene()
                .bounds()
                .map(|corner| [corner.x, corner.y]),
        };
        Ok(Self {
            number,
            lower,
            upper,
        })
    }

    /// Half widths of what is tried about a pose of the grid, in the tangent of the start: the
    /// grid's spacing for what is searched for, nothing for the rest.
    fn spread(&self, start: &[Variable], poses: usize) -> Vec<f64> {
        let size = [0, 1].map(|k| self.upper[k] - self.lower[k]);
        let spacing = (size[0] * size[1] * YAWS / poses.max(1) as f64).sqrt();
        let mut spread = Vec::new();
        for (number, variable) in start.iter().enumerate() {
            let own = match variable {
                _ if number != self.number => vec![0.0; variable.dimension()],
                // Coordinates of a box run from about -2 to 2.
                Variable::Boxed { .. } => {
                    vec![4.0 * spacing / size[0], 4.0 * spacing / size[1], TAU / YAWS]
                }
                _ => vec![spacing, spacing, TAU / YAWS],
            };
            spread.extend(own);
        }
        spread
    }

    /// The start with this unknown at `pose`.
    fn state(&self, start: &[Variable], pose: &Isometry2<f64>) -> Vec<Variable> {
        let mut state = start.to_vec();
        let boxed = matches!(state[self.number], Variable::Boxed { .. });
        let inside = boxed.then(|| Variable::boxed(pose, self.lower, self.upper).ok());
        state[self.number] = inside.flatten().unwrap_or(Variable::Planar(*pose));
        state
    }
}
