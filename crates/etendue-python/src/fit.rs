//! Fits of parameters to a measured sweep.

use crate::arrays::{floats, read_only, wrong_shape};
use crate::errors::Outcome;
use crate::lidar::Lidar;
use crate::model::{free_of, freedom_of_poses, model_of, release};
use crate::pose::{matrix, pose as read_pose};
use crate::scene::SceneArgument;
use crate::simulate::light_of;
use crate::sweep::Sweep;
use crate::threads::{self, Control, Progress};
use etendue::config::fit::{SolverTable, begin_wide};
use etendue::estimate::fit::{
    FitError, FitProblem, FitReport, WeightedFit, refine_weighted, report, solve_from_start,
};
use etendue::estimate::manifold::{BoundedNumber, OutOfBounds, Variable, VariableValue};
use etendue::estimate::model::{
    BeamMeasurement, Model, ModelError, ObjectPose, Parameter, SensorPose, spatial_pose,
};
use etendue::estimate::solve::{Solver, SolverLimits};
use etendue::estimate::uncertainty::Gauge;
use etendue::scene::SceneBuilder;
use nalgebra::Isometry3;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Initial value of an unknown.
enum Start {
    Number(f64),
    Pose(Isometry3<f64>),
}

/// Result of a fit.
#[pyclass(frozen, module = "etendue")]
pub struct FitResult {
    found: FitReport,
    /// Value of each unknown.
    values: Vec<Start>,
}

#[pymethods]
impl FitResult {
    /// dict of str to (float or float64 (4, 4)): estimate of each unknown by its path; poses as matrices.
    #[getter]
    fn estimate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let estimate = PyDict::new(py);
        for ((path, _), value) in self.found.estimate.iter().zip(&self.values) {
            match value {
                Start::Number(number) => estimate.set_item(path, *number)?,
                Start::Pose(pose) => {
                    estimate.set_item(path, read_only(py, matrix(pose), &[4, 4])?)?;
                }
            }
        }
        Ok(estimate)
    }

    /// float64 (k, k): covariance of the components of the unknowns, in the products of their units.
    #[getter]
    fn covariance(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let covariance = &self.found.uncertainty.covariance;
        let shape = [covariance.nrows(), covariance.ncols()];
        read_only(py, covariance.transpose().iter().copied().collect(), &shape)
    }

    /// float64 (k,): standard deviation of each component; inf for those that the sweep does not determine.
    #[getter]
    fn std(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let deviations = self.found.uncertainty.standard_deviations();
        let shape = [deviations.len()];
        read_only(py, deviations, &shape)
    }

    /// list of str: names of the k components.
    #[getter]
    fn names(&self) -> Vec<String> {
        let components = self.found.uncertainty.components.iter();
        components.map(|component| component.name.clone()).collect()
    }

    /// list of str: units of the components; empty for dimensionless ones.
    #[getter]
    fn units(&self) -> Vec<String> {
        let components = self.found.uncertainty.components.iter();
        components.map(|component| component.unit.clone()).collect()
    }

    /// str: "good", "doubtful" or "wrong model": whether the residuals agree with the noise of the sensor.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.found.goodness.verdict.name()
    }

    /// list of str: reasons of the verdict; none for a good fit.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.found.goodness.verdict.reasons().to_vec()
    }

    /// list of str: combinations of components that the sweep does not determine.
    #[getter]
    fn undetermined(&self) -> Vec<String> {
        let directions = self.found.uncertainty.null_directions.iter();
        directions
            .map(|direction| direction.description.clone())
            .collect()
    }

    /// float: root mean square of the range residuals, m.
    #[getter]
    fn rms(&self) -> f64 {
        self.found.rms
    }

    /// bool: whether the solver reached one of its tolerances.
    #[getter]
    fn converged(&self) -> bool {
        self.found.solution.stop.converged()
    }

    /// int: number of iterations.
    #[getter]
    fn iterations(&self) -> usize {
        self.found.solution.log.len()
    }

    fn __repr__(&self) -> String {
        let paths = self.found.estimate.iter().map(|(path, _)| path.as_str());
        format!(
            "FitResult({:?}, free=[{}], rms={:.2} mm, iterations={})",
            self.verdict(),
            paths.collect::<Vec<_>>().join(", "),
            1e3 * self.found.rms,
            self.iterations()
        )
    }
}

/// Estimate parameters of scene and sensor from a measured sweep.
///
/// The same fit as `etendue fit`: robust at first, then with the noise of the sensor as weights, with
/// covariance and verdict. Other Python threads run meanwhile; Ctrl-C ends it.
///
/// Parameters
/// ----------
/// scene : Scene
/// lidar : Lidar
/// measured : Sweep, or array of the shape (beams,) or (beams, 2)
///     Ranges (m) and intensities (counts), shot by shot; NaN for none. Arrays are of the first sweep of the lidar. Intensities count
///     if a material or the receiver is unknown.
/// free : list of str
///     Paths of the unknowns, as for `jacobian`.
/// start : dict of str to (float or pose), optional
///     Initial values by path, where they differ from those of the scene.
/// pose : array of the shape (4, 4), or (position, quaternion), optional
///     Pose of the sensor. Default: that of the scene file.
/// motion : {"spatial", "planar"}, default "spatial"
///     Degrees of freedom of poses: six, or x, y and yaw. A planar lidar does not determine all six.
/// edges : bool, optional
///     Whether derivatives contain the motion of edges across beams. Default: if the pose of an object is
///     free.
/// paths : int, optional
///     Number of random light paths per ray, for light that several rough surfaces reflect; they are the same at
///     every call. Few of them bias ranges: the verdict is doubtful. Default: ray trees, which only follow mirrors
///     and glass.
/// threads : int, optional
///     Number of threads; the results do not depend on it.
/// progress : callable or bool, optional
///     True for a bar of tqdm where it is installed, or a function of the number of iterations and of the most
///     iterations of one descent, called about every 50 ms. A fit can descend several times. An exception ends
///     the call.
///
/// Returns
/// -------
/// FitResult
///
/// Raises
/// ------
/// UnknownNameError
///     No parameter has the path.
/// FitError
///     The measurements have another number of beams than the lidar, or no valid range.
/// ModelError
///     A parameter is free twice, or a start is outside its bounds.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> scene, lidar = et.Scene.arena(), et.Lidar("hokuyo-urg-04lx")
/// >>> measured = et.simulate(scene, lidar, seed=1)
/// >>> start = scene.sensor_pose + [[0, 0, 0, 0.02], [0, 0, 0, 0.01], [0, 0, 0, 0], [0, 0, 0, 0]]
/// >>> result = et.fit(
/// ...     scene, lidar, measured, ["sensor.pose"], start={"sensor.pose": start}, motion="planar")
/// >>> error = result.estimate["sensor.pose"] - scene.sensor_pose
/// >>> bool(abs(error[:3, 3]).max() < 0.005), result.verdict
/// (True, 'good')
#[pyfunction]
#[pyo3(signature = (scene, lidar, measured, free, *, start = None, pose = None, motion = "spatial", edges = None, paths = None, threads = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn fit(
    py: Python<'_>,
    scene: SceneArgument<'_>,
    lidar: &Bound<'_, Lidar>,
    measured: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = free_of)] free: Vec<String>,
    start: Option<&Bound<'_, PyDict>>,
    pose: Option<&Bound<'_, PyAny>>,
    motion: &str,
    edges: Option<bool>,
    paths: Option<i64>,
    threads: Option<i64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Outcome<FitResult> {
    // Read the arguments.
    let (scene, lidar) = (scene.get(), lidar.get());
    let sensor = lidar.sensor();
    let (measurements, sweep) = measurements(measured)?;
    let starts = starts(start)?;
    let given = pose.map(|pose| read_pose("pose", pose)).transpose()?;
    let of_start = starts.iter().find_map(|(path, value)| match value {
        Start::Pose(pose) if path == "sensor.pose" => Some(*pose),
        _ => None,
    });
    let pose = scene.sensor_pose_or(given.or(of_start))?;
    let poses = freedom_of_poses(motion)?;
    let light = light_of(paths)?;
    let progress = Progress::of(progress, SolverLimits::default().iterations)?;

    // Fit.
    let loaded = scene.loaded();
    let found = threads::run_controlled(py, threads, usize::MAX, progress.as_ref(), |control| {
        let parts = loaded.scene.parts();
        let known = model_of(parts, loaded, sensor, pose)?.in_sweeps(|_| sweep);
        let (parts, pose) = moved_to_start(&known, &free, &starts, pose)?;
        let model = model_of(&parts, loaded, sensor, pose)?;
        let mut model = model.in_sweeps(|_| sweep).in_light(light)?;
        release(&mut model, &free, poses, edges)?;
        let state = start_state(&model, &starts)?;
        let found = solve(model.clone(), measurements, &free, &state, control)?;
        Outcome::Ok((found, model))
    })??;

    // Name the values.
    let (found, model) = found;
    let value = |(number, (_, variable)): (usize, &(String, Variable))| match variable.value() {
        VariableValue::Number(number) => Start::Number(number),
        value => Start::Pose(spatial_pose(value, &initial_pose(&model, number))),
    };
    let values = found.estimate.iter().enumerate().map(value).collect();
    Ok(FitResult { found, values })
}

/// Solves a fit as the command line does: intensities count if a material or the receiver is unknown.
fn solve(
    model: Model,
    measurements: Vec<BeamMeasurement>,
    free: &[String],
    start: &[Variable],
    control: &Control,
) -> Result<FitReport, FitError> {
    let default = SolverTable::default();
    let loss = default.loss.into();
    let solver = Solver {
        loss,
        continuation: begin_wide(loss, default.widest),
        ..Solver::default()
    };
    let widths = &default.beam_widths;
    let mut problem = FitProblem::measured_by(model, &[measurements])?;
    problem.intensity_sigma = default.intensity_weight(free).recip();
    let solution = solve_from_start(&problem, &solver, widths, start, &mut |_| {
        control.advance(1);
    })?;
    let WeightedFit {
        problem,
        solver,
        solution,
    } = refine_weighted(&problem, &solver, solution)?;
    Ok(report(&problem, &solver, solution, &Gauge::Free))
}

/// Measurements of the argument `measured`, and the index of their sweep.
fn measurements(measured: &Bound<'_, PyAny>) -> PyResult<(Vec<BeamMeasurement>, u32)> {
    // First returns of a sweep
    if let Ok(sweep) = measured.cast::<Sweep>() {
        let sweep = sweep.get().simulated();
        let first = |shot: usize| match sweep.points_of(shot).first() {
            Some(point) => BeamMeasurement::new(Some(point.range), Some(point.intensity)),
            None => BeamMeasurement::default(),
        };
        let shots = 0..sweep.shots.len();
        return Ok((shots.map(first).collect(), sweep.index));
    }

    // Numbers, NaN for none
    let numbers = floats("measured", measured)?;
    let known = |value: f64| Some(value).filter(|value| value.is_finite());
    match numbers.shape[..] {
        [_] => {
            let ranges = numbers.values.iter();
            let beams = ranges.map(|range| BeamMeasurement::new(known(*range), None));
            Ok((beams.collect(), 0))
        }
        [_, 2] => {
            let pairs = numbers.values.chunks_exact(2);
            let beams = pairs.map(|pair| BeamMeasurement::new(known(pair[0]), known(pair[1])));
            Ok((beams.collect(), 0))
        }
        _ => Err(wrong_shape(
            "measured",
            "(beams,) or (beams, 2)",
            &numbers.shape,
        )),
    }
}

/// Initial values of the argument `start`.
fn starts(start: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, Start)>> {
    let read = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let path: String =
            (path.extract()).map_err(|_| PyTypeError::new_err("start: expected paths as keys"))?;
        let value = match value.extract::<f64>() {
            Ok(number) if number.is_finite() => Start::Number(number),
            Ok(number) => {
                let text = format!("start[\"{path}\"]: expected a finite number, got {number}");
                return Err(PyValueError::new_err(text));
            }
            Err(_) => Start::Pose(read_pose(&format!("start[\"{path}\"]"), &value)?),
        };
        Ok((path, value))
    };
    start.into_iter().flatten().map(read).collect()
}

/// Objects and pose of the sensor with unknown poses at their start.
fn moved_to_start(
    model: &Model,
    free: &[String],
    starts: &[(String, Start)],
    pose: Isometry3<f64>,
) -> Outcome<(SceneBuilder, Isometry3<f64>)> {
    let mut parts = model.parts().clone();
    let mut sensor = pose;
    for (path, start) in starts {
        if !free.contains(path) {
            let text =
                format!("start: \"{path}\" is not free\nhelp: add it to free, or omit its start");
            return Err(PyValueError::new_err(text).into());
        }
        for (_, parameter) in model.resolve(path)? {
            let target = match parameter {
                Parameter::SensorPose(SensorPose { .. }) => Some(&mut sensor),
                Parameter::ObjectPose(ObjectPose { object }) => {
                    Some(&mut parts.objects[object.0 as usize].world_from_object)
                }
                _ => None,
            };
            match (target, start) {
                (Some(target), Start::Pose(pose)) => *target = *pose,
                (None, Start::Number(_)) => {}
                (Some(_), Start::Number(_)) => {
                    let text = format!("start[\"{path}\"]: expected a pose, got a number");
                    return Err(PyTypeError::new_err(text).into());
                }
                (None, Start::Pose(_)) => {
                    let text = format!("start[\"{path}\"]: expected a number, got a pose");
                    return Err(PyTypeError::new_err(text).into());
                }
            }
        }
    }
    Ok((parts, sensor))
}

/// Initial state of a model, with the given numbers.
fn start_state(model: &Model, starts: &[(String, Start)]) -> Outcome<Vec<Variable>> {
    let mut state = model.start();
    for (path, start) in starts {
        let Start::Number(value) = *start else {
            continue;
        };
        let resolved = model.resolve(path)?;
        for (unknown, variable) in model.unknowns().iter().zip(&mut state) {
            let is_named = resolved
                .iter()
                .any(|(_, known)| *known == unknown.parameter);
            if let (true, Variable::Number(number)) = (is_named, &mut *variable) {
                *number = restarted(number, value).map_err(|source| ModelError::Start {
                    path: path.clone(),
                    source,
                })?;
            }
        }
    }
    Ok(state)
}

/// A number with the same bounds and another value.
pub fn restarted(number: &BoundedNumber, value: f64) -> Result<BoundedNumber, OutOfBounds> {
    match *number {
        BoundedNumber::Real { .. } => Ok(BoundedNumber::real(value)),
        BoundedNumber::Positive { .. } => BoundedNumber::positive(value),
        BoundedNumber::Interval { lower, upper, .. } => {
            BoundedNumber::interval(value, lower, upper)
        }
    }
}

/// Initial pose of an unknown.
fn initial_pose(model: &Model, number: usize) -> Isometry3<f64> {
    match model.unknowns()[number].parameter {
        Parameter::ObjectPose(ObjectPose { object }) => {
            model.objects()[object.0 as usize].world_from_object
        }
        _ => model.world_from_sensor()[0],
    }
}
