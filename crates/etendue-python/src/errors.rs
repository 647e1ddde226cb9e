//! Exceptions: one class for each kind of error of the library, with its text and its remedy.

use etendue::config::ConfigError as AnyConfigError;
use etendue::config::toml_file::{DocumentError, UnknownName};
use etendue::estimate::fit::FitError as RustFitError;
use etendue::estimate::model::{ModelError as RustModelError, UnknownPath};
use etendue::estimate::solve::SolveError;
use etendue::io::FormatError as RustFormatError;
use etendue::scene::{SceneError as RustSceneError, TrajectoryError as RustTrajectoryError};
use etendue::sensors::camera::CameraWorldError;
use etendue::sensors::transport::WorldError as RustWorldError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use rayon::ThreadPoolBuildError;

create_exception!(
    etendue,
    EtendueError,
    PyException,
    "Error of the library; the base of its exceptions. The text contains the remedy."
);
create_exception!(
    etendue,
    FormatError,
    EtendueError,
    "A file cannot be read or written: the operating system refuses, or its content is malformed."
);
create_exception!(
    etendue,
    ConfigError,
    EtendueError,
    "A scene or sensor file is invalid; the text contains line and column."
);
create_exception!(
    etendue,
    UnknownNameError,
    EtendueError,
    "No preset, scene, material, key, quantity or parameter has the name; the text contains the nearest name."
);
create_exception!(
    etendue,
    SceneError,
    EtendueError,
    "The objects and meshes do not form a valid scene."
);
create_exception!(
    etendue,
    WorldError,
    EtendueError,
    "A material or a light has no values at the wavelength of the lidar, or in the band of the camera."
);
create_exception!(
    etendue,
    TrajectoryError,
    EtendueError,
    "The motion of the sensor does not cover the requested time, or its poses are not in the order of time."
);
create_exception!(
    etendue,
    ModelError,
    EtendueError,
    "A differentiable model is invalid: an unknown is free twice, or a value is outside its bounds."
);
create_exception!(
    etendue,
    FitError,
    EtendueError,
    "A fit is impossible: no valid range, another number of beams, or no descent."
);

create_exception!(
    etendue,
    RigError,
    EtendueError,
    "A robot or a rig cannot run: its devices, clocks or motion do not fit together."
);
create_exception!(
    etendue,
    RegisterError,
    EtendueError,
    "Two clouds cannot be registered."
);
create_exception!(
    etendue,
    MappingError,
    EtendueError,
    "A sequence of scans cannot be mapped, or its trajectory not compared."
);
create_exception!(
    etendue,
    NoiseError,
    EtendueError,
    "Noise profiles cannot be calibrated from the recordings."
);
create_exception!(
    etendue,
    DepthError,
    EtendueError,
    "A depth bias cannot be learnt or applied."
);
create_exception!(
    etendue,
    DeviceError,
    EtendueError,
    "A GPU does not exist, cannot be opened, has too little memory or was lost, or the package was built without GPUs."
);
create_exception!(
    etendue,
    CommandError,
    EtendueError,
    "The arguments or the inputs of a command cannot be used together."
);

/// Error of a call, as a Python exception.
pub struct Failure(PyErr);

/// Result of a call.
pub type Outcome<T> = Result<T, Failure>;

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

/// Text of an error with its remedy, as the command line prints both.
fn with_remedy(error: &dyn std::fmt::Display, remedy: &str) -> String {
    if remedy.is_empty() {
        return error.to_string();
    }
    format!("{error}\nhelp: {remedy}")
}

impl From<RustFormatError> for Failure {
    fn from(error: RustFormatError) -> Self {
        Self(FormatError::new_err(with_remedy(&error, &error.remedy())))
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        Self(ConfigError::new_err(with_remedy(&error, &error.remedy())))
    }
}

impl From<AnyConfigError> for Failure {
    fn from(error: AnyConfigError) -> Self {
        let text = with_remedy(&error, &error.remedy());
        Self(match error {
            AnyConfigError::Format(_) => FormatError::new_err(text),
            AnyConfigError::Scene { .. } => SceneError::new_err(text),
            _ => ConfigError::new_err(text),
        })
    }
}

impl From<UnknownName> for Failure {
    fn from(error: UnknownName) -> Self {
        Self(UnknownNameError::new_err(with_remedy(
            &error,
            &error.remedy(),
        )))
    }
}

impl From<UnknownPath> for Failure {
    fn from(error: UnknownPath) -> Self {
        Self(UnknownNameError::new_err(error.to_string()))
    }
}

impl From<RustSceneError> for Failure {
    fn from(error: RustSceneError) -> Self {
        Self(SceneError::new_err(error.to_string()))
    }
}

impl From<RustWorldError> for Failure {
    fn from(error: RustWorldError) -> Self {
        Self(WorldError::new_err(error.to_string()))
    }
}

impl From<CameraWorldError> for Failure {
    fn from(error: CameraWorldError) -> Self {
        Self(WorldError::new_err(error.to_string()))
    }
}

impl From<RustTrajectoryError> for Failure {
    fn from(error: RustTrajectoryError) -> Self {
        Self(TrajectoryError::new_err(error.to_string()))
    }
}

impl From<RustModelError> for Failure {
    fn from(error: RustModelError) -> Self {
        match error {
            RustModelError::Scene(error) => error.into(),
            RustModelError::World(error) => error.into(),
            RustModelError::Path(error) => error.into(),
            other => Self(ModelError::new_err(other.to_string())),
        }
    }
}

impl From<RustFitError> for Failure {
    fn from(error: RustFitError) -> Self {
        match error {
            RustFitError::Model(error) => error.into(),
            other => Self(FitError::new_err(other.to_string())),
        }
    }
}

#[cfg(feature = "gpu")]
impl From<etendue_gpu::GpuError> for Failure {
    fn from(error: etendue_gpu::GpuError) -> Self {
        Self(DeviceError::new_err(with_remedy(&error, error.remedy())))
    }
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Self {
        RustFitError::from(error).into()
    }
}

impl From<ThreadPoolBuildError> for Failure {
    fn from(error: ThreadPoolBuildError) -> Self {
        Self(PyRuntimeError::new_err(with_remedy(
            &error,
            "give fewer threads",
        )))
    }
}
