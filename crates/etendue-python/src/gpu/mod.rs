//! Simulation on GPUs.
//!
//! A process opens each GPU once, and a scene is copied once to each that simulates it.

mod batch;
mod opened;
mod picture;
mod sweep;

use crate::devices::{Adapter, unknown_device};
use crate::errors::{Failure, Outcome};
use crate::lidar::Lidar;
use crate::scene::Scene;
use crate::threads::{self, Control, Progress};
use etendue_gpu::{DeviceChoice, GpuCaster, GpuDevice, GpuError, GpuFrameError, GpuSweepError};
use opened::{OpenedGpu, open};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

/// The GPU of a call.
pub struct Gpu {
    opened: Arc<OpenedGpu>,
    /// Whether the CPU simulates where the GPU fails.
    is_auto: bool,
}

/// A scene in the memory of GPUs, by their numbers.
#[derive(Default)]
pub struct SceneOnGpus(Mutex<BTreeMap<usize, Arc<SceneCopy>>>);

/// A scene in the memory of a GPU.
struct SceneCopy {
    caster: GpuCaster,
    gpu: Arc<OpenedGpu>,
}

/// What a GPU simulates in a call, and how.
struct Call<'a> {
    scene: &'a Scene,
    /// What is computed, in the words of warnings.
    what: String,
    /// Number of rays, about.
    rays: usize,
    threads: Option<i64>,
    progress: Option<&'a Progress>,
}

/// Why a GPU has no result.
enum Refusal {
    /// It does not simulate this.
    Unsupported(String),
    /// It failed.
    Device(GpuError),
    /// The call is invalid on any device.
    Call(Failure),
}

impl From<GpuError> for Refusal {
    fn from(error: GpuError) -> Self {
        Self::Device(error)
    }
}

impl From<GpuSweepError> for Refusal {
    fn from(error: GpuSweepError) -> Self {
        match error {
            GpuSweepError::Device(error) => Self::Device(error),
            other => Self::Unsupported(other.to_string()),
        }
    }
}

impl From<GpuFrameError> for Refusal {
    fn from(error: GpuFrameError) -> Self {
        match error {
            GpuFrameError::Device(error) => Self::Device(error),
            other => Self::Unsupported(other.to_string()),
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Call(failure)
    }
}

impl Gpu {
    /// The GPU of the argument `device`; `None` for the CPU.
    pub fn of(py: Python<'_>, device: &str) -> Outcome<Option<Self>> {
        let choice: DeviceChoice = device
            .parse()
            .map_err(|_| PyValueError::new_err(unknown_device(device)))?;
        let is_auto = choice == DeviceChoice::Auto;
        match py.detach(|| open(choice)) {
            Ok(opened) => Ok(opened.map(|opened| Self { opened, is_auto })),
            Err(error) if is_auto => {
                warn(py, &format!("simulated on the CPU: {error}"))?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Runs a computation on the GPU with the scene in its memory. `None`, after a warning, where the CPU has to simulate.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        call: &Call,
        computation: impl FnOnce(&GpuDevice, &GpuCaster, &Control) -> Result<R, Refusal> + Send,
    ) -> Outcome<Option<R>> {
        // Compute while no other call does.
        let Call { scene, what, .. } = call;
        let compute = |control: &Control| {
            let _turn = self.opened.turn();
            control.check();
            let copy = scene.on_gpus().copy(&self.opened, scene)?;
            computation(self.opened.device(), &copy.caster, control)
        };
        let result = threads::run_controlled(py, call.threads, call.rays, call.progress, compute)?;

        // Leave to the CPU what the GPU does not simulate.
        let reason = match result {
            Ok(result) => return Ok(Some(result)),
            Err(Refusal::Call(failure)) => return Err(failure),
            Err(Refusal::Unsupported(reason)) => reason,
            Err(Refusal::Device(error)) => {
                if matches!(error, GpuError::Lost { .. }) {
                    self.opened.forget();
                }
                if !self.is_auto {
                    return Err(error.into());
                }
                error.to_string()
            }
        };
        warn_of(py, what, &reason)?;
        Ok(None)
    }
}

impl SceneOnGpus {
    /// The scene in the memory of a GPU, copied there when it is first used.
    fn copy(&self, gpu: &Arc<OpenedGpu>, scene: &Scene) -> Result<Arc<SceneCopy>, GpuError> {
        let mut copies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = copies.get(&gpu.number());
        if let Some(copy) = own.filter(|copy| Arc::ptr_eq(&copy.gpu, gpu)) {
            return Ok(Arc::clone(copy));
        }
        let copy = Arc::new(SceneCopy {
            caster: GpuCaster::new(gpu.device(), scene.loaded().scene.caster())?,
            gpu: Arc::clone(gpu),
        });
        copies.insert(gpu.number(), Arc::clone(&copy));
        Ok(copy)
    }
}

/// The GPUs of the machine.
pub fn adapters() -> Vec<Adapter> {
    let all = etendue_gpu::adapters().into_iter().enumerate();
    let one = |(number, adapter): (usize, etendue_gpu::AdapterSummary)| Adapter {
        device: DeviceChoice::Gpu(Some(number)).to_string(),
        kind: adapter.kind.name(),
        name: adapter.name,
        interface: adapter.interface,
        driver: adapter.driver,
        largest_buffer: adapter.largest_buffer,
    };
    all.map(one).collect()
}

/// A simulation of a lidar, in the words of warnings.
fn simulated(lidar: &Lidar) -> String {
    format!("{} is simulated", lidar.sensor().name)
}

/// Warns the caller that the CPU computes something.
fn warn_of(py: Python<'_>, what: &str, reason: &str) -> PyResult<()> {
    warn(py, &format!("{what} on the CPU: {reason}"))
}

/// Warns the caller.
fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = CString::new(text.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}
