//! From the start alone, or from all over the scene.

use super::setup::Setup;
use crate::failure::Failure;
use etendue::estimate::fit::{
    Coarse, FitError, Twins, chance, coarse_search, find_twins, planar_grid,
};
use etendue::estimate::manifold::Variable;
use etendue::estimate::solve::{Loss, Solution};
use etendue::formats::fit::{FitTask, Motion};
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Isometry2;

/// Rays of a scan that a coarse search casts, about.
const COARSE_BEAMS: usize = 48;

/// Candidates that are followed to their minimum.
const FOLLOWED: usize = 12;

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
    let solution =
        task.solver
            .solve_observed(&setup.problem, setup.start.clone(), &mut |iteration| {
                progress.set_message(format!("{:.3e}", iteration.cost));
                progress.inc(1);
            });
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
        every: problem.model.lidar().beams.len().div_ceil(COARSE_BEAMS),
        loss: Loss::Cauchy { scale: 0.1 },
        gate: task.solver.limits.gate,
        keep: FOLLOWED,
        apart: 0.3,
    };
    let starts = coarse_search(problem, states, &coarse);
    progress.finish_and_clear();
    let starts = starts.into_iter().map(|(state, _)| state);
    let measured = problem.measured();
    let margin = |best: &Solution<_>| chance(best.residuals.rms(), measured);
    let Twins { solutions, .. } =
        find_twins(problem, &task.solver, starts, 1e-2, margin).map_err(FitError::from)?;
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
            return Err(Failure::Asked {
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

    /// The start with this unknown at `pose`.
    fn state(&self, start: &[Variable], pose: &Isometry2<f64>) -> Vec<Variable> {
        let mut state = start.to_vec();
        let boxed = matches!(state[self.number], Variable::Boxed { .. });
        let inside = boxed.then(|| Variable::boxed(pose, self.lower, self.upper).ok());
        state[self.number] = inside.flatten().unwrap_or(Variable::Planar(*pose));
        state
    }
}
