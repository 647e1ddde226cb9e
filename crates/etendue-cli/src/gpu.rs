//! The GPU of a command.

use crate::failure::Failure;
use crate::output::{remark, warn};
use etendue::scene::Scene;
use etendue_gpu::{DeviceChoice, GpuCaster, GpuDevice, GpuError, ShaderChecks};
use std::fmt;
use std::sync::Arc;

/// A GPU with the scene in its memory.
pub struct Gpu {
    /// The device.
    pub device: GpuDevice,
    /// The scene.
    pub caster: GpuCaster,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Gpu").finish_non_exhaustive()
    }
}

impl Gpu {
    /// Opens the chosen GPU and copies the scene to it; `None` for the CPU, which `auto` chooses with a warning where
    /// that fails.
    pub fn open(choice: DeviceChoice, scene: &Scene) -> Result<Option<Arc<Self>>, Failure> {
        let opened = || -> Result<Option<Self>, GpuError> {
            let Some(device) = GpuDevice::open(choice, ShaderChecks::default())? else {
                return Ok(None);
            };
            let caster = GpuCaster::new(&device, scene.caster())?;
            Ok(Some(Self { device, caster }))
        };
        match opened() {
            Ok(Some(gpu)) => {
                let adapter = gpu.device.adapter();
                remark(format_args!(
                    "device: {} ({})",
                    adapter.name,
                    adapter.kind.name()
                ));
                Ok(Some(Arc::new(gpu)))
            }
            Ok(None) => {
                if choice == DeviceChoice::Auto {
                    remark("device: CPU (there is no GPU)");
                }
                Ok(None)
            }
            Err(error) if choice == DeviceChoice::Auto => {
                warn([format!("simulated on the CPU: {error}")]);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
