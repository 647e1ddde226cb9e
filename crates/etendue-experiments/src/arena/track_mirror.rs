//! Tracking of a mirror (section IV-B).
//!
//! The reflected walls determine the mirror across its plane, and only its edges determine it along the
//! plane. The search goes from coarse to fine: poses over the box with one ray per beam, more poses
//! around the best, Levenberg-Marquardt with edges of beams four times too wide, then with the true
//! beams and a line search along the plane of the mirror ([`solve_in_stages`]). Without the search over the
//! box, the fit starts at the start and restarts with soft visibility ([`solve_from_start`]).

use super::measurements::{first_pose, pose_error, readings};
use super::scene::{Furniture, arena};
use etendue_estimate::fit::{
    CoarseSearch, FitError, FitProblem, coarse_search, scatter, solve_from_start, solve_in_stages,
};
use etendue_estimate::manifold::Variable;
use etendue_estimate::model::{Freedom, Model};
use etendue_estimate::solve::{Loss, Solution, Solver, SolverLimits};
use etendue_estimate::visibility::EdgeSettings;
use etendue_physics::{Purpose, Stream};
use etendue_scene::SceneBuilder;
use etendue_sensors::lidar::Lidar;
use nalgebra::{Isometry2, Isometry3, Vector2};
use std::f64::consts::{FRAC_PI_2, PI};

/// Mirror and search.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackSettings {
    /// True pose of the mirror.
    pub truth: Isometry2<f64>,
    /// Width of the mirror, m.
    pub width: f64,
    /// Lower corner of the box of the search, m.
    pub lower: [f64; 2],
    /// Upper corner of the box, m.
    pub upper: [f64; 2],
    /// Standard deviation of the measured ranges, m.
    pub sigma: f64,
    /// Seed of the noise and of random poses.
    pub seed: u64,
    /// Loss of the residuals.
    pub loss: Loss,
    /// Factor on the beam width in each stage; the last should be 1.
    pub widths: Vec<f64>,
    /// Number of poses of the coarse search over the whole box; 0 for the start only.
    pub coarse: u32,
    /// Number of candidates of the coarse search that are refined.
    pub keep: usize,
}

/// Error of the pose of the mirror.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MirrorError {
    /// Across the mirror, m.
    pub normal: f64,
    /// Along the mirror, m.
    pub tangential: f64,
    /// Yaw, rad.
    pub yaw: f64,
    /// SE(2) distance, m and rad together.
    pub total: f64,
}

/// Result from one start.
#[derive(Clone, Debug, PartialEq)]
pub struct MirrorRow {
    /// Start.
    pub start: Isometry2<f64>,
    /// Pose error of the start.
    pub start_error: f64,
    /// Estimate.
    pub found: Isometry2<f64>,
    /// Error of the estimate.
    pub error: MirrorError,
    /// Number of Levenberg-Marquardt iterations of all stages.
    pub iterations: usize,
    /// Pose after each iteration.
    pub path: Vec<Isometry2<f64>>,
    /// Cost at the end.
    pub cost: f64,
}

impl Default for TrackSettings {
    fn default() -> Self {
        Self {
            truth: Isometry2::new(Vector2::new(0.5, 0.05), 2.8),
            width: 0.3,
            lower: [0.2, -0.3],
            upper: [0.8, 0.3],
            sigma: 0.0,
            seed: 1,
            loss: Loss::Cauchy { scale: 0.05 },
            widths: vec![4.0, 1.0],
            coarse: 2400,
            keep: 6,
        }
    }
}

impl TrackSettings {
    /// Settings without a search over the box: the fit starts at the start.
    pub fn from_the_start() -> Self {
        Self {
            coarse: 0,
            ..Self::default()
        }
    }

    /// Problem with a scan simulated with the mirror at its true pose.
    ///
    /// # Errors
    /// If the mirror is outside the box, or the lidar is invalid.
    pub fn problem(&self, lidar: &Lidar) -> Result<FitProblem, FitError> {
        let parts = self.parts(&self.truth);
        let mut model = Model::new(parts, lidar, vec![Isometry3::identity()])?;
        let lower = self.lower;
        let upper = self.upper;
        model.free("objects.mirror.pose", Freedom::Boxed { lower, upper })?;
        // The scan is simulated with rays; the model integrates over the beam
        let shots = model.predict(&model.start());
        model.edges = Some(EdgeSettings::default());
        FitProblem::new(model, &[readings(&shots[0], self.sigma, self.seed)])
    }

    /// Arena with the mirror at a pose.
    pub fn parts(&self, pose: &Isometry2<f64>) -> SceneBuilder {
        let at = pose.translation.vector;
        arena(&[Furniture::Mirror {
            name: "mirror",
            pose: [at.x, at.y, pose.rotation.angle()],
            width: self.width,
        }])
    }

    /// Pose in the box from three numbers in (0, 1), with the front of the mirror towards the sensor.
    fn pose(&self, [x, y, yaw]: [f64; 3]) -> Isometry2<f64> {
        let between =
            |fraction: f64, k: usize| self.lower[k] + fraction * (self.upper[k] - self.lower[k]);
        Isometry2::new(
            Vector2::new(between(x, 0), between(y, 1)),
            FRAC_PI_2 + PI * yaw,
        )
    }

    /// Solver of the refinement.
    pub fn solver(&self) -> Solver {
        Solver {
            loss: self.loss,
            limits: SolverLimits {
                iterations: 40,
                step: 1e-5,
                cost: 1e-3,
                ..SolverLimits::default()
            },
            ..Solver::default()
        }
    }

    /// Uniform random pose inside the box.
    fn random_pose(&self, stream: &mut Stream) -> Isometry2<f64> {
        let inside: [f64; 3] = std::array::from_fn(|_| 0.02 + 0.96 * stream.uniform());
        self.pose(inside)
    }

    fn variable(&self, pose: &Isometry2<f64>) -> Result<Variable, FitError> {
        Variable::boxed(pose, self.lower, self.upper).map_err(|source| {
            FitError::Model(etendue_estimate::model::ModelError::Start {
                path: "objects.mirror.pose".to_owned(),
                source,
            })
        })
    }

    /// Start like that of the paper: off by 0.1 m along both axes and by 10 degrees.
    pub fn paper_start(&self) -> Isometry2<f64> {
        let at = self.truth.translation.vector + Vector2::new(0.1, 0.1);
        let yaw = self.truth.rotation.angle() - 10_f64.to_radians();
        Isometry2::new(at, yaw)
    }

    /// Random starts in the box.
    pub fn random_starts(&self, count: u32) -> Vec<Isometry2<f64>> {
        let draw = |number| {
            let mut stream = Stream::new(self.seed, 1, 0, number, Purpose::Search);
            self.random_pose(&mut stream)
        };
        (0..count).map(draw).collect()
    }
}

/// Tracks the mirror from one start.
///
/// # Errors
/// If the start is outside the box, or the solver fails.
pub fn track_mirror(
    lidar: &Lidar,
    settings: &TrackSettings,
    start: Isometry2<f64>,
) -> Result<MirrorRow, FitError> {
    track(&settings.problem(lidar)?, settings, start)
}

/// Tracks the mirror from many starts.
///
/// # Errors
/// As [`track_mirror`].
pub fn track_mirror_many(
    lidar: &Lidar,
    settings: &TrackSettings,
    starts: &[Isometry2<f64>],
) -> Result<Vec<MirrorRow>, FitError> {
    let problem = settings.problem(lidar)?;
    let one = |start: &Isometry2<f64>| track(&problem, settings, *start);
    starts.iter().map(one).collect()
}

pub(super) fn track(
    problem: &FitProblem,
    settings: &TrackSettings,
    start: Isometry2<f64>,
) -> Result<MirrorRow, FitError> {
    // Refine each candidate and keep the best
    let first = vec![settings.variable(&start)?];
    if settings.coarse == 0 {
        return Ok(row(
            settings,
            start,
            &from_start(problem, settings, &first)?,
        ));
    }
    let mut best: Option<Solution<Vec<Variable>>> = None;
    let mut failure = None;
    for candidate in candidates(problem, settings, first)? {
        let refined = match refine(problem, settings, candidate) {
            Ok(refined) => refined,
            Err(error) => {
                failure = Some(error);
                continue;
            }
        };
        if best.as_ref().is_none_or(|best| refined.cost < best.cost) {
            best = Some(refined);
        }
    }
    let Some(solution) = best else {
        return Err(failure.unwrap_or(FitError::NothingFree));
    };

    Ok(row(settings, start, &solution))
}

/// Result of a solution from a start.
fn row(
    settings: &TrackSettings,
    start: Isometry2<f64>,
    solution: &Solution<Vec<Variable>>,
) -> MirrorRow {
    let iterations = solution.log.iter();
    let path: Vec<_> = iterations
        .filter_map(|iteration| first_pose(&iteration.state))
        .collect();
    let found = first_pose(&solution.state).unwrap_or(start);
    MirrorRow {
        start,
        start_error: pose_error(&start, &settings.truth),
        found,
        error: mirror_error(&found, &settings.truth),
        iterations: path.len(),
        path,
        cost: solution.cost,
    }
}

/// Poses to refine: the best of the start and of random poses, by two coarse searches.
fn candidates(
    problem: &FitProblem,
    settings: &TrackSettings,
    start: Vec<Variable>,
) -> Result<Vec<Vec<Variable>>, FitError> {
    // Random poses over the box, with few beams
    let mut poses = vec![start];
    for number in 0..settings.coarse {
        let mut stream = Stream::new(settings.seed, 2, 0, number, Purpose::Search);
        poses.push(vec![settings.variable(&settings.random_pose(&mut stream))?]);
    }
    let rough = CoarseSearch {
        every: 8,
        loss: settings.loss,
        gate: 1.0,
        keep: 2 * settings.keep,
        apart: 0.2,
    };
    let around = coarse_search(problem, poses, &rough);

    // More poses around the best, with more beams
    let spread = [0.2, 0.2, 0.1];
    let near = scatter(around, &spread, settings.coarse / 20, settings.seed);
    let fine = CoarseSearch {
        every: 4,
        keep: settings.keep,
        apart: 0.1,
        ..rough
    };
    let kept = coarse_search(problem, near, &fine);
    Ok(kept.into_iter().map(|(state, _)| state).collect())
}

/// Levenberg-Marquardt in stages of decreasing beam width, with restarts by soft visibility.
fn from_start(
    problem: &FitProblem,
    settings: &TrackSettings,
    start: &[Variable],
) -> Result<Solution<Vec<Variable>>, FitError> {
    let solver = settings.solver();
    let widths = &settings.widths;
    Ok(solve_from_start(
        problem,
        &solver,
        widths,
        start,
        &mut |_| {},
    )?)
}

/// Levenberg-Marquardt in stages of decreasing beam width.
fn refine(
    problem: &FitProblem,
    settings: &TrackSettings,
    start: Vec<Variable>,
) -> Result<Solution<Vec<Variable>>, FitError> {
    let solver = settings.solver();
    Ok(solve_in_stages(
        problem,
        &solver,
        &settings.widths,
        start,
        &mut |_| {},
    )?)
}

fn mirror_error(found: &Isometry2<f64>, truth: &Isometry2<f64>) -> MirrorError {
    let shift =
        truth.inverse_transform_vector(&(found.translation.vector - truth.translation.vector));
    MirrorError {
        normal: shift.x.abs(),
        tangential: shift.y.abs(),
        yaw: (found.rotation / truth.rotation).angle().abs(),
        total: pose_error(found, truth),
    }
}
