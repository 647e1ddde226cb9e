//! Derivatives of the expected measurements.

use crate::arrays::read_only;
use crate::errors::Outcome;
use crate::lidar::Lidar;
use crate::model::{free_of, freedom_of_poses, model_of_scene, release};
use crate::pose::pose as read_pose;
use crate::scene::SceneArgument;
use crate::simulate::light_of;
use crate::threads;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};
use std::mem::take;

/// Expected measurements with their derivatives; unpacks to `(y, J, valid)`.
#[pyclass(frozen, module = "etendue")]
pub struct Jacobian {
    y: Py<PyAny>,
    derivatives: Py<PyAny>,
    valid: Py<PyAny>,
    names: Vec<String>,
    units: Vec<String>,
}

#[pymethods]
impl Jacobian {
    /// float64 (beams, 2): expected range (m) and intensity (counts) of each beam; NaN without a return.
    #[getter]
    fn y(&self, py: Python<'_>) -> Py<PyAny> {
        self.y.clone_ref(py)
    }

    /// float64 (beams, 2, k): derivatives of `y` by each of `names`; zero without a return.
    #[getter(J)]
    fn jacobian(&self, py: Python<'_>) -> Py<PyAny> {
        self.derivatives.clone_ref(py)
    }

    /// bool (beams, 2): where a beam has a return.
    #[getter]
    fn valid(&self, py: Python<'_>) -> Py<PyAny> {
        self.valid.clone_ref(py)
    }

    /// list of str: names of the k components of the unknowns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// list of str: units of the components; empty for dimensionless ones.
    #[getter]
    fn units(&self) -> Vec<String> {
        self.units.clone()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyTuple::new(py, [&self.y, &self.derivatives, &self.valid])?.try_iter()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = self.derivatives.bind(py).getattr("shape")?;
        Ok(format!("Jacobian({shape}, names={:?})", self.names))
    }
}

/// Expected range and intensity of every beam, with their exact derivatives.
///
/// The expectation is that of the simulator without noise and rounding. Objects are where they are at time
/// zero.
///
/// Parameters
/// ----------
/// scene : Scene
/// lidar : Lidar
/// free : list of str
///     Paths of the parameters to differentiate by, such as "sensor.pose", "objects.mirror.pose",
///     "materials.white.reflectance" or "atmosphere.rain_mm_h". Poses are differentiated by body-fixed
///     twists (m, rad).
/// pose : array of the shape (4, 4), or (position, quaternion), optional
///     Pose of the sensor. Default: that of the scene file.
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
/// Jacobian
///     Unpacks to `y` (beams, 2), `J` (beams, 2, k) and `valid` (beams, 2); it also has `names` and `units`.
///
/// Raises
/// ------
/// UnknownNameError
///     No parameter has the path.
/// ModelError
///     A parameter is free twice.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> result = et.jacobian(
/// ...     et.Scene.arena(), et.Lidar("hokuyo-urg-04lx"), ["sensor.pose"], motion="planar")
/// >>> result.names
/// ['sensor.pose body x', 'sensor.pose body y', 'sensor.pose yaw']
/// >>> y, J, valid = result
/// >>> J.shape
/// (682, 2, 3)
#[pyfunction]
#[pyo3(signature = (scene, lidar, free, *, pose = None, motion = "spatial", edges = None, paths = None, threads = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn jacobian(
    py: Python<'_>,
    scene: SceneArgument<'_>,
    lidar: &Bound<'_, Lidar>,
    #[pyo3(from_py_with = free_of)] free: Vec<String>,
    pose: Option<&Bound<'_, PyAny>>,
    motion: &str,
    edges: Option<bool>,
    paths: Option<i64>,
    threads: Option<i64>,
) -> Outcome<Jacobian> {
    // Read the arguments.
    let (scene, lidar) = (scene.get(), lidar.get());
    let given = pose.map(|pose| read_pose("pose", pose)).transpose()?;
    let pose = scene.sensor_pose_or(given)?;
    let poses = freedom_of_poses(motion)?;
    let light = light_of(paths)?;

    // Differentiate.
    let loaded = scene.loaded();
    let mut linearized = threads::run(py, threads, lidar.rays(), || {
        let mut model = model_of_scene(loaded, lidar, pose)?.in_light(light)?;
        release(&mut model, &free, poses, edges)?;
        let memory = lidar.gradient_memory().take();
        Outcome::Ok(model.linearize_into(&model.start(), memory))
    })??;

    // Convert to arrays.
    let beams = linearized.valid.len() / 2;
    let jacobian = linearized.jacobian();
    let components = take(&mut linearized.components);
    let (y, valid) = (take(&mut linearized.values), linearized.valid.clone());
    lidar.gradient_memory().keep(linearized);
    Ok(Jacobian {
        y: read_only(py, y, &[beams, 2])?,
        derivatives: read_only(py, jacobian, &[beams, 2, components.len()])?,
        valid: read_only(py, valid, &[beams, 2])?,
        names: components.iter().map(|one| one.name.clone()).collect(),
        units: components.iter().map(|one| one.unit.clone()).collect(),
    })
}
