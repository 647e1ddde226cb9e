//! The device of the tests.

use etendue_gpu::{DeviceChoice, GpuDevice, GpuError, ShaderChecks};
use std::io::Write as _;

/// Says that a test is skipped, in spite of the capture of outputs.
pub fn skipped(test: &str, reason: &str) {
    _ = writeln!(std::io::stderr(), "skipped: {test} ({reason})");
}

/// The first adapter; `None`, with a message, where there is none. All tests but one run with the checks of release
/// builds.
pub fn device(test: &str) -> Option<GpuDevice> {
    device_with(test, ShaderChecks::Off)
}

/// [`device`] with checks of the shaders.
pub fn device_with(test: &str, checks: ShaderChecks) -> Option<GpuDevice> {
    match GpuDevice::open(DeviceChoice::Gpu(None), checks) {
        Ok(device) => device,
        Err(GpuError::NoAdapter) => {
            skipped(test, "no adapter: install a driver, or mesa-vulkan-drivers");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
