//! Reliability of fits from random starts.

use super::localise::LocaliseSettings;
use super::measurements::{first_pose, pose_error};
use super::table::ResultTable;
use super::track_mirror::{TrackSettings, track_mirror};
use etendue_estimate::fit::{FitError, FitProblem, solve_by_schedules};
use etendue_estimate::manifold::Variable;
use etendue_estimate::solve::{Continuation, Loss, Solver, SolverMethod};
use etendue_physics::{Purpose, Stream};
use etendue_sensors::lidar::Lidar;
use nalgebra::{Isometry2, Vector2};
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

/// Largest pose error (m and rad together) of a success, for 3 mm of noise: ten standard deviations.
const FOUND: f64 = 0.01;

/// Number of fits from random starts, by the pose at which they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartCounts {
    /// At the true pose.
    pub truth: usize,
    /// At the pose turned by 180 degrees, which has the same scan.
    pub twin: usize,
    /// At other poses, or without a solution.
    pub other: usize,
}

/// Solver with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSolver {
    /// Name.
    pub name: &'static str,
    /// Solver.
    pub solver: Solver,
}

/// The settings of `etendue fit` for every loss and method, and those of the localisation experiments.
pub fn default_solvers() -> Vec<NamedSolver> {
    let scale = 0.05;
    let wide = Some(Continuation {
        widest: 16.0,
        factor: 4.0,
    });
    let by = |name, loss, continuation| NamedSolver {
        name,
        solver: Solver {
            loss,
            continuation,
            ..Solver::default()
        },
    };
    let cauchy = by("fit: Cauchy 0.05 m (default)", Loss::Cauchy { scale }, wide);
    let with_method = |name, method| NamedSolver {
        name,
        solver: Solver {
            method,
            ..cauchy.solver
        },
    };
    vec![
        with_method(
            "fit: Cauchy 0.05 m, Gauss-Newton",
            SolverMethod::GaussNewton,
        ),
        with_method(
            "fit: Cauchy 0.05 m, L-BFGS",
            SolverMethod::Lbfgs { memory: 10 },
        ),
        by("fit: Huber 0.05 m", Loss::Huber { scale }, wide),
        by(
            "fit: Geman-McClure 0.05 m",
            Loss::GemanMcClure { scale },
            wide,
        ),
        by("fit and localise: squared", Loss::Squared, None),
        NamedSolver {
            name: "localise-complex: Cauchy 0.05 m",
            solver: LocaliseSettings::complex().solver,
        },
        cauchy,
    ]
}

/// The empty arena with 3 mm of noise and the sensor off its centre.
pub fn arena_settings() -> LocaliseSettings {
    LocaliseSettings {
        truth: Isometry2::new(Vector2::new(0.1, 0.05), 10_f64.to_radians()),
        sigma: 0.003,
        ..LocaliseSettings::empty()
    }
}

/// Random poses in the arena: at least 7 cm from the walls, with any yaw.
pub fn arena_starts(count: u32, seed: u64) -> Vec<Isometry2<f64>> {
    let start = |number| {
        let mut stream = Stream::new(seed, 4, 0, number, Purpose::Search);
        let mut within = |half: f64| half * (2.0 * stream.uniform() - 1.0);
        let at = Vector2::new(within(0.85), within(0.39));
        Isometry2::new(at, within(0.5 * TAU))
    };
    (0..count).map(start).collect()
}

/// Localises from every start and counts the poses at which the fits end.
///
/// # Errors
/// If the lidar does not fit the arena.
pub fn count_arena_ends(
    lidar: &Lidar,
    solver: &Solver,
    starts: &[Isometry2<f64>],
) -> Result<StartCounts, FitError> {
    let settings = arena_settings();
    let problem = settings.problem(lidar)?;
    let solve = |start: &Isometry2<f64>| end_of(&problem, solver, *start);
    let ends: Vec<_> = starts.par_iter().map(solve).collect();
    let mut counts = StartCounts::default();
    for end in ends {
        let is_at = |pose: &Isometry2<f64>| end.is_some_and(|end| pose_error(&end, pose) < FOUND);
        if is_at(&settings.truth) {
            counts.truth += 1;
        } else if is_at(&twin(&settings.truth)) {
            counts.twin += 1;
        } else {
            counts.other += 1;
        }
    }
    Ok(counts)
}

/// Pose at the end of a fit.
fn end_of(problem: &FitProblem, solver: &Solver, start: Isometry2<f64>) -> Option<Isometry2<f64>> {
    let start = vec![Variable::Planar(start)];
    let found = solve_by_schedules(problem, solver, start, &mut |_| {}).ok()?;
    first_pose(&found.state)
}

/// The pose with the same scan in the empty arena.
fn twin(pose: &Isometry2<f64>) -> Isometry2<f64> {
    Isometry2::rotation(PI) * pose
}

/// Number of `starts` random starts in its box from which a mirror is found within 5 mm (m and rad
/// together), without a search over the box.
///
/// # Errors
/// If the lidar does not fit the arena.
pub fn count_mirrors_found(lidar: &Lidar, starts: u32) -> Result<usize, FitError> {
    let settings = TrackSettings::from_the_start();
    let starts = settings.random_starts(starts).into_par_iter();
    let error = |start| track_mirror(lidar, &settings, start).map(|row| row.error.total);
    let errors: Vec<f64> = starts.map(error).collect::<Result<_, _>>()?;
    Ok(errors.into_iter().filter(|error| *error < 5e-3).count())
}

/// Table of the ends from random starts: `arena` starts for each of the [`default_solvers`], and `mirror`
/// starts of the mirror.
///
/// # Errors
/// If the lidar does not fit the arena.
pub fn starts_tables(lidar: &Lidar, arena: u32, mirror: u32) -> Result<[ResultTable; 2], FitError> {
    // The empty arena
    let mut ends = ResultTable::new(
        "Random starts in the empty arena, noise 3 mm",
        &[
            "solver",
            "starts",
            "truth",
            "turned by 180 degrees",
            "other",
        ],
    );
    let starts = arena_starts(arena, 1);
    for NamedSolver { name, solver } in default_solvers() {
        let counts = count_arena_ends(lidar, &solver, &starts)?;
        ends.push(vec![
            name.into(),
            starts.len().into(),
            counts.truth.into(),
            counts.twin.into(),
            counts.other.into(),
        ]);
    }
    // The mirror
    let mut mirrors = ResultTable::new(
        "A mirror of 0.3 m from random starts, without a search",
        &["starts", "below 5 mm"],
    );
    let found = count_mirrors_found(lidar, mirror)?;
    mirrors.push(vec![(mirror as usize).into(), found.into()]);
    Ok([ends, mirrors])
}
