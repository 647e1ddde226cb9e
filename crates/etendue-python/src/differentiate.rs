//! Predictions at given parameters, and products with their Jacobian.

use crate::arrays::{array, check_finite, floats, read_only, shape_text, wrong_shape};
use crate::errors::Outcome;
use crate::fit::restarted;
use crate::lidar::{GradientMemory, Lidar};
use crate::model::{freedom_of_poses, model_of_scene, release};
use crate::pose::pose as read_pose;
use crate::scene::{Scene, SceneArgument};
use crate::simulate::light_of;
use crate::threads;
use etendue::config::scene::LoadedScene;
use etendue::estimate::manifold::{Manifold, Variable};
use etendue::estimate::model::{
    BeamMeasurement, Freedom, LinearizedMeasurements, Model, ModelError, ObjectPose, Parameter,
};
use etendue::scene::ObjectId;
use etendue::sensors::lidar::LightModel;
use nalgebra::Isometry3;
use numpy::PyArrayDyn;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

/// Expected measurements and a mask.
type Prediction<'py> = (Bound<'py, PyArrayDyn<f64>>, Bound<'py, PyArrayDyn<bool>>);

/// Expected measurements, their change, and a mask.
type Change<'py> = (
    Bound<'py, PyArrayDyn<f64>>,
    Bound<'py, PyArrayDyn<f64>>,
    Bound<'py, PyArrayDyn<bool>>,
);

/// Value of a parameter.
enum Value {
    /// That of the scene or the lidar.
    Current,
    Numbers {
        values: Vec<f64>,
        shape: Vec<usize>,
    },
    Pose(Isometry3<f64>),
}

/// Arguments that all functions have.
struct Arguments {
    /// Parameters by path.
    parameters: Vec<(String, Value)>,
    /// Pose of the sensor.
    pose: Isometry3<f64>,
    freedom: Freedom,
    edges: Option<bool>,
    light: LightModel,
}

/// A model with the values of its parameters.
struct Point {
    model: Model,
    state: Vec<Variable>,
    groups: Vec<Group>,
}

/// Components of the parameters of a path.
struct Group {
    path: String,
    /// Indices of the components.
    components: Range<usize>,
    /// Shape of the array of their derivatives.
    shape: Vec<usize>,
}

/// Gradient of functions of the expected measurements: the second result of `vjp`.
///
/// Calling it with the derivatives of a function by the measurements, of the shape (beams, 2), gives a dict of
/// the derivatives by each parameter. It can be called any number of times.
#[pyclass(frozen, module = "etendue")]
pub struct Pullback {
    linearized: LinearizedMeasurements,
    /// Where the memory goes.
    memory: Arc<GradientMemory>,
    groups: Vec<Group>,
    valid: Py<PyAny>,
}

impl Drop for Pullback {
    fn drop(&mut self) {
        self.memory.keep(take(&mut self.linearized));
    }
}

#[pymethods]
impl Pullback {
    /// bool (beams, 2): where a beam has a return; derivatives by other measurements have no effect.
    #[getter]
    fn valid(&self, py: Python<'_>) -> Py<PyAny> {
        self.valid.clone_ref(py)
    }

    /// dict of str to tuple of int: shape of the derivatives by each parameter.
    #[getter]
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let shapes = PyDict::new(py);
        for group in &self.groups {
            shapes.set_item(&group.path, PyTuple::new(py, &group.shape)?)?;
        }
        Ok(shapes)
    }

    /// Derivatives by each parameter of a function with the derivatives `cotangent` by the measurements.
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        cotangent: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        // Read the derivatives by the measurements.
        let given = floats("cotangent", cotangent)?;
        let valid = &self.linearized.valid;
        let beams = valid.len() / 2;
        if given.shape != [beams, 2] {
            let expected = format!("({beams}, 2)");
            return Err(wrong_shape("cotangent", &expected, &given.shape));
        }
        let is_wrong = |(by, valid): (&f64, &bool)| *valid & !by.is_finite();
        let wrong = given.values.iter().zip(valid).map(is_wrong);
        if wrong.fold(false, |any, wrong| any | wrong) {
            let of_valid = |(by, valid): (&f64, &bool)| if *valid { *by } else { 0.0 };
            let of_valid = given.values.iter().zip(valid).map(of_valid);
            check_finite("cotangent", &of_valid.collect::<Vec<f64>>())?;
        }

        // Multiply by the Jacobian, and divide into parameters.
        let gradient = py.detach(|| self.linearized.pulled_back(&given.values));
        let gradients = PyDict::new(py);
        for group in &self.groups {
            let own = gradient[group.components.clone()].to_vec();
            gradients.set_item(&group.path, array(py, own, &group.shape)?)?;
        }
        Ok(gradients)
    }

    fn __repr__(&self) -> String {
        let paths = self.groups.iter().map(|group| group.path.as_str());
        format!(
            "Pullback(beams={}, parameters=[{}])",
            self.linearized.valid.len() / 2,
            paths.collect::<Vec<_>>().join(", ")
        )
    }
}

/// Expected range and intensity of every beam at given values of parameters.
///
/// The expectation is that of the simulator without noise and rounding. Objects are where they are at time
/// zero, unless their pose is given.
///
/// Parameters
/// ----------
/// scene : Scene
/// lidar : Lidar
/// parameters : dict of str to value, optional
///     Values by the paths of `vjp`, where they differ from those of the scene and the lidar.
/// pose : array of the shape (4, 4), or (position, quaternion), optional
///     Pose of the sensor. Default: that of the scene file.
/// paths : int, optional
///     Number of random light paths per ray, for light that several rough surfaces reflect. Default: ray trees.
/// threads : int, optional
///     Number of threads; the results do not depend on it.
///
/// Returns
/// -------
/// y : float64 (beams, 2)
///     Expected range (m) and intensity (counts) of each beam; NaN without a return.
/// valid : bool (beams, 2)
///     Where a beam has a return.
///
/// Raises
/// ------
/// UnknownNameError
///     No parameter has the path.
/// ValueError
///     A value has the wrong shape or is not finite.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> scene, lidar = et.Scene.arena(), et.Lidar("velodyne-vlp-16")
/// >>> y, valid = et.predict(scene, lidar)
/// >>> dark, valid = et.predict(scene, lidar, {"objects.room.facets.*.scattering": [0.5] * 12})
/// >>> bool((dark[valid] <= y[valid]).all())
/// True
#[pyfunction]
#[pyo3(signature = (scene, lidar, parameters = None, *, pose = None, paths = None, threads = None))]
pub fn predict<'py>(
    py: Python<'py>,
    scene: SceneArgument<'py>,
    lidar: &Bound<'py, Lidar>,
    parameters: Option<&Bound<'py, PyAny>>,
    pose: Option<&Bound<'py, PyAny>>,
    paths: Option<i64>,
    threads: Option<i64>,
) -> Outcome<Prediction<'py>> {
    let (scene, lidar) = (scene.get(), lidar.get());
    let arguments = Arguments::read(scene, parameters, pose, "spatial", Some(false), paths)?;
    let loaded = scene.loaded();
    let values = threads::run(py, threads, lidar.rays(), || {
        let point = Point::new(loaded, lidar, &arguments)?;
        let scans = point.model.predict(&point.state);
        let beams = scans.iter().flatten();
        let values = beams.flat_map(|beam: &BeamMeasurement| [beam.range(), beam.intensity()]);
        Outcome::Ok(values.collect::<Vec<_>>())
    })??;
    Ok((measurements(py, &values)?, mask(py, &values)?))
}

/// Expected measurements, and the function that gives the gradient of a function of them (reverse mode).
///
/// Time and memory do not grow with the number of factors of facets, positions of vertices and offsets of beams:
/// the derivatives of each beam are those by the few that it depends on. For other parameters they grow with
/// the number of components.
///
/// Parameters
/// ----------
/// scene : Scene
/// lidar : Lidar
/// parameters : list of str, or dict of str to value
///     Paths of the parameters to differentiate by, with their values if they differ from those of the scene
///     and the lidar (`None` if not). An index can be `*`, for all: the value is then an array.
///
///     - "sensor.pose", "objects.NAME.pose": a pose (4, 4), or (position, quaternion)
///     - "materials.NAME.reflectance" and other parameters of materials: a number
///     - "objects.NAME.facets.*.scattering": (triangles,), factors on the reflectance of each triangle
///     - "objects.NAME.vertices.*": (vertices, 3), positions in the frame of the object, m
///     - "sensor.beams.*.azimuth_offset", "elevation_offset" (rad) and "range_offset" (m): (beams,)
///     - "sensor.channels.*.azimuth_offset" and so on: (channels,)
///     - "sensor.beam.divergence", "sensor.receiver.threshold", "atmosphere.rain_mm_h" and so on: a number
/// pose : array of the shape (4, 4), or (position, quaternion), optional
///     Pose of the sensor, unless it is one of `parameters`. Default: that of the scene file.
/// motion : {"spatial", "planar"}, default "spatial"
///     Degrees of freedom of poses: six, or x, y and yaw.
/// edges : bool, optional
///     Whether derivatives contain the motion of edges across beams. Default: if the pose of an object is
///     free.
/// paths : int, optional
///     Number of random light paths per ray, for light that several rough surfaces reflect; they are the same at
///     every call. Default: ray trees, which only follow mirrors and glass.
/// threads : int, optional
///     Number of threads; the results do not depend on it.
///
/// Returns
/// -------
/// y : float64 (beams, 2)
///     Expected range (m) and intensity (counts) of each beam; NaN without a return.
/// vjp : Pullback
///     Function of the derivatives (beams, 2) of a number by `y`. It gives a dict of the derivatives by each
///     parameter, in the shapes above; those by poses are by body-fixed twists (6,), or (3,) with planar
///     motion: translation along and rotation about the axes of the pose (m, rad). `vjp.valid` is the mask of
///     `y`.
///
/// Raises
/// ------
/// UnknownNameError
///     No parameter has the path.
/// ModelError
///     A parameter is free twice, a value is outside its bounds, or triangles have parameters with `paths`.
/// ValueError
///     A value has the wrong shape or is not finite.
///
/// Examples
/// --------
/// The sum of squared differences from measured ranges:
///
/// >>> import etendue as et
/// >>> import numpy as np
/// >>> scene, lidar = et.Scene.arena(), et.Lidar("velodyne-vlp-16")
/// >>> measured, valid = et.predict(scene, lidar)
/// >>> pose = scene.sensor_pose + [[0, 0, 0, 0.01], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
/// >>> paths = {"sensor.pose": pose, "objects.room.facets.*.scattering": None}
/// >>> y, vjp = et.vjp(scene, lidar, paths)
/// >>> residual = np.where(valid & vjp.valid, y - measured, 0.0)
/// >>> gradient = vjp(2 * residual)
/// >>> gradient["sensor.pose"].shape, gradient["objects.room.facets.*.scattering"].shape
/// ((6,), (12,))
#[pyfunction]
#[pyo3(signature = (scene, lidar, parameters, *, pose = None, motion = "spatial", edges = None, paths = None, threads = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn vjp<'py>(
    py: Python<'py>,
    scene: SceneArgument<'py>,
    lidar: &Bound<'py, Lidar>,
    parameters: &Bound<'py, PyAny>,
    pose: Option<&Bound<'py, PyAny>>,
    motion: &str,
    edges: Option<bool>,
    paths: Option<i64>,
    threads: Option<i64>,
) -> Outcome<(Bound<'py, PyArrayDyn<f64>>, Pullback)> {
    let (scene, lidar) = (scene.get(), lidar.get());
    let arguments = Arguments::read(scene, Some(parameters), pose, motion, edges, paths)?;
    let (mut linearized, groups) = linearize(py, scene, lidar, &arguments, threads)?;
    let shape = [linearized.valid.len() / 2, 2];
    let y = array(py, take(&mut linearized.values), &shape)?;
    let valid = read_only(py, linearized.valid.clone(), &shape)?;
    let memory = Arc::clone(lidar.gradient_memory());
    Ok((
        y,
        Pullback {
            linearized,
            memory,
            groups,
            valid,
        },
    ))
}

/// Expected measurements, and their change along a direction of the parameters (forward mode).
///
/// Parameters
/// ----------
/// scene, lidar, parameters, pose, motion, edges, paths, threads
///     As of `vjp`.
/// tangents : dict of str to array
///     Direction: the change of each parameter, in the shapes of the derivatives of `vjp` (twists for poses).
///     Parameters that are absent do not change.
///
/// Returns
/// -------
/// y : float64 (beams, 2)
///     Expected range (m) and intensity (counts) of each beam; NaN without a return.
/// change : float64 (beams, 2)
///     Derivative of `y` along the direction; zero without a return.
/// valid : bool (beams, 2)
///     Where a beam has a return.
///
/// Raises
/// ------
/// UnknownNameError
///     No parameter has the path.
/// ValueError
///     A value has the wrong shape or is not finite, or a direction is of no parameter.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> scene, lidar = et.Scene.arena(), et.Lidar("hokuyo-urg-04lx")
/// >>> forward = {"sensor.pose": [1.0, 0, 0, 0, 0, 0]}
/// >>> y, change, valid = et.jvp(scene, lidar, ["sensor.pose"], forward)
/// >>> bool(change[len(y) // 2, 0] < 0)
/// True
#[pyfunction]
#[pyo3(signature = (scene, lidar, parameters, tangents, *, pose = None, motion = "spatial", edges = None, paths = None, threads = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn jvp<'py>(
    py: Python<'py>,
    scene: SceneArgument<'py>,
    lidar: &Bound<'py, Lidar>,
    parameters: &Bound<'py, PyAny>,
    tangents: &Bound<'py, PyDict>,
    pose: Option<&Bound<'py, PyAny>>,
    motion: &str,
    edges: Option<bool>,
    paths: Option<i64>,
    threads: Option<i64>,
) -> Outcome<Change<'py>> {
    // Linearize.
    let (scene, lidar) = (scene.get(), lidar.get());
    let arguments = Arguments::read(scene, Some(parameters), pose, motion, edges, paths)?;
    let given = named_values("tangents", tangents)?;
    let (mut linearized, groups) = linearize(py, scene, lidar, &arguments, threads)?;

    // Arrange the direction, and multiply.
    let mut step = vec![0.0; linearized.components.len()];
    for (path, value) in given {
        let name = format!("tangents[\"{path}\"]");
        let group = groups.iter().find(|group| group.path == path);
        let group = group.ok_or_else(|| {
            let text = format!("tangents: \"{path}\" is not one of parameters");
            PyValueError::new_err(text)
        })?;
        let numbers = floats(&name, &value)?;
        if numbers.shape != group.shape {
            return Err(wrong_shape(&name, &shape_text(&group.shape), &numbers.shape).into());
        }
        check_finite(&name, &numbers.values)?;
        step[group.components.clone()].copy_from_slice(&numbers.values);
    }
    let change = py.detach(|| linearized.along(&step));
    let (values, valid) = (take(&mut linearized.values), linearized.valid.clone());
    lidar.gradient_memory().keep(linearized);
    let shape = [values.len() / 2, 2];
    Ok((
        array(py, values, &shape)?,
        array(py, change, &shape)?,
        array(py, valid, &shape)?,
    ))
}

/// Linearizes the measurements.
fn linearize(
    py: Python<'_>,
    scene: &Scene,
    lidar: &Lidar,
    arguments: &Arguments,
    threads: Option<i64>,
) -> Outcome<(LinearizedMeasurements, Vec<Group>)> {
    let loaded = scene.loaded();
    threads::run(py, threads, lidar.rays(), || {
        let point = Point::new(loaded, lidar, arguments)?;
        let memory = lidar.gradient_memory().take();
        let linearized = point.model.linearize_into(&point.state, memory);
        Outcome::Ok((linearized, point.groups))
    })?
}

impl Arguments {
    /// Reads the arguments.
    fn read(
        scene: &Scene,
        parameters: Option<&Bound<'_, PyAny>>,
        pose: Option<&Bound<'_, PyAny>>,
        motion: &str,
        edges: Option<bool>,
        paths: Option<i64>,
    ) -> Outcome<Self> {
        let parameters = parameters.map(read_parameters).transpose()?;
        let parameters = parameters.unwrap_or_default();
        let given = pose.map(|pose| read_pose("pose", pose)).transpose()?;
        let of_parameters = parameters.iter().find_map(|(path, value)| match value {
            Value::Pose(pose) if path == "sensor.pose" => Some(*pose),
            _ => None,
        });
        if given.is_some() && of_parameters.is_some() {
            let text =
                "pose: parameters contain a value of \"sensor.pose\"\nhelp: give one of them";
            return Err(PyValueError::new_err(text).into());
        }
        Ok(Self {
            parameters,
            pose: scene.sensor_pose_or(given.or(of_parameters))?,
            freedom: freedom_of_poses(motion)?,
            edges,
            light: light_of(paths)?,
        })
    }
}

impl Point {
    /// The model of a scene and a lidar at the values of the arguments.
    fn new(loaded: &LoadedScene, lidar: &Lidar, arguments: &Arguments) -> Outcome<Self> {
        // Place the objects and the sensor.
        let mut model = model_of_scene(loaded, lidar, arguments.pose)?;
        let mut poses = Vec::new();
        for (path, value) in &arguments.parameters {
            for (_, parameter) in model.resolve(path)? {
                check_kind(path, &parameter, value)?;
                if let (Parameter::ObjectPose(ObjectPose { object }), Value::Pose(pose)) =
                    (parameter, value)
                {
                    poses.push((object, *pose));
                }
            }
        }
        if !poses.is_empty() {
            model = with_poses(&model, lidar, arguments, &poses)?.in_air(loaded.air.clone());
        }
        model = model.in_light(arguments.light)?;

        // Free the parameters.
        let mut groups = Vec::new();
        let mut ends = Vec::new();
        for (path, _) in &arguments.parameters {
            release(
                &mut model,
                std::slice::from_ref(path),
                arguments.freedom,
                arguments.edges,
            )?;
            ends.push(model.unknowns().len());
        }

        // Set their values.
        let mut state = model.start();
        let (mut first, mut component) = (0, 0);
        for ((path, value), end) in arguments.parameters.iter().zip(ends) {
            let own = &mut state[first..end];
            let shape = shape_of(path, &model.unknowns()[first].parameter, own);
            set(path, own, value, &shape)?;
            let dimension: usize = own.iter().map(Manifold::dimension).sum();
            groups.push(Group {
                path: path.clone(),
                components: component..component + dimension,
                shape,
            });
            component += dimension;
            first = end;
        }
        Ok(Self {
            model,
            state,
            groups,
        })
    }
}

/// A model with objects at other poses.
fn with_poses(
    model: &Model,
    lidar: &Lidar,
    arguments: &Arguments,
    poses: &[(ObjectId, Isometry3<f64>)],
) -> Outcome<Model> {
    let scene = etendue::scene::Scene::clone(model.scene());
    let edit = poses.iter().fold(scene.edit(), |edit, (object, pose)| {
        edit.with_pose(*object, *pose)
    });
    let (scene, sensor) = (edit.finish().into(), lidar.noiseless().clone());
    Ok(Model::of_sensor(scene, sensor, vec![arguments.pose])?)
}

/// Checks that the value of a parameter is a pose or not, like the parameter.
fn check_kind(path: &str, parameter: &Parameter, value: &Value) -> PyResult<()> {
    let (expected, found) = match (parameter.is_pose(), value) {
        (true, Value::Numbers { .. }) => ("a pose", "numbers"),
        (false, Value::Pose(_)) => ("numbers", "a pose"),
        _ => return Ok(()),
    };
    let text = format!("parameters[\"{path}\"]: expected {expected}, got {found}");
    Err(PyTypeError::new_err(text))
}

/// Shape of the derivatives by the parameters of a path.
fn shape_of(path: &str, parameter: &Parameter, own: &[Variable]) -> Vec<usize> {
    if parameter.is_pose() {
        return vec![own[0].dimension()];
    }
    let has_axes = matches!(parameter, Parameter::VertexPosition(_))
        && ![".x", ".y", ".z"].iter().any(|axis| path.ends_with(axis));
    match (path.contains('*'), has_axes) {
        (true, true) => vec![own.len() / 3, 3],
        (true, false) => vec![own.len()],
        (false, true) => vec![3],
        (false, false) => vec![],
    }
}

/// Sets the variables of the parameters of a path to a value.
fn set(path: &str, own: &mut [Variable], value: &Value, shape: &[usize]) -> Outcome<()> {
    let Value::Numbers {
        values,
        shape: given,
    } = value
    else {
        return Ok(());
    };
    if given != shape {
        let name = format!("parameters[\"{path}\"]");
        return Err(wrong_shape(&name, &shape_text(shape), given).into());
    }
    for (variable, value) in own.iter_mut().zip(values) {
        if let Variable::Number(number) = variable {
            *number = restarted(number, *value).map_err(|source| ModelError::Start {
                path: path.to_owned(),
                source,
            })?;
        }
    }
    Ok(())
}

/// The argument `parameters`: a list of paths, or a dict of values by path.
fn read_parameters(parameters: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Value)>> {
    let Ok(values) = parameters.cast::<PyDict>() else {
        let paths: Vec<String> = parameters.extract().map_err(|_| {
            PyTypeError::new_err(
                "parameters: expected a list of paths, or a dict of values by path",
            )
        })?;
        return Ok(paths
            .into_iter()
            .map(|path| (path, Value::Current))
            .collect());
    };
    let read = |(path, value): (String, Bound<'_, PyAny>)| {
        let name = format!("parameters[\"{path}\"]");
        let value = if value.is_none() {
            Value::Current
        } else if path.rsplit('.').next() == Some("pose") {
            Value::Pose(read_pose(&name, &value)?)
        } else {
            let numbers = floats(&name, &value)?;
            check_finite(&name, &numbers.values)?;
            Value::Numbers {
                values: numbers.values,
                shape: numbers.shape,
            }
        };
        Ok((path, value))
    };
    let named = named_values("parameters", values)?;
    named.into_iter().map(read).collect()
}

/// Values by path of a dict.
fn named_values<'py>(
    name: &str,
    values: &Bound<'py, PyDict>,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let named = |(path, value): (Bound<'_, PyAny>, _)| {
        let path = path.extract();
        let path = path.map_err(|_| {
            PyTypeError::new_err(format!("{name}: expected paths of parameters as keys"))
        })?;
        Ok((path, value))
    };
    values.iter().map(named).collect()
}

/// Measurements as an array (beams, 2), NaN for none.
fn measurements<'py>(
    py: Python<'py>,
    values: &[Option<f64>],
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let numbers = values.iter().map(|value| value.unwrap_or(f64::NAN));
    array(py, numbers.collect(), &[values.len() / 2, 2])
}

/// Mask (beams, 2) of the measurements that exist.
fn mask<'py>(py: Python<'py>, values: &[Option<f64>]) -> PyResult<Bound<'py, PyArrayDyn<bool>>> {
    let valid = values.iter().map(Option::is_some).collect();
    array(py, valid, &[values.len() / 2, 2])
}
