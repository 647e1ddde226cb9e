//! The argument `device` where the package is built without GPUs.

use crate::batch::{Arrays, Batch, Number};
use crate::camera::Picture;
use crate::devices::{Adapter, unknown_device};
use crate::errors::{DeviceError, Outcome};
use crate::simulate::Single;
use crate::threads::Progress;
use etendue::sensors::camera::{CameraFrame, FrameTruth};
use etendue::sensors::lidar::Sweep;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A GPU: there is none.
pub enum Gpu {}

/// A scene in the memory of GPUs: of none.
#[derive(Default)]
pub struct SceneOnGpus(());

impl Gpu {
    /// Checks the argument `device`; "auto" is the CPU.
    pub fn of(_: Python<'_>, device: &str) -> Outcome<Option<Self>> {
        let is_gpu = |number: &str| number.parse::<usize>().is_ok();
        match device {
            "cpu" | "auto" => Ok(None),
            _ if device == "gpu" || device.strip_prefix("gpu:").is_some_and(is_gpu) => {
                let text = "the package was built without GPUs\nhelp: install a wheel of `just wheel`, or build with `pip \
                            install . -C maturin.build-args=\"--features gpu\"`; or simulate on the CPU";
                Err(DeviceError::new_err(text).into())
            }
            _ => Err(PyValueError::new_err(unknown_device(device)).into()),
        }
    }

    /// Simulates a sweep.
    pub fn simulate(&self, _: Python<'_>, _: &Single, _: Option<i64>) -> Outcome<Option<Sweep>> {
        match *self {}
    }

    /// Renders a picture.
    pub fn render(
        &self,
        _: Python<'_>,
        _: &Picture,
        _: Option<i64>,
    ) -> Outcome<Option<(CameraFrame, FrameTruth)>> {
        match *self {}
    }

    /// Simulates a batch.
    pub fn simulate_batch<T: Number>(
        &self,
        _: Python<'_>,
        _: &Batch,
        _: &mut Arrays<T>,
        _: Option<i64>,
        _: Option<&Progress>,
    ) -> Outcome<bool> {
        match *self {}
    }
}

/// The GPUs of the machine: none that the package can use.
pub fn adapters() -> Vec<Adapter> {
    vec![]
}
