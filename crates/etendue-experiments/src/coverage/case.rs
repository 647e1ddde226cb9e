//! One case of the coverage experiments.

use super::lidars;
use super::rooms::{self, Room};
use etendue_estimate::fit::{
    FitError, FitProblem, FitReport, Verdict, refine_weighted, report, solve_in_stages,
};
use etendue_estimate::manifold::{Manifold, Variable};
use etendue_estimate::model::{BeamMeasurement, Freedom, Model};
use etendue_estimate::solve::{Continuation, Loss, Solver};
use etendue_estimate::uncertainty::Gauge;
use etendue_estimate::visibility::EdgeSettings;
use etendue_physics::{Purpose, Stream};
use etendue_sensors::lidar::{Lidar, Outcome, Sweep, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Vector3};
use rayon::prelude::*;

/// Half width of an interval of 95 %, in standard deviations.
const INTERVAL: f64 = 1.96;

/// Error of a component above which a fit has failed, in standard deviations.
const FAILED: f64 = 4.0;

/// Start of the fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// The truth.
    Truth,
    /// A random step from the truth: of this length (m) for positions, and of twice the number for
    /// angles (rad) and for the logarithm of other unknowns.
    Near(f64),
}

/// Case: a lidar in a scene, its unknowns, the start and the loss.
#[derive(Clone, Debug)]
pub struct CoverageCase {
    /// Receiver, scene, unknowns, start and loss in words.
    pub labels: [&'static str; 5],
    lidar: Lidar,
    room: Room,
    /// The scene of the model, where it differs from the scanned one.
    modelled: Option<Room>,
    free: Vec<(&'static str, Freedom)>,
    start: Start,
    loss: Loss,
}

/// Result of one fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOutcome {
    /// Error of each component in stated standard deviations.
    pub errors: Vec<f64>,
    /// Whether the verdict is good.
    pub is_good: bool,
}

/// Result of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseCoverage {
    /// Receiver, scene, unknowns, start and loss in words.
    pub labels: [&'static str; 5],
    /// Names of the components.
    pub components: Vec<String>,
    /// The fits.
    pub fits: Vec<FitOutcome>,
    /// Number of scans without a solution.
    pub unsolved: usize,
}

impl CoverageCase {
    /// Case of a receiver, a scene and unknowns by their names in the table, from near the truth, with the
    /// robust loss; `None` for unknown names.
    pub fn new(
        receiver: &'static str,
        scene: &'static str,
        unknowns: &'static str,
    ) -> Option<Self> {
        let lidar = match receiver {
            "phase" => lidars::phase(),
            "URG-04LX" => lidars::preset(),
            "pulsed" => lidars::pulsed(),
            "triangulation" => lidars::triangulating(),
            "pulsed, 16 channels" => lidars::spinning(),
            "phase, correlated" => lidars::with_correlated_noise(lidars::phase()),
            "pulsed, correlated" => lidars::with_correlated_noise(lidars::pulsed()),
            "16 channels, correlated" => lidars::with_correlated_noise(lidars::spinning()),
            _ => return None,
        };
        let mut modelled = None;
        let room = match scene {
            "plain room" => rooms::plain(),
            "mirror" => rooms::mirror(),
            "edges and poles" => rooms::edges(),
            "mirror, glass and box" => rooms::glass(),
            "posts" => rooms::posts(),
            "hall" => rooms::hall(),
            "wrong reflectance" => {
                modelled = Some(rooms::plain());
                rooms::darker(0.5)
            }
            "unknown box" => {
                modelled = Some(rooms::plain());
                rooms::displaced()
            }
            _ => return None,
        };
        let free = match unknowns {
            "pose, plane" => vec![("sensor.pose", Freedom::Planar)],
            "pose, space" => vec![("sensor.pose", Freedom::Whole)],
            "mirror" => vec![("objects.mirror.pose", Freedom::Planar)],
            "pose, reflectance" => vec![
                ("sensor.pose", Freedom::Whole),
                ("materials.screen.reflectance", Freedom::Whole),
            ],
            "pose, bias" => vec![
                ("sensor.pose", Freedom::Planar),
                ("sensor.receiver.bias.c", Freedom::Whole),
            ],
            _ => return None,
        };
        Some(Self {
            labels: [receiver, scene, unknowns, "0.02 m", "robust"],
            lidar,
            room,
            modelled,
            free,
            start: Start::Near(0.02),
            loss: Loss::Cauchy { scale: 0.05 },
        })
    }

    /// The case from another start.
    #[must_use]
    pub fn from_start(mut self, label: &'static str, start: Start) -> Self {
        self.labels[3] = label;
        self.start = start;
        self
    }

    /// The case with the squared loss.
    #[must_use]
    pub fn with_squared_loss(mut self) -> Self {
        self.labels[4] = "squared";
        self.loss = Loss::Squared;
        self
    }

    /// Simulates and fits a number of scans; `seed` is the seed of the first.
    ///
    /// # Errors
    /// Where the lidar or the scene is not valid.
    pub fn run(&self, scans: u32, seed: u64) -> Result<CaseCoverage, FitError> {
        let mut coverage = CaseCoverage {
            labels: self.labels,
            components: Vec::new(),
            fits: Vec::new(),
            unsolved: 0,
        };
        let fit = |number| {
            let (problem, start) = self.problem(seed, number)?;
            let found = self.fit(&problem, start);
            Ok::<_, FitError>((problem.model, found))
        };
        let fits: Vec<_> = (0..scans).into_par_iter().map(fit).collect();
        for fit in fits {
            match fit? {
                (model, Ok(found)) => coverage.add(&model, &found),
                (_, Err(FitError::Solve(_))) => coverage.unsolved += 1,
                (_, Err(error)) => return Err(error),
            }
        }
        Ok(coverage)
    }

    /// Problem of a scan, whose model starts at the truth, and the start of the fit.
    fn problem(&self, seed: u64, number: u32) -> Result<(FitProblem, Vec<Variable>), FitError> {
        // Place the sensor, and simulate its scan.
        let mut stream = Stream::new(seed, 0, number, 0, Purpose::Search);
        let mut uniform = || 2.0 * stream.uniform() - 1.0;
        let spread = self.room.spread;
        let shift = Vector3::new(spread * uniform(), spread * uniform(), 0.0);
        let moved = Isometry3::new(shift, Vector3::z() * (0.5 * uniform()));
        let pose = self.room.pose * moved;
        let scan = self.scan(&pose, seed.wrapping_add(u64::from(number)));
        // Set up the model at the truth.
        let parts = &self.modelled.as_ref().unwrap_or(&self.room).parts;
        let mut model = Model::new(parts.clone(), &self.lidar, vec![pose])?;
        for (path, freedom) in &self.free {
            model.free(path, *freedom)?;
        }
        let has_object = self
            .free
            .iter()
            .any(|(path, _)| path.starts_with("objects."));
        model.edges = has_object.then(EdgeSettings::default);
        // Step from the truth to the start.
        let truth = model.start();
        let start = match self.start {
            Start::Truth => truth,
            Start::Near(length) => {
                let components = truth.iter().flat_map(Variable::components);
                let step = components.map(|(_, unit)| {
                    let scale = if *unit == "m" { length } else { 2.0 * length };
                    scale * uniform()
                });
                let step: Vec<f64> = step.collect();
                truth.retract(&step)
            }
        };
        Ok((FitProblem::measured_by(model, &[scan])?, start))
    }

    /// Simulated scan from a pose.
    fn scan(&self, pose: &Isometry3<f64>, seed: u64) -> Vec<BeamMeasurement> {
        let scene = self.room.parts.clone().build().expect("the scene is valid");
        let world = World::at_wavelength(&scene, self.lidar.wavelength)
            .expect("the materials have values at every wavelength");
        let settings = SweepSettings {
            seed,
            ..SweepSettings::default()
        };
        let sweep = simulate(&world, &self.lidar, &settings, |_| *pose);
        measurements(&sweep, self.lidar.intensity.top.is_some())
    }

    /// Fits a problem in stages, then with weights from the noise of the sensor.
    fn fit(&self, problem: &FitProblem, start: Vec<Variable>) -> Result<FitReport, FitError> {
        let solver = Solver {
            loss: self.loss,
            continuation: (self.loss != Loss::Squared).then_some(Continuation {
                widest: 4.0,
                factor: 4.0,
            }),
            ..Solver::default()
        };
        let widths: &[f64] = if problem.model.edges.is_some() {
            &[4.0, 1.0]
        } else {
            &[1.0]
        };
        let solution = solve_in_stages(problem, &solver, widths, start, &mut |_| {})?;
        let fit = refine_weighted(problem, &solver, solution)?;
        Ok(report(
            &fit.problem,
            &fit.solver,
            fit.solution,
            &Gauge::Free,
        ))
    }
}

/// First return of every shot, with its intensity if the lidar reports one.
fn measurements(sweep: &Sweep, has_intensity: bool) -> Vec<BeamMeasurement> {
    let measurement = |outcome: &Outcome| match outcome {
        Outcome::Points { first, .. } => {
            let point = &sweep.points[*first as usize];
            let intensity = has_intensity.then_some(point.intensity);
            BeamMeasurement::new(Some(point.range), intensity)
        }
        _ => BeamMeasurement::default(),
    };
    sweep.outcomes.iter().map(measurement).collect()
}

impl CaseCoverage {
    /// Adds the errors of a fit to a model that starts at the truth.
    fn add(&mut self, truth: &Model, found: &FitReport) {
        let uncertainty = &found.uncertainty;
        let step = found.solution.state.local(&truth.start());
        let components = uncertainty.components.iter();
        self.components = components.clone().map(|c| c.name.clone()).collect();
        let sds = uncertainty.standard_deviations();
        let errors = components.zip(step).zip(sds);
        self.fits.push(FitOutcome {
            errors: errors
                .map(|((c, error), sd)| c.slope * error / sd)
                .collect(),
            is_good: found.goodness.verdict == Verdict::Good,
        });
    }

    /// Share of the fits whose interval of 95 % contains the truth, by component.
    pub fn coverage(&self) -> Vec<f64> {
        let inside = |i: usize| {
            let fits = self.fits.iter();
            fits.filter(|fit| fit.errors[i].abs() <= INTERVAL).count()
        };
        let count = self.fits.len().max(1) as f64;
        (0..self.components.len())
            .map(|i| inside(i) as f64 / count)
            .collect()
    }

    /// Root mean square of the errors in stated standard deviations, by component.
    pub fn error_ratios(&self) -> Vec<f64> {
        let square = |i: usize| {
            self.fits
                .iter()
                .map(|fit| fit.errors[i].powi(2))
                .sum::<f64>()
        };
        let count = self.fits.len().max(1) as f64;
        (0..self.components.len())
            .map(|i| (square(i) / count).sqrt())
            .collect()
    }

    /// Numbers of fits that failed, with an error above four standard deviations, and of those among them
    /// that are called good.
    pub fn failures(&self) -> [usize; 2] {
        let has_failed = |fit: &&FitOutcome| fit.errors.iter().any(|e| e.abs() > FAILED);
        let failed = self.fits.iter().filter(has_failed);
        [
            failed.clone().count(),
            failed.filter(|fit| fit.is_good).count(),
        ]
    }

    /// Share of the fits that are called good.
    pub fn good(&self) -> f64 {
        let good = self.fits.iter().filter(|fit| fit.is_good).count();
        good as f64 / self.fits.len().max(1) as f64
    }
}
