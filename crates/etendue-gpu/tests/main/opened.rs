//! The device of the tests.

use etendue_gpu::{DeviceChoice, GpuDevice, GpuError, ShaderChecks};
use std::io::Write as _;
use std::sync::LazyLock;

/// Says that a test is skipped, in spite of the capture of outputs.
pub fn skipped(test: &str, reason: &str) {
    _ = writeln!(std::io::stderr(), "skipped: {test} ({reason})");
}

/// The first adapter, without checks of the shaders, as programs open it; `None`, with a message, where there is none.
pub fn device(test: &str) -> Option<&'static GpuDevice> {
    device_with(test, ShaderChecks::Off)
}

/// [`device`] with a choice of the checks of the shaders. All tests share two devices, one with checks and one without: on software, most
/// of the time of the tests is the compilation of shaders.
pub fn device_with(test: &str, checks: ShaderChecks) -> Option<&'static GpuDevice> {
    static WITH_CHECKS: LazyLock<Opened> = LazyLock::new(|| open(ShaderChecks::On));
    static WITHOUT_CHECKS: LazyLock<Opened> = LazyLock::new(|| open(ShaderChecks::Off));
    let opened = match checks {
        ShaderChecks::On => &*WITH_CHECKS,
        ShaderChecks::Off => &*WITHOUT_CHECKS,
    };
    match opened {
        Ok(device) => device.as_ref(),
        Err(GpuError::NoAdapter) => {
            skipped(test, "no adapter: install a driver, or mesa-vulkan-drivers");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A device, or why there is none.
type Opened = Result<Option<GpuDevice>, GpuError>;

fn open(checks: ShaderChecks) -> Opened {
    GpuDevice::open(DeviceChoice::Gpu(None), checks)
}
