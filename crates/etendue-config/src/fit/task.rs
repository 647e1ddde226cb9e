//! Fit problems, checked without their scene.

use super::file::VERSION;
use super::{
    FitFile, FreeTable, LossTable, MethodName, MotionName, ScanTable, SolverTable, ValueTable,
};
use crate::ConfigError;
use crate::scene::pose_of_angles;
use crate::toml_file::resolve;
use crate::toml_file::{Document, DocumentError, FileKind, TomlProblem};
use etendue_estimate::solve::{Continuation, Loss, Solver, SolverLimits, SolverMethod};
use nalgebra::{Isometry2, Isometry3};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// A scene, measured scans and free parameters.
#[derive(Clone, Debug)]
pub struct FitTask {
    /// A scene file, or the name of an embedded scene.
    pub scene: PathBuf,
    /// A sensor file or the name of a preset; `None` for the sensor of the scene.
    pub sensor: Option<String>,
    /// Measured scans.
    pub scans: Vec<ScanTask>,
    /// Free parameters.
    pub free: Vec<FreeTask>,
    /// Solver settings.
    pub solver: Solver,
    /// Residual per count of intensity, m; 0 ignores intensities.
    pub intensity: f64,
    /// Factors on the width of the beams, one per stage.
    pub beam_widths: Vec<f64>,
    /// Whether derivatives include the motion of edges across beams; `None` to derive it from the
    /// free parameters.
    pub edges: Option<bool>,
    /// Number of random light paths per ray; `None` for ray trees.
    pub paths: Option<u32>,
    /// Approximate number of initial poses of the search; `None` without a search.
    pub search_poses: Option<usize>,
}

/// A measured scan.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanTask {
    /// Scan log.
    pub file: PathBuf,
    /// Index of the scan; `None` if the log must contain exactly one.
    pub number: Option<usize>,
    /// Topic of a bag; `None` if it has points of one sensor.
    pub topic: Option<String>,
    /// Pose of the sensor; `None` for the pose of the scene.
    pub world_from_sensor: Option<Isometry3<f64>>,
}

/// A free parameter.
#[derive(Clone, Debug)]
pub struct FreeTask {
    /// Path of the parameter.
    pub path: String,
    /// Initial value; `None` for the value of the scene.
    pub start: Option<Setting>,
    /// True value.
    pub truth: Option<Setting>,
    /// Degrees of freedom and bounds.
    pub motion: Motion,
    /// Position of the path in the file, if known.
    pub spot: Option<Spot>,
    /// Position of the initial value in the file, if known.
    pub start_spot: Option<Spot>,
}

/// Value of a free parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// A number, in the unit of the parameter.
    Number(f64),
    /// A planar pose; height and tilt are those of the scene.
    Planar(Isometry2<f64>),
    /// A pose in the world.
    Pose(Isometry3<f64>),
}

/// Degrees of freedom and bounds of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// A planar pose or a number, without bounds.
    Planar,
    /// A pose with six degrees of freedom.
    Spatial,
    /// A planar pose with its position in a box.
    Boxed {
        /// Lower corner, m.
        lower: [f64; 2],
        /// Upper corner, m.
        upper: [f64; 2],
    },
    /// A number between bounds.
    Between {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
}

/// A position in a TOML file.
#[derive(Clone, Debug)]
pub struct Spot {
    document: Document,
    span: Range<usize>,
}

impl Spot {
    /// An error at this position.
    pub fn error(&self, problem: TomlProblem) -> DocumentError {
        self.document.error(self.span.clone(), problem)
    }
}

/// Reads a fit problem.
///
/// # Errors
/// If it cannot be read, is not TOML, has unknown keys, refers to a missing file, or contains an
/// invalid value; the error contains the position.
pub fn load(path: &Path) -> Result<FitTask, ConfigError> {
    Ok(parse(&Document::read(path)?)?)
}

/// Parses a fit problem. Paths are relative to the folder of the document's path.
///
/// # Errors
/// As [`load`], except errors of reading the document.
///
/// ```
/// use etendue_config::fit::parse;
/// use etendue_config::toml_file::Document;
///
/// let text = "version = 1\nscene = \"arena\"\nscans = []\n[[free]]\npth = \"sensor.pose\"\n";
/// let error = parse(&Document::new("fit.toml", text)).unwrap_err();
/// assert_eq!(error.remedy(), "did you mean \"path\"?");
/// ```
pub fn parse(document: &Document) -> Result<FitTask, DocumentError> {
    // Parse the document and check its version
    let file: FitFile = document.parse_as(FileKind::Fit)?;
    document.check_version(&file.version, VERSION)?;

    // Resolve the scans, the unknowns and the sensor
    let scans = filled(document, &file.scans, "scan", "add [[scans]]")?;
    let free = filled(document, &file.free, "unknown", "add [[free]]")?;
    let sensor = file.sensor.as_ref().map(|name| named(document, name));
    Ok(FitTask {
        scene: named(document, &file.scene)?,
        sensor: sensor.transpose()?.map(|path| path.display().to_string()),
        scans: scans
            .iter()
            .map(|table| scan(document, table))
            .collect::<Result<_, _>>()?,
        free: free
            .iter()
            .map(|table| unknown(document, table))
            .collect::<Result<_, _>>()?,
        solver: solver(document, &file.solver)?,
        intensity: file.solver.intensity_m,
        beam_widths: file.solver.beam_widths.clone(),
        edges: file.solver.edges,
        paths: file.solver.paths,
        search_poses: file.solver.search_poses,
    })
}

fn filled<'a, T>(
    document: &Document,
    list: &'a Spanned<Vec<T>>,
    what: &str,
    remedy: &str,
) -> Result<&'a [T], DocumentError> {
    if list.get_ref().is_empty() {
        let problem = TomlProblem::value(format!("there is no {what}"), remedy);
        return Err(document.error(list.span(), problem));
    }
    Ok(list.get_ref())
}

/// A file relative to the document's folder if the name ends in `.toml`, otherwise a name.
fn named(document: &Document, name: &Spanned<String>) -> Result<PathBuf, DocumentError> {
    let path = Path::new(name.get_ref());
    if path.extension().is_some() {
        resolve(document, name)
    } else {
        Ok(path.to_owned())
    }
}

fn scan(document: &Document, table: &ScanTable) -> Result<ScanTask, DocumentError> {
    let given = table.position_m.is_some() || table.rotation_deg.is_some();
    let pose = pose_of_angles(
        document,
        table.position_m.as_ref(),
        table.rotation_deg.as_ref(),
    )?;
    Ok(ScanTask {
        file: resolve(document, &table.file)?,
        number: table.number,
        topic: table.topic.clone(),
        world_from_sensor: given.then_some(pose),
    })
}

fn unknown(document: &Document, table: &FreeTable) -> Result<FreeTask, DocumentError> {
    let spot = |span| Spot {
        document: document.clone(),
        span,
    };
    let value = |table: &Option<Spanned<ValueTable>>| {
        let table = table.as_ref();
        table.map(|table| setting(document, table)).transpose()
    };
    Ok(FreeTask {
        path: table.path.get_ref().clone(),
        start: value(&table.start)?,
        truth: value(&table.truth)?,
        motion: motion(document, table)?,
        spot: Some(spot(table.path.span())),
        start_spot: table.start.as_ref().map(|start| spot(start.span())),
    })
}

/// Largest coordinate of a box for a pose, m.
const MAX_POSITION: f64 = 1e6;

/// Largest factor on the width of beams.
const MAX_WIDTH: f64 = 1e4;

fn motion(document: &Document, table: &FreeTable) -> Result<Motion, DocumentError> {
    let check_ordered = |span: Range<usize>, bounds: &[(f64, f64)]| {
        if bounds.iter().all(|(lower, upper)| lower < upper) {
            return Ok(());
        }
        let problem = TomlProblem::value("the bounds are empty", "give the lower bound first");
        Err(document.error(span, problem))
    };
    let check_distance = |span: Range<usize>, bounds: &[f64]| {
        if bounds.iter().all(|bound| bound.abs() <= MAX_POSITION) {
            return Ok(());
        }
        let problem = TomlProblem::value(
            "the box is larger than 1,000,000 m",
            "give a box around the scene, m",
        );
        Err(document.error(span, problem))
    };
    match (&table.within_m, &table.between) {
        // A pose within a box
        (Some(given), None) => {
            let [lower, upper] = *given.get_ref();
            check_ordered(given.span(), &[(lower[0], upper[0]), (lower[1], upper[1])])?;
            check_distance(given.span(), &[lower, upper].concat())?;
            Ok(Motion::Boxed { lower, upper })
        }
        // A number in an interval
        (None, Some(given)) => {
            let [lower, upper] = *given.get_ref();
            check_ordered(given.span(), &[(lower, upper)])?;
            Ok(Motion::Between { lower, upper })
        }
        // Without bounds
        (None, None) => Ok(match table.motion {
            MotionName::Planar => Motion::Planar,
            MotionName::Spatial => Motion::Spatial,
        }),
        (Some(_), Some(given)) => {
            let problem = TomlProblem::value(
                "within_m is for poses, between is for numbers",
                "use the one for this parameter",
            );
            Err(document.error(given.span(), problem))
        }
    }
}

fn setting(document: &Document, table: &Spanned<ValueTable>) -> Result<Setting, DocumentError> {
    let ValueTable {
        value,
        position_m,
        rotation_deg,
    } = table.get_ref();
    let posed = position_m.is_some() || rotation_deg.is_some();
    match value {
        Some(number) if !posed && number.is_finite() => Ok(Setting::Number(*number)),
        None if posed => {
            let pose = pose_of_angles(document, position_m.as_ref(), rotation_deg.as_ref())?;
            Ok(Setting::Pose(pose))
        }
        _ => {
            let problem = TomlProblem::value(
                "the value is neither a number nor a pose",
                "give value = 0.5, or position_m and rotation_deg",
            );
            Err(document.error(table.span(), problem))
        }
    }
}

fn solver(document: &Document, table: &SolverTable) -> Result<Solver, DocumentError> {
    let loss = Loss::from(table.loss);
    let scale = match table.loss {
        LossTable::Squared => 1.0,
        LossTable::Huber { scale_m }
        | LossTable::Cauchy { scale_m }
        | LossTable::GemanMcClure { scale_m } => scale_m,
    };

    // Check the numbers
    let positive = |number: &f64| number.is_finite() && *number > 0.0;
    let numbers = [scale, table.widest, table.missing_m];
    let widths = &table.beam_widths;
    let problem = if !numbers.iter().chain(widths).all(positive) {
        Some((
            "a scale of the solver is not above zero",
            "give scale_m, widest, missing_m and beam_widths above zero",
        ))
    } else if !(table.intensity_m.is_finite() && table.intensity_m >= 0.0) {
        Some((
            "intensity_m is negative or not finite",
            "give metres per count, or 0 to ignore intensities",
        ))
    } else if table.paths == Some(0) {
        Some((
            "paths is zero",
            "give 1 or more light paths per ray, or leave paths out for ray trees",
        ))
    } else if !widths.iter().all(|width| (1.0..=MAX_WIDTH).contains(width)) {
        Some((
            "a factor of beam_widths is not from 1 to 10,000",
            "give the widest beams first, as in [16, 4, 1]",
        ))
    } else if widths.last() != Some(&1.0) {
        Some((
            "the last factor of beam_widths is not 1",
            "end beam_widths with 1",
        ))
    } else {
        None
    };
    if let Some((problem, remedy)) = problem {
        let start = document.text().find("[solver]").unwrap_or(0);
        return Err(document.error(start..start, TomlProblem::value(problem, remedy)));
    }
    Ok(Solver {
        method: table.method.into(),
        loss,
        continuation: begin_wide(loss, table.widest),
        limits: SolverLimits {
            iterations: table.iterations,
            gate: table.missing_m,
            ..SolverLimits::default()
        },
    })
}

/// Graduated non-convexity of a robust loss that starts at a multiple of its scale.
pub fn begin_wide(loss: Loss, widest: f64) -> Option<Continuation> {
    (widest > 1.0 && loss != Loss::Squared).then_some(Continuation {
        widest,
        factor: widest.min(4.0),
    })
}

impl From<MethodName> for SolverMethod {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::LevenbergMarquardt => Self::LevenbergMarquardt { damping: 1e-4 },
            MethodName::GaussNewton => Self::GaussNewton,
            MethodName::Lbfgs => Self::Lbfgs { memory: 10 },
        }
    }
}

impl From<LossTable> for Loss {
    fn from(table: LossTable) -> Self {
        match table {
            LossTable::Squared => Self::Squared,
            LossTable::Huber { scale_m } => Self::Huber { scale: scale_m },
            LossTable::Cauchy { scale_m } => Self::Cauchy { scale: scale_m },
            LossTable::GemanMcClure { scale_m } => Self::GemanMcClure { scale: scale_m },
        }
    }
}
