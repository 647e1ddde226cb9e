//! The extension module of the Python package `etendue`.
//!
//! It converts arguments and results; the computations are those of the crate [`etendue`]. Each file is one
//! topic of the package. Functions release the interpreter lock while they compute, on threads of their own
//! ([`threads`]), and read their arguments before ([`arrays`]). Objects are immutable values.
#![allow(
    clippy::doc_link_with_quotes,
    clippy::needless_pass_by_value,
    reason = "documentation is that of NumPy, and arguments are values that Python gives"
)]

mod arrays;
mod batch;
mod camera;
mod command;
mod devices;
mod differentiate;
mod errors;
mod fit;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
mod gradient;
mod lidar;
mod model;
mod picture;
mod pose;
mod raycast;
mod scene;
mod simulate;
mod sweep;
mod threads;
mod toml_values;
mod trajectory;
mod variations;
mod weather;

use pyo3::prelude::*;

/// Physics-based, differentiable simulation of lidars.
#[pymodule]
mod _etendue {
    #[pymodule_export]
    use super::batch::simulate_batch;
    #[pymodule_export]
    use super::camera::render;
    #[pymodule_export]
    use super::command::_run_command;
    #[pymodule_export]
    use super::devices::devices;
    #[pymodule_export]
    use super::differentiate::{Pullback, jvp, predict, vjp};
    #[pymodule_export]
    use super::errors::{
        CommandError, ConfigError, DepthError, DeviceError, EtendueError, FitError, FormatError,
        MappingError, ModelError, NoiseError, RegisterError, RigError, SceneError, TrajectoryError,
        UnknownNameError, WorldError,
    };
    #[pymodule_export]
    use super::fit::{FitResult, fit};
    #[pymodule_export]
    use super::gradient::{Jacobian, jacobian};
    #[pymodule_export]
    use super::lidar::{Lidar, presets};
    #[pymodule_export]
    use super::picture::Picture;
    #[pymodule_export]
    use super::scene::{Scene, scenes};
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::sweep::Sweep;
    #[pymodule_export]
    use super::trajectory::Trajectory;
    #[pymodule_export]
    use super::variations::draw;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python packages use")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
