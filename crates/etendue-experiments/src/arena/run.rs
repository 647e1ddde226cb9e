//! Runs of the experiments of the paper, next to the baselines.

use super::baselines::run_baselines;
use super::checkerboard::{BoardReport, BoardSettings, checkerboard};
use super::localise::{
    LocaliseSettings, localise_anywhere, localise_many, localise_noise, solve_from,
};
use super::measurements::{first_pose, pose_error};
use super::table::{FigureLine, ResultCell, ResultTable};
use super::track_mirror::{MirrorError, MirrorRow, TrackSettings, track, track_mirror_many};
use super::view::{ArenaView, LineFigure};
use etendue_estimate::fit::{EXCLUSION_LEVEL, FitError};
use etendue_estimate::solve::{Loss, Solver};
use etendue_physics::statistics::nearest_quantile;
use etendue_physics::{Purpose, Stream};
use etendue_sensors::lidar::Lidar;
use nalgebra::{Isometry2, Vector2};

/// Experiment of section IV of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArenaExperiment {
    /// Localisation of the sensor in the empty arena.
    Localise,
    /// Localisation in the arena with mirrors, glass and a box.
    LocaliseComplex,
    /// Tracking of the pose of a mirror.
    TrackMirror,
    /// Reflectances of a checkerboard and the bias of the receiver.
    Checkerboard,
}

/// Number of runs and their noise.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentEffort {
    /// Number of random starts.
    pub starts: u32,
    /// Number of noise seeds per row.
    pub seeds: u32,
    /// Standard deviations of the ranges, m. The first is that of the pictures and of random starts. The
    /// checkerboard uses the first above zero, else 1 mm.
    pub noise: Vec<f64>,
}

/// Results of an experiment.
#[derive(Clone, Debug, Default)]
pub struct ExperimentResults {
    /// Tables.
    pub tables: Vec<ResultTable>,
    /// Pose errors (m and rad together) over iterations.
    pub curves: Vec<FigureLine>,
    /// Start, steps and result in the scene.
    pub views: Vec<ArenaView>,
    /// Other figures.
    pub figures: Vec<LineFigure>,
    /// Conclusions.
    pub remarks: Vec<String>,
}

impl Default for ExperimentEffort {
    fn default() -> Self {
        Self {
            starts: 60,
            seeds: 40,
            noise: vec![0.0, 0.003, 0.01, 0.03],
        }
    }
}

impl ExperimentEffort {
    /// Noise of the pictures, m.
    fn first(&self) -> f64 {
        self.noise.first().copied().unwrap_or(0.0)
    }
}

impl ArenaExperiment {
    /// All experiments.
    pub const ALL: [Self; 4] = [
        Self::Localise,
        Self::LocaliseComplex,
        Self::TrackMirror,
        Self::Checkerboard,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Localise => "localise",
            Self::LocaliseComplex => "localise-complex",
            Self::TrackMirror => "track-mirror",
            Self::Checkerboard => "checkerboard",
        }
    }

    /// Runs the experiment with a lidar.
    ///
    /// # Errors
    /// If the lidar does not fit the experiment, or a solver fails.
    pub fn run(
        self,
        lidar: &Lidar,
        effort: &ExperimentEffort,
    ) -> Result<ExperimentResults, FitError> {
        match self {
            Self::Localise => run_localise(lidar, effort),
            Self::LocaliseComplex => run_complex(lidar, effort),
            Self::TrackMirror => run_track(lidar, effort),
            Self::Checkerboard => run_checkerboard(lidar, effort),
        }
    }
}

fn run_localise(lidar: &Lidar, effort: &ExperimentEffort) -> Result<ExperimentResults, FitError> {
    // One start, drawn
    let settings = LocaliseSettings {
        sigma: effort.first(),
        ..LocaliseSettings::empty()
    };
    let start = Isometry2::rotation(60_f64.to_radians());
    let mut outcome = ExperimentResults::default();
    draw_localise(lidar, &settings, start, &mut outcome)?;

    // Yaw errors, noise and baselines
    outcome.tables.push(yaw_table(lidar, &settings)?);
    outcome
        .tables
        .push(noise_table(lidar, &settings, start, effort)?);
    outcome
        .tables
        .push(baseline_table(lidar, &settings, start, effort)?);

    // Ambiguities, without and with a box
    let with_box = LocaliseSettings {
        sigma: settings.sigma,
        ..LocaliseSettings::with_box()
    };
    for (name, settings) in [
        ("the empty arena", settings),
        ("the arena with a box of 0.1 m", with_box),
    ] {
        outcome
            .remarks
            .push(ambiguity_remark(lidar, &settings, name)?);
    }
    Ok(outcome)
}

fn run_complex(lidar: &Lidar, effort: &ExperimentEffort) -> Result<ExperimentResults, FitError> {
    let settings = LocaliseSettings {
        sigma: effort.first(),
        ..LocaliseSettings::complex()
    };

    // One start, drawn
    let start = Isometry2::new(Vector2::new(0.1, 0.1), 10_f64.to_radians());
    let mut outcome = ExperimentResults::default();
    draw_localise(lidar, &settings, start, &mut outcome)?;

    // Random starts, noise, baselines and ambiguities
    outcome.tables.push(loss_table(lidar, &settings, effort)?);
    outcome
        .tables
        .push(noise_table(lidar, &settings, start, effort)?);
    outcome
        .tables
        .push(baseline_table(lidar, &settings, start, effort)?);
    outcome.remarks.push(ambiguity_remark(
        lidar,
        &settings,
        "the arena among mirrors and glass",
    )?);
    Ok(outcome)
}

/// Success of two losses from random starts.
fn loss_table(
    lidar: &Lidar,
    settings: &LocaliseSettings,
    effort: &ExperimentEffort,
) -> Result<ResultTable, FitError> {
    let starts = near_starts(effort.starts);
    let near = 1e-3 + 0.3 * settings.sigma;
    let mut table = ResultTable::new(
        format!("Starts within 0.15 m and 15 degrees that end within {near:.1e} of the truth"),
        &["loss", "starts", "successes", "median iterations"],
    );
    let squared = Solver {
        loss: Loss::Squared,
        ..Solver::default()
    };

    // Each loss from the same starts
    for (name, solver) in [("Cauchy 0.05 m", settings.solver), ("squared", squared)] {
        let tried = LocaliseSettings {
            solver,
            ..settings.clone()
        };
        let rows = localise_many(lidar, &tried, &starts)?;
        let successes = rows.iter().filter(|row| row.error < near).count();
        let mut iterations: Vec<usize> = rows.iter().map(|row| row.errors.len()).collect();
        iterations.sort_unstable();
        let median = nearest_quantile(&iterations, 0.5).unwrap_or(0);
        table.push(vec![
            name.into(),
            rows.len().into(),
            successes.into(),
            median.into(),
        ]);
    }
    Ok(table)
}

/// Localises from one start and draws it.
fn draw_localise(
    lidar: &Lidar,
    settings: &LocaliseSettings,
    start: Isometry2<f64>,
    outcome: &mut ExperimentResults,
) -> Result<(), FitError> {
    let problem = settings.problem(lidar)?;
    let row = solve_from(&problem, settings, start)?;
    let curve = FigureLine::of_errors("model", row.start_error, &row.errors);
    outcome.curves.push(curve);
    let view = ArenaView::of_localise(settings, &problem, &row);
    outcome.views.push(view);
    Ok(())
}

/// Starts within 0.15 m along each axis and 15 degrees of the origin.
fn near_starts(count: u32) -> Vec<Isometry2<f64>> {
    let start = |number| {
        let mut stream = Stream::new(3, 0, 0, number, Purpose::Search);
        let mut within = |half: f64| half * (2.0 * stream.uniform() - 1.0);
        let at = Vector2::new(within(0.15), within(0.15));
        Isometry2::new(at, within(15_f64.to_radians()))
    };
    (0..count).map(start).collect()
}

fn yaw_table(lidar: &Lidar, settings: &LocaliseSettings) -> Result<ResultTable, FitError> {
    let mut table = ResultTable::new(
        format!(
            "Localising from a yaw error, noise {:.0} mm",
            1e3 * settings.sigma
        ),
        &["start, deg", "iterations", "error"],
    );
    let degrees = [
        5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 65.0, 70.0, 75.0, 80.0,
    ];
    let starts = degrees.map(|d: f64| Isometry2::rotation(d.to_radians()));
    for (degrees, row) in degrees.iter().zip(localise_many(lidar, settings, &starts)?) {
        table.push(vec![
            (*degrees).into(),
            row.errors.len().into(),
            row.error.into(),
        ]);
    }
    Ok(table)
}

fn noise_table(
    lidar: &Lidar,
    settings: &LocaliseSettings,
    start: Isometry2<f64>,
    effort: &ExperimentEffort,
) -> Result<ResultTable, FitError> {
    let mut table = ResultTable::new(
        format!("Localising under noise, {} seeds", effort.seeds),
        &["noise, mm", "rms error", "Cramer-Rao bound"],
    );
    for &sigma in &effort.noise {
        let noisy = LocaliseSettings {
            sigma,
            ..settings.clone()
        };
        let row = localise_noise(lidar, &noisy, start, effort.seeds)?;
        table.push(vec![(1e3 * sigma).into(), row.rms.into(), row.bound.into()]);
    }
    Ok(table)
}

fn baseline_table(
    lidar: &Lidar,
    settings: &LocaliseSettings,
    start: Isometry2<f64>,
    effort: &ExperimentEffort,
) -> Result<ResultTable, FitError> {
    let mut table = ResultTable::new(
        format!(
            "Root mean square errors over {} noise seeds: registration baselines, default and tuned",
            effort.seeds
        ),
        &["noise, mm", "method", "default settings", "tuned settings"],
    );
    let problem = settings.problem(lidar)?;
    for &sigma in &effort.noise {
        // The model
        let noisy = LocaliseSettings {
            sigma,
            ..settings.clone()
        };
        let ours = localise_noise(lidar, &noisy, start, effort.seeds)?.rms;
        table.push(vec![
            (1e3 * sigma).into(),
            "model".into(),
            ours.into(),
            ours.into(),
        ]);

        // Registration, with default and tuned settings
        let baselines = run_baselines(
            &problem,
            &start,
            &settings.truth,
            sigma,
            settings.seed,
            effort.seeds,
        );
        for row in baselines {
            table.push(vec![
                (1e3 * sigma).into(),
                row.method.name().into(),
                row.default_error.into(),
                row.tuned_error.into(),
            ]);
        }
    }
    Ok(table)
}

fn ambiguity_remark(
    lidar: &Lidar,
    settings: &LocaliseSettings,
    name: &str,
) -> Result<String, FitError> {
    // Poses of all minima with their errors
    let minima = localise_anywhere(lidar, settings)?;
    let poses = minima.solutions.iter();
    let poses = poses.filter_map(|minimum| first_pose(&minimum.solution.state));
    let descriptions: Vec<String> = poses
        .map(|pose| {
            let at = pose.translation.vector;
            let yaw = pose.rotation.angle().to_degrees();
            let error = pose_error(&pose, &settings.truth);
            format!(
                "({:.3} m, {:.3} m, {yaw:.1} deg; error {error:.1e})",
                at.x, at.y
            )
        })
        .collect();

    // One explanation of the scan, or several
    Ok(match &descriptions[..] {
        [only] => format!("From anywhere in {name}: one pose explains the scan, {only}."),
        several => format!(
            "From anywhere in {name}: {} poses explain the scan, with chi-square differences below {}: {}.",
            several.len(),
            EXCLUSION_LEVEL,
            several.join(", ")
        ),
    })
}

fn run_track(lidar: &Lidar, effort: &ExperimentEffort) -> Result<ExperimentResults, FitError> {
    let settings = TrackSettings {
        sigma: effort.first(),
        ..TrackSettings::default()
    };
    let mut outcome = ExperimentResults::default();
    outcome.tables.push(search_table(lidar, &settings, effort)?);
    add_tracks_under_noise(lidar, &settings, effort, &mut outcome)?;
    Ok(outcome)
}

/// Success from random starts, without and with a coarse search.
fn search_table(
    lidar: &Lidar,
    settings: &TrackSettings,
    effort: &ExperimentEffort,
) -> Result<ResultTable, FitError> {
    let mut table = ResultTable::new(
        "Tracking a mirror of 0.3 m from random starts in the box",
        &[
            "search",
            "starts",
            "below 5 mm",
            "median normal, m",
            "median tangential, m",
            "median yaw, rad",
            "most iterations",
        ],
    );
    let starts = settings.random_starts(effort.starts);

    // From the start only
    let without_search = TrackSettings {
        coarse: 0,
        ..settings.clone()
    };
    let rows = track_mirror_many(lidar, &without_search, &starts)?;
    table.push(track_row("no search, restarts with soft visibility", &rows));

    // After a coarse search
    let rows = track_mirror_many(lidar, settings, &starts)?;
    table.push(track_row("coarse search", &rows));
    Ok(table)
}

/// Adds the errors from the start of the paper for each noise, and draws those of the first.
fn add_tracks_under_noise(
    lidar: &Lidar,
    settings: &TrackSettings,
    effort: &ExperimentEffort,
    outcome: &mut ExperimentResults,
) -> Result<(), FitError> {
    let mut table = ResultTable::new(
        "From the start of the paper",
        &[
            "noise, mm",
            "normal, m",
            "tangential, m",
            "yaw, rad",
            "iterations",
        ],
    );
    for (number, &sigma) in effort.noise.iter().enumerate() {
        // Track under this noise
        let noisy = TrackSettings {
            sigma,
            ..settings.clone()
        };
        let problem = noisy.problem(lidar)?;
        let row = track(&problem, &noisy, settings.paper_start())?;
        table.push(vec![
            (1e3 * sigma).into(),
            row.error.normal.into(),
            row.error.tangential.into(),
            row.error.yaw.into(),
            row.iterations.into(),
        ]);

        // Draw the first
        if number == 0 {
            let poses = row.path.iter();
            let errors: Vec<f64> = poses.map(|p| pose_error(p, &settings.truth)).collect();
            let curve = FigureLine::of_errors("model", row.start_error, &errors);
            outcome.curves.push(curve);
            let view = ArenaView::of_mirror(&noisy, &problem, &row);
            outcome.views.push(view);
        }
    }
    outcome.tables.push(table);
    Ok(())
}

fn track_row(name: &str, rows: &[MirrorRow]) -> Vec<ResultCell> {
    let median = |of: fn(&MirrorError) -> f64| {
        let mut values: Vec<f64> = rows.iter().map(|row| of(&row.error)).collect();
        values.sort_by(f64::total_cmp);
        nearest_quantile(&values, 0.5).unwrap_or(f64::NAN)
    };
    vec![
        name.into(),
        rows.len().into(),
        rows.iter()
            .filter(|row| row.error.total < 5e-3)
            .count()
            .into(),
        median(|e| e.normal).into(),
        median(|e| e.tangential).into(),
        median(|e| e.yaw).into(),
        rows.iter()
            .map(|row| row.iterations)
            .max()
            .unwrap_or(0)
            .into(),
    ]
}

fn run_checkerboard(
    lidar: &Lidar,
    effort: &ExperimentEffort,
) -> Result<ExperimentResults, FitError> {
    let mut outcome = ExperimentResults::default();
    for (name, settings) in board_settings(effort) {
        // Fit reflectances and bias
        let found = checkerboard(lidar, &settings)?;
        if outcome.figures.is_empty() && settings.white_known {
            outcome.figures = settings.figures(lidar, &found)?;
        }
        outcome.tables.push(board_table(name, &found));

        // Undetermined directions, invariants and false minima
        outcome
            .remarks
            .extend(board_remarks(name, &settings, &found));

        // Predictions at other distances
        for distance in [0.9, 1.6] {
            let error = settings.prediction_error(lidar, &found, distance)?;
            outcome.remarks.push(format!(
                "{name}: prediction error at {distance} m of {:.2} mm rms.",
                1e3 * error
            ));
        }
    }
    Ok(outcome)
}

/// Cases of the checkerboard: names and settings.
fn board_settings(effort: &ExperimentEffort) -> [(&'static str, BoardSettings); 4] {
    // Noise of the effort, if it differs from the default.
    let above_zero = effort.noise.iter().copied().find(|sigma| *sigma > 0.0);
    let given = above_zero.filter(|_| effort.noise != ExperimentEffort::default().noise);
    let base = BoardSettings {
        sigma: given.unwrap_or(BoardSettings::default().sigma),
        ..BoardSettings::default()
    };
    // Four experiments.
    [
        (
            "From 0.5 m, nothing known",
            BoardSettings {
                white_known: false,
                ..base.clone()
            },
        ),
        ("From 0.5 m, the white's reflectance given", base.clone()),
        (
            "From 0.5, 0.9 and 1.6 m, the white's reflectance given",
            BoardSettings {
                distances: vec![0.5, 0.9, 1.6],
                ..base.clone()
            },
        ),
        (
            "From 0.5 m, started with the stripes exchanged",
            BoardSettings {
                start: [0.8, 0.95],
                ..base
            },
        ),
    ]
}

fn board_table(name: &str, found: &BoardReport) -> ResultTable {
    let columns = ["quantity", "estimate", "standard deviation", "truth"];
    let mut table = ResultTable::new(name, &columns);
    for row in &found.rows {
        table.push(vec![
            row.path.clone().into(),
            row.value.into(),
            row.sigma.into(),
            row.truth.into(),
        ]);
    }
    table
}

fn board_remarks(name: &str, settings: &BoardSettings, found: &BoardReport) -> Vec<String> {
    let nulls = found.report.uncertainty.null_directions.iter();
    let mut remarks: Vec<String> = nulls
        .map(|null| format!("{name}: {}.", null.description))
        .collect();
    for invariant in found.invariants.iter().filter(|_| !settings.white_known) {
        remarks.push(format!(
            "{name}: {} = {:.4} +- {:.4}.",
            invariant.name, invariant.value, invariant.sigma
        ));
    }
    if found.is_false_minimum {
        remarks.push(format!(
            "{name}: the estimate is a false minimum (rms {:.1} mm, noise {:.1} mm): use another start.",
            1e3 * found.report.rms,
            1e3 * settings.sigma
        ));
    }
    if let Some(rms) = found.false_minimum {
        remarks.push(format!(
            "{name}: the start led to a false minimum (rms {:.1} mm), detected and escaped.",
            1e3 * rms
        ));
    }
    remarks
}
