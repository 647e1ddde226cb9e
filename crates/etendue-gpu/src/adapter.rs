//! The adapters of the machine.

use pollster::block_on;
use wgpu::{Adapter, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags};

/// Number of storage buffers that the shaders bind.
const STORAGE_BUFFERS: u32 = 8;

/// A GPU, or software that acts as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterSummary {
    /// Name of the device.
    pub name: String,
    /// Kind of the device.
    pub kind: AdapterKind,
    /// Interface: Vulkan, Metal or Direct3D 12.
    pub interface: &'static str,
    /// Driver with its version, as it names itself.
    pub driver: String,
    /// Largest buffer, bytes.
    pub largest_buffer: u64,
    /// Largest number of groups of 64 threads in one dimension of a dispatch.
    pub most_groups: u32,
}

/// Kind of an adapter, the fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the memory of the CPU.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// Unknown to the driver.
    Other,
    /// The CPU, by software such as lavapipe.
    Software,
}

impl AdapterKind {
    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete GPU",
            Self::Integrated => "integrated GPU",
            Self::Virtual => "virtual GPU",
            Self::Other => "unknown kind",
            Self::Software => "software on the CPU",
        }
    }
}

impl From<DeviceType> for AdapterKind {
    fn from(kind: DeviceType) -> Self {
        match kind {
            DeviceType::DiscreteGpu => Self::Discrete,
            DeviceType::IntegratedGpu => Self::Integrated,
            DeviceType::VirtualGpu => Self::Virtual,
            DeviceType::Cpu => Self::Software,
            DeviceType::Other => Self::Other,
        }
    }
}

impl AdapterSummary {
    fn of(adapter: &Adapter) -> Self {
        let info = adapter.get_info();
        let limits = adapter.limits();
        Self {
            name: info.name,
            kind: info.device_type.into(),
            interface: info.backend.to_str(),
            driver: format!("{} {}", info.driver, info.driver_info)
                .trim()
                .to_owned(),
            largest_buffer: limits
                .max_storage_buffer_binding_size
                .min(limits.max_buffer_size),
            most_groups: limits.max_compute_workgroups_per_dimension,
        }
    }

    /// Whether the adapter is software on the CPU.
    pub fn is_software(&self) -> bool {
        self.kind == AdapterKind::Software
    }
}

/// The adapters that can run the shaders, the fastest kind first: [`DeviceChoice::Gpu`](crate::DeviceChoice::Gpu)
/// numbers them from 0.
pub fn adapters() -> Vec<AdapterSummary> {
    let all = usable_adapters();
    all.into_iter().map(|(summary, _)| summary).collect()
}

/// The adapters of [`adapters`], to be opened.
pub(crate) fn usable_adapters() -> Vec<(AdapterSummary, Adapter)> {
    let descriptor = InstanceDescriptor {
        backends: Backends::VULKAN | Backends::METAL | Backends::DX12,
        flags: InstanceFlags::empty(),
        ..InstanceDescriptor::new_without_display_handle()
    };
    let backends = descriptor.backends;
    let instance = Instance::new(descriptor);
    let all = block_on(instance.enumerate_adapters(backends));
    let has_buffers = |adapter: &Adapter| {
        adapter.limits().max_storage_buffers_per_shader_stage >= STORAGE_BUFFERS
    };
    let mut usable: Vec<_> = all
        .into_iter()
        .filter(has_buffers)
        .map(|adapter| (AdapterSummary::of(&adapter), adapter))
        .collect();
    usable.sort_by_key(|(summary, _)| summary.kind);
    usable
}
