//! Localisation of the sensor in a known arena (section IV-A).

use super::measurements::{first_pose, pose_error, readings};
use super::scene::{Furniture, arena};
use etendue_estimate::fit::{
    AmbiguousMinima, CoarseSearch, FitError, FitProblem, coarse_search, find_ambiguous_minima,
    planar_grid, solve_by_schedules,
};
use etendue_estimate::manifold::Variable;
use etendue_estimate::model::{Freedom, Model, upright};
use etendue_estimate::solve::{Continuation, LeastSquares, Loss, Solver, StopReason};
use etendue_estimate::uncertainty::cramer_rao;
use etendue_sensors::lidar::Lidar;
use nalgebra::Isometry2;

/// Settings of the localisation.
#[derive(Clone, Debug, PartialEq)]
pub struct LocaliseSettings {
    /// Furniture of the arena.
    pub furniture: Vec<Furniture>,
    /// True pose of the sensor.
    pub truth: Isometry2<f64>,
    /// Solver.
    pub solver: Solver,
    /// Standard deviation of the measured ranges, m.
    pub sigma: f64,
    /// Seed of the noise.
    pub seed: u64,
}

/// Result from one start.
#[derive(Clone, Debug, PartialEq)]
pub struct LocaliseRow {
    /// Start.
    pub start: Isometry2<f64>,
    /// Pose error of the start.
    pub start_error: f64,
    /// Estimate.
    pub found: Isometry2<f64>,
    /// Pose error of the estimate.
    pub error: f64,
    /// Pose error after each iteration.
    pub errors: Vec<f64>,
    /// Pose after each iteration.
    pub path: Vec<Isometry2<f64>>,
    /// Cost at the end.
    pub cost: f64,
    /// Stop reason of the solver.
    pub stop: StopReason,
    /// Number of measured beams that are not predicted at the end.
    pub missing: usize,
}

/// Errors over many noise seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseRow {
    /// Standard deviation of the ranges, m.
    pub sigma: f64,
    /// Root mean square of the pose errors.
    pub rms: f64,
    /// Cramér-Rao bound of the root mean square.
    pub bound: f64,
    /// Number of seeds.
    pub runs: usize,
}

impl LocaliseSettings {
    /// Empty arena with the sensor in its centre, squared loss.
    pub fn empty() -> Self {
        Self {
            furniture: Vec::new(),
            truth: Isometry2::identity(),
            solver: Solver::default(),
            sigma: 0.0,
            seed: 1,
        }
    }

    /// The arena with a box of 0.1 m, which breaks its symmetry.
    pub fn with_box() -> Self {
        let carton = Furniture::Carton {
            name: "box",
            pose: [0.6, 0.25, 0.3],
            side: 0.1,
        };
        Self {
            furniture: vec![carton],
            ..Self::empty()
        }
    }

    /// Arena with two mirrors, a pane and a box; Cauchy loss of 5 cm after graduated non-convexity.
    pub fn complex() -> Self {
        // Mirrors, glass and a box
        let mirror = |name, pose, width| Furniture::Mirror { name, pose, width };
        let furniture = vec![
            mirror("mirror 1", [0.5, 0.35, -2.2], 0.3),
            mirror("mirror 2", [-0.6, -0.3, 0.7], 0.25),
            Furniture::Pane {
                name: "pane",
                pose: [0.55, -0.2, 0.3],
                width: 0.3,
            },
            Furniture::Carton {
                name: "box",
                pose: [-0.55, 0.25, 0.4],
                side: 0.12,
            },
        ];

        // Robust loss
        let solver = Solver {
            loss: Loss::Cauchy { scale: 0.05 },
            continuation: Some(Continuation {
                widest: 4.0,
                factor: 4.0,
            }),
            ..Solver::default()
        };
        Self {
            furniture,
            solver,
            ..Self::empty()
        }
    }

    /// Problem with a scan simulated at the true pose.
    ///
    /// # Errors
    /// If the lidar is invalid or the scan has no ranges.
    pub fn problem(&self, lidar: &Lidar) -> Result<FitProblem, FitError> {
        let mut model = Model::new(arena(&self.furniture), lidar, vec![upright(&self.truth)])?;
        model.free("sensor.pose", Freedom::Planar)?;
        let shots = model.predict(&model.start());
        FitProblem::new(model, &[readings(&shots[0], self.sigma, self.seed)])
    }
}

/// Localises from one start.
///
/// # Errors
/// If the problem is invalid or the solver fails.
///
/// ```
/// use etendue_experiments::arena::{LocaliseSettings, localise, urg_04lx};
/// use nalgebra::{Isometry2, Vector2};
/// let start = Isometry2::new(Vector2::zeros(), 60_f64.to_radians());
/// let row = localise(&urg_04lx(), &LocaliseSettings::empty(), start)?;
/// assert!(row.error < 1e-6 && row.errors.len() <= 12);
/// # Ok::<(), etendue_estimate::fit::FitError>(())
/// ```
pub fn localise(
    lidar: &Lidar,
    settings: &LocaliseSettings,
    start: Isometry2<f64>,
) -> Result<LocaliseRow, FitError> {
    solve_from(&settings.problem(lidar)?, settings, start)
}

/// Localises from many starts.
///
/// # Errors
/// As [`localise`].
pub fn localise_many(
    lidar: &Lidar,
    settings: &LocaliseSettings,
    starts: &[Isometry2<f64>],
) -> Result<Vec<LocaliseRow>, FitError> {
    let problem = settings.problem(lidar)?;
    let solve = |start: &Isometry2<f64>| solve_from(&problem, settings, *start);
    starts.iter().map(solve).collect()
}

pub(super) fn solve_from(
    problem: &FitProblem,
    settings: &LocaliseSettings,
    start: Isometry2<f64>,
) -> Result<LocaliseRow, FitError> {
    let start_state = vec![Variable::Planar(start)];
    let solution = solve_by_schedules(problem, &settings.solver, start_state, &mut |_| {})?;
    let pose = |state: &[Variable]| first_pose(state).unwrap_or(start);
    let error = |state: &[Variable]| pose_error(&pose(state), &settings.truth);
    Ok(LocaliseRow {
        start,
        start_error: pose_error(&start, &settings.truth),
        found: pose(&solution.state),
        error: error(&solution.state),
        errors: solution.log.iter().map(|i| error(&i.state)).collect(),
        path: solution.log.iter().map(|i| pose(&i.state)).collect(),
        cost: solution.cost,
        stop: solution.stop,
        missing: solution.residuals.missing,
    })
}

/// Localises without a start: rates a grid of poses over the arena, and refines the best to all distinct
/// minima. More than one solution is an ambiguity of the scan.
///
/// # Errors
/// As [`localise`].
pub fn localise_anywhere(
    lidar: &Lidar,
    settings: &LocaliseSettings,
) -> Result<AmbiguousMinima, FitError> {
    // Rate a grid of poses
    let problem = settings.problem(lidar)?;
    let coarse = CoarseSearch {
        every: 16,
        loss: Loss::Cauchy { scale: 0.1 },
        gate: 1.0,
        keep: 12,
        apart: 0.3,
    };
    let grid = planar_grid([-0.85, -0.4], [0.85, 0.4], 3528);
    let states = grid.map(|pose| vec![Variable::Planar(pose)]);
    let starts = coarse_search(&problem, states, &coarse);

    // Refine the best
    let starts = starts.into_iter().map(|(state, _)| state);
    Ok(find_ambiguous_minima(
        &problem,
        &settings.solver,
        &[],
        starts,
        1e-2,
        |_| settings.sigma,
    )?)
}

/// Localises under noise with `runs` seeds, and computes the Cramér-Rao bound.
///
/// # Errors
/// As [`localise`].
pub fn localise_noise(
    lidar: &Lidar,
    settings: &LocaliseSettings,
    start: Isometry2<f64>,
    runs: u32,
) -> Result<NoiseRow, FitError> {
    let mut squares = 0.0;
    for run in 0..runs {
        let seeded = LocaliseSettings {
            seed: settings.seed + u64::from(run),
            ..settings.clone()
        };
        squares += localise(lidar, &seeded, start)?.error.powi(2);
    }
    let problem = settings.problem(lidar)?;
    let truth = vec![Variable::Planar(settings.truth)];
    let bound = cramer_rao(&problem.linearize(&truth), settings.sigma);
    Ok(NoiseRow {
        sigma: settings.sigma,
        rms: (squares / f64::from(runs)).sqrt(),
        bound: bound.map_or(f64::INFINITY, |covariance| covariance.trace().sqrt()),
        runs: runs as usize,
    })
}
