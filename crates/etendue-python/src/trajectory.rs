//! Trajectories of moving sensors.

use crate::arrays::{check_finite, floats, read_only, wrong_shape};
use crate::errors::Outcome;
use crate::pose::{matrix, pose as read_pose, poses as read_poses};
use crate::scene::Scene;
use etendue::config::toml_file::UnknownName;
use etendue::io::trajectory::{PoseFile, read_trajectory};
use etendue::scene::{
    Interpolation, KeyFrame, KeyFrameTrajectory, Trajectory as SceneTrajectory, TrajectoryError,
};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::Arc;

/// Poses of a sensor over time: an immutable value.
///
/// As the argument `pose` it moves the sensor during a sweep. A run begins at the first pose: the time 0 of
/// `simulate` is `times[0]`.
///
/// Parameters
/// ----------
/// times : array of the shape (n,)
///     Times, s, ascending.
/// poses : array of the shape (n, 4, 4)
///     Poses at these times, world from sensor.
/// interpolation : {"linear", "cubic"}, default "linear"
///     Between the poses: constant velocities, or cubic curves with continuous velocities.
///
/// Raises
/// ------
/// TrajectoryError
///     Times do not ascend, or there is no pose.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> import numpy as np
/// >>> poses = np.stack([np.eye(4)] * 2)
/// >>> poses[1, 0, 3] = 3.0
/// >>> trajectory = et.Trajectory([0, 2], poses)
/// >>> trajectory.at(0.5)[:3, 3]
/// array([0.75, 0.  , 0.  ])
#[pyclass(frozen, module = "etendue")]
pub struct Trajectory {
    frames: Arc<KeyFrameTrajectory>,
}

#[pymethods]
impl Trajectory {
    #[new]
    #[pyo3(signature = (times, poses, *, interpolation = "linear"))]
    fn new(
        times: &Bound<'_, PyAny>,
        poses: &Bound<'_, PyAny>,
        interpolation: &str,
    ) -> Outcome<Self> {
        // Read the arguments.
        let times = floats("times", times)?;
        if times.shape.len() != 1 {
            return Err(wrong_shape("times", "(n,)", &times.shape).into());
        }
        check_finite("times", &times.values)?;
        let poses = read_poses("poses", poses)?;
        if poses.len() != times.values.len() {
            let (count, times) = (poses.len(), times.values.len());
            let text = format!("poses: expected one for each of the {times} times, got {count}");
            return Err(PyValueError::new_err(text).into());
        }

        // Join them.
        let frames = times.values.iter().zip(poses);
        let frames = frames.map(|(&time, pose)| KeyFrame { time, pose });
        let interpolation = interpolation_of(interpolation)?;
        let frames = KeyFrameTrajectory::interpolated(frames.collect(), interpolation)?;
        Ok(Self {
            frames: Arc::new(frames),
        })
    }

    /// Read a trajectory from a file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A TUM file (time x y z qx qy qz qw per line) or a KITTI file (twelve numbers per line).
    /// interval : float, default 0.1
    ///     Time between the poses of a KITTI file, s.
    /// interpolation : {"linear", "cubic"}, default "linear"
    ///     Between the poses.
    ///
    /// Returns
    /// -------
    /// Trajectory
    ///
    /// Raises
    /// ------
    /// FormatError
    ///     The file cannot be read; the text has the line.
    ///
    /// Examples
    /// --------
    /// >>> import etendue as et
    /// >>> import pathlib, tempfile
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     path = pathlib.Path(folder, "drive.tum")
    /// ...     _ = path.write_text("0 0 0 0 0 0 0 1\n2 3 0 0 0 0 0 1\n")
    /// ...     et.Trajectory.load(path)
    /// Trajectory(poses=2, from 0 s to 2 s)
    #[staticmethod]
    #[pyo3(signature = (path, *, interval = 0.1, interpolation = "linear"))]
    fn load(path: PathBuf, interval: f64, interpolation: &str) -> Outcome<Self> {
        if !(interval > 0.0 && interval.is_finite()) {
            let text = format!("interval: expected a number above 0, got {interval}");
            return Err(PyValueError::new_err(text).into());
        }
        let how = PoseFile {
            interval,
            interpolation: interpolation_of(interpolation)?,
        };
        Ok(Self {
            frames: Arc::new(read_trajectory(&path, how)?),
        })
    }

    /// The pose at a time.
    ///
    /// Parameters
    /// ----------
    /// time : float
    ///     Time, s, from `times[0]` to `times[-1]`.
    ///
    /// Returns
    /// -------
    /// float64 (4, 4)
    ///     Pose, world from sensor.
    ///
    /// Raises
    /// ------
    /// TrajectoryError
    ///     The trajectory does not cover the time.
    fn at(&self, py: Python<'_>, time: f64) -> Outcome<Py<PyAny>> {
        check_finite("time", &[time])?;
        self.frames.check_span(time, time)?;
        Ok(read_only(
            py,
            matrix(&self.frames.pose_or_end(time)),
            &[4, 4],
        )?)
    }

    /// float64 (n,): times, s.
    #[getter]
    fn times(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let times: Vec<f64> = self
            .frames
            .frames()
            .iter()
            .map(|frame| frame.time)
            .collect();
        let shape = [times.len()];
        read_only(py, times, &shape)
    }

    /// float64 (n, 4, 4): poses, world from sensor.
    #[getter]
    fn poses(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let frames = self.frames.frames();
        let poses = frames.iter().flat_map(|frame| matrix(&frame.pose));
        read_only(py, poses.collect(), &[frames.len(), 4, 4])
    }

    /// str: "linear" or "cubic".
    #[getter]
    fn interpolation(&self) -> &'static str {
        match self.frames.interpolation() {
            Interpolation::Linear => "linear",
            Interpolation::Cubic => "cubic",
        }
    }

    /// The trajectory of times and of poses as x, y, z and a quaternion x, y, z, w, for pickle.
    #[staticmethod]
    fn _of_numbers(times: Vec<f64>, poses: Vec<[f64; 7]>, interpolation: &str) -> Outcome<Self> {
        let pose = |[x, y, z, i, j, k, w]: [f64; 7]| {
            let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
            Isometry3::from_parts(Translation3::new(x, y, z), rotation)
        };
        let frames = times.into_iter().zip(poses.into_iter().map(pose));
        let frames = frames.map(|(time, pose)| KeyFrame { time, pose });
        let interpolation = interpolation_of(interpolation)?;
        let frames = KeyFrameTrajectory::interpolated(frames.collect(), interpolation)?;
        Ok(Self {
            frames: Arc::new(frames),
        })
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// For pickle: the times and the numbers of the poses.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let frames = self.frames.frames();
        let times: Vec<f64> = frames.iter().map(|frame| frame.time).collect();
        let numbers = |frame: &KeyFrame| {
            let position = frame.pose.translation.vector;
            let rotation = frame.pose.rotation.coords;
            [position.as_slice(), rotation.as_slice()].concat()
        };
        let poses: Vec<Vec<f64>> = frames.iter().map(numbers).collect();
        let restore = py.import("etendue._restore")?.getattr("trajectory")?;
        (restore, (times, poses, self.interpolation())).into_pyobject(py)
    }

    fn __len__(&self) -> usize {
        self.frames.frames().len()
    }

    fn __repr__(&self) -> String {
        let [from, to] = self.frames.span();
        format!(
            "Trajectory(poses={}, from {from} s to {to} s)",
            self.__len__()
        )
    }
}

/// The interpolation of a name.
fn interpolation_of(name: &str) -> Result<Interpolation, UnknownName> {
    match name {
        "linear" => Ok(Interpolation::Linear),
        "cubic" => Ok(Interpolation::Cubic),
        _ => Err(UnknownName::new("interpolation", name, ["linear", "cubic"])),
    }
}

/// Where the sensor of a sweep is, by the time of the run.
pub enum SensorMotion<'a> {
    /// It does not move.
    Still(Isometry3<f64>),
    /// It moves as in the scene file.
    OfScene(&'a SceneTrajectory),
    /// It moves along an argument, from its first pose.
    Given(Arc<KeyFrameTrajectory>),
}

impl<'a> SensorMotion<'a> {
    /// The motion of the argument `pose`: a pose or a trajectory; else that of the scene.
    pub fn of(scene: &'a Scene, pose: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        if let Some(given) = pose.and_then(|pose| pose.cast::<Trajectory>().ok()) {
            return Ok(Self::Given(given.get().frames.clone()));
        }
        let given = pose.map(|pose| read_pose("pose", pose)).transpose()?;
        let placement = scene.loaded().sensor.as_ref();
        let motion = placement.and_then(|placement| placement.motion.as_ref());
        match motion.filter(|_| given.is_none()) {
            Some(motion) => Ok(Self::OfScene(motion)),
            None => Ok(Self::Still(scene.sensor_pose_or(given)?)),
        }
    }

    /// Checks that the motion covers a span of the run (s).
    pub fn check_span(&self, from: f64, to: f64) -> Result<(), TrajectoryError> {
        match self {
            Self::OfScene(SceneTrajectory::KeyFrames(frames)) => frames.check_span(from, to),
            Self::OfScene(SceneTrajectory::Twist(_)) | Self::Still(_) => Ok(()),
            Self::Given(frames) => {
                let [begins, _] = frames.span();
                frames.check_span(begins + from, begins + to)
            }
        }
    }

    /// Pose at a time of the run, s.
    pub fn at(&self, time: f64) -> Isometry3<f64> {
        match self {
            Self::Still(pose) => *pose,
            Self::OfScene(motion) => motion.at(time),
            Self::Given(frames) => frames.pose_or_end(frames.span()[0] + time),
        }
    }
}
