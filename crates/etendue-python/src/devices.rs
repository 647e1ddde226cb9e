//! The devices of the machine.

use crate::gpu::adapters;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A GPU, or software that acts as one.
pub struct Adapter {
    /// Name for the argument `device`.
    pub device: String,
    /// Name of the device.
    pub name: String,
    /// Kind of the device in words.
    pub kind: &'static str,
    /// Vulkan, Metal or Direct3D 12.
    pub interface: &'static str,
    /// Driver with its version.
    pub driver: String,
    /// Largest buffer, bytes.
    pub largest_buffer: u64,
}

/// The GPUs of the machine, the fastest kind first.
///
/// Returns
/// -------
/// list of dict
///     Empty where there is none, and where the package was built without GPUs. Each has the keys of `etendue
///     inspect --devices --json`:
///
///     - `device`: str, name for the argument `device` of `simulate` and `simulate_batch`
///     - `name`: str
///     - `kind`: str, such as "discrete GPU" or "software on the CPU"
///     - `interface`: str, Vulkan, Metal or Direct3D 12
///     - `driver`: str, with its version
///     - `largest_buffer_bytes`: int
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> [device["device"] for device in et.devices()] == [f"gpu:{k}" for k in range(len(et.devices()))]
/// True
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let of_adapter = |adapter: Adapter| {
        let device = PyDict::new(py);
        device.set_item("device", adapter.device)?;
        device.set_item("name", adapter.name)?;
        device.set_item("kind", adapter.kind)?;
        device.set_item("interface", adapter.interface)?;
        device.set_item("driver", adapter.driver)?;
        device.set_item("largest_buffer_bytes", adapter.largest_buffer)?;
        Ok(device)
    };
    let all = py.detach(adapters);
    all.into_iter().map(of_adapter).collect()
}

/// Text of the error of an unknown argument `device`.
pub fn unknown_device(name: &str) -> String {
    format!(
        "device: expected \"cpu\", \"gpu\", \"gpu:N\" with a number of etendue.devices(), or \"auto\", got \"{name}\""
    )
}
