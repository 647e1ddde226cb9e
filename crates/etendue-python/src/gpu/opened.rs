//! The GPUs that the process has opened.

use etendue_gpu::{DeviceChoice, GpuDevice, GpuError, ShaderChecks};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An opened GPU.
pub struct OpenedGpu {
    number: usize,
    device: GpuDevice,
    /// Held by the call that computes: objects are placed in the scene on the device for one call at a time.
    turn: Mutex<()>,
}

/// The GPUs that the process has opened.
struct Registry {
    /// The GPUs by number.
    by_number: BTreeMap<usize, Arc<OpenedGpu>>,
    /// Whether `auto` found that all adapters are software.
    is_software_only: bool,
    /// The process that opened them.
    process: u32,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    by_number: BTreeMap::new(),
    is_software_only: false,
    process: 0,
});

impl OpenedGpu {
    /// Its number among the adapters.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The device.
    pub fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Waits until no other call uses the GPU. A call that Ctrl-C ended leaves nothing behind.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the next call open the GPU again.
    pub fn forget(self: &Arc<Self>) {
        let mut registry = registry();
        let known = registry.by_number.get(&self.number);
        if known.is_some_and(|known| Arc::ptr_eq(known, self)) {
            registry.by_number.remove(&self.number);
        }
    }
}

/// The GPU of a choice, opened when it is first used; `None` for the CPU.
pub fn open(choice: DeviceChoice) -> Result<Option<Arc<OpenedGpu>>, GpuError> {
    let number = match choice {
        DeviceChoice::Cpu => return Ok(None),
        DeviceChoice::Gpu(number) => number.unwrap_or(0),
        DeviceChoice::Auto => 0,
    };
    let mut registry = registry();
    let is_auto = choice == DeviceChoice::Auto;
    if is_auto && registry.is_software_only {
        return Ok(None);
    }

    // A driver's threads and handles do not exist in a process that was forked from the one that opened the device.
    let process = std::process::id();
    if let Some(known) = registry.by_number.values().next()
        && registry.process != process
    {
        return Err(GpuError::NotOpened {
            adapter: known.device.adapter().name.clone(),
            reason: "the process was forked from one that uses it".into(),
        });
    }

    // Use the known device again.
    if let Some(known) = registry.by_number.get(&number) {
        let is_cpu = is_auto && known.device.adapter().is_software();
        return Ok((!is_cpu).then(|| Arc::clone(known)));
    }

    // Open it.
    let Some(device) = GpuDevice::open(choice, ShaderChecks::default())? else {
        registry.is_software_only = is_auto;
        return Ok(None);
    };
    let opened = Arc::new(OpenedGpu {
        number,
        device,
        turn: Mutex::default(),
    });
    registry.process = process;
    registry.by_number.insert(number, Arc::clone(&opened));
    Ok(Some(opened))
}

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}
