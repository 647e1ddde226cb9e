//! Solution of a fit from its start or by a search over the scene.

use super::setup::Setup;
use crate::failure::Failure;
use crate::output::progress;
use etendue::config::fit::{FitTask, Motion};
use etendue::estimate::fit::{
    AmbiguousMinima, CoarseSearch, ComparedMinimum, FitError, coarse_search, find_ambiguous_minima,
    planar_grid, scatter, sigma_of_cost, solve_from_start,
};
use etendue::estimate::manifold::{Manifold, Variable};
use etendue::estimate::solve::{Iteration, Loss, Solution};
use nalgebra::Isometry2;
use std::f64::consts::TAU;

/// Approximate number of rays per scan in a coarse search.
const COARSE_BEAMS: usize = 48;

/// Number of candidates that are refined to their minimum.
const REFINED: usize = 12;

/// Number of yaws of the grid at each position.
const YAWS: f64 = 36.0;

/// Number of poses sampled around each of the best of the grid.
const SAMPLES_AROUND: u32 = 60;

/// Minima of a fit.
pub struct Minima {
    /// Minimum with the lowest cost.
    pub solution: Solution<Vec<Variable>>,
    /// Other minima that the scans do not exclude.
    pub ambiguous: Vec<ComparedMinimum>,
    /// Minima that the scans exclude.
    pub excluded: Vec<ComparedMinimum>,
    /// Standard deviation of a residual (m) by which the minima were compared; `None` without a search.
    pub sigma: Option<f64>,
}

/// Solves a problem.
pub fn solve(task: &FitTask, setup: &Setup) -> Result<Minima, Failure> {
    match task.search_poses {
        None => from_start(task, setup),
        Some(poses) => from_anywhere(task, setup, poses),
    }
}

fn from_start(task: &FitTask, setup: &Setup) -> Result<Minima, Failure> {
    let most = task.solver.limits.iterations as u64;
    let progress = progress(most, "fitting {pos} iterations, cost {msg}");
    let mut observe = |iteration: &Iteration<Vec<Variable>>| {
        progress.set_message(format!("{:.3e}", iteration.cost));
        progress.inc(1);
    };
    let widths = &task.beam_widths;
    let solution = solve_from_start(
        &setup.problem,
        &task.solver,
        widths,
        &setup.start,
        &mut observe,
    );
    progress.finish_and_clear();
    Ok(Minima {
        solution: solution.map_err(FitError::from)?,
        ambiguous: Vec::new(),
        excluded: Vec::new(),
        sigma: None,
    })
}

fn from_anywhere(task: &FitTask, setup: &Setup, poses: usize) -> Result<Minima, Failure> {
    let region = SearchRegion::new(task, setup)?;
    let grid = planar_grid(region.lower, region.upper, poses);
    let progress = progress(
        grid.len() as u64,
        "searching {bar:40} {pos}/{len} poses, {eta} left",
    );
    let states = grid.map(|pose| {
        progress.inc(1);
        region.state(&setup.start, &pose)
    });
    let problem = &setup.problem;
    let coarse = CoarseSearch {
        // Odd, so that the steps cycle through all channels of a scanner
        every: problem.model.beams(0).div_ceil(COARSE_BEAMS) | 1,
        loss: Loss::Cauchy { scale: 0.1 },
        gate: task.solver.limits.gate,
        keep: REFINED,
        apart: 0.3,
    };

    // Grid over the scene
    let rough = coarse_search(problem, states, &coarse);
    progress.finish_and_clear();

    // Finer samples around the best of the grid
    let fine = CoarseSearch {
        every: (coarse.every / 4) | 1,
        apart: 0.1,
        ..coarse
    };
    let around = scatter(
        rough,
        &region.spread(&setup.start, poses),
        SAMPLES_AROUND,
        0,
    );
    let starts = coarse_search(problem, around, &fine);
    let starts = starts.into_iter().map(|(state, _)| state);

    // Minima
    let AmbiguousMinima {
        solutions,
        others,
        sigma,
    } = find_ambiguous_minima(
        problem,
        &task.solver,
        &task.beam_widths,
        starts,
        1e-2,
        sigma_of_cost,
    )
    .map_err(FitError::from)?;
    let mut solutions = solutions.into_iter();
    let best = solutions.next().expect("the cheapest is one of them");
    Ok(Minima {
        solution: best.solution,
        ambiguous: solutions.collect(),
        excluded: others,
        sigma: Some(sigma * problem.sigma),
    })
}

/// Region of the pose that is searched for.
struct SearchRegion {
    number: usize,
    lower: [f64; 2],
    upper: [f64; 2],
}

impl SearchRegion {
    fn new(task: &FitTask, setup: &Setup) -> Result<Self, Failure> {
        // The first unknown pose in the plane
        let in_plane =
            |known: &Variable| matches!(known, Variable::Planar(_) | Variable::Boxed { .. });
        let Some(number) = setup.start.iter().position(in_plane) else {
            return Err(Failure::usage(
                "a search needs an unknown pose in the plane, and there is none",
                "add sensor.pose to the unknowns, or omit the search",
            ));
        };

        // Its box, else the extent of the scene
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

    /// Half widths of the samples around a pose of the grid, in the tangent space of the start: the
    /// spacing of the grid for the searched pose, zero for all others.
    fn spread(&self, start: &[Variable], poses: usize) -> Vec<f64> {
        let size = [0, 1].map(|k| self.upper[k] - self.lower[k]);
        let spacing = (size[0] * size[1] * YAWS / poses.max(1) as f64).sqrt();
        let mut spread = Vec::new();
        for (number, variable) in start.iter().enumerate() {
            let own = match variable {
                _ if number != self.number => vec![0.0; variable.dimension()],
                // Coordinates of a box range from about -2 to 2
                Variable::Boxed { .. } => {
                    vec![4.0 * spacing / size[0], 4.0 * spacing / size[1], TAU / YAWS]
                }
                _ => vec![spacing, spacing, TAU / YAWS],
            };
            spread.extend(own);
        }
        spread
    }

    /// The start with the searched pose replaced.
    fn state(&self, start: &[Variable], pose: &Isometry2<f64>) -> Vec<Variable> {
        let mut state = start.to_vec();
        let boxed = matches!(state[self.number], Variable::Boxed { .. });
        let inside = boxed.then(|| Variable::boxed(pose, self.lower, self.upper).ok());
        state[self.number] = inside.flatten().unwrap_or(Variable::Planar(*pose));
        state
    }
}
