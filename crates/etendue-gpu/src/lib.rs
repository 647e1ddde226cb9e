//! Ray casting and sweeps of lidars on GPUs of any vendor, through Vulkan, Metal or Direct3D 12.
//!
//! A [`GpuDevice`] is an opened GPU ([`DeviceChoice`], [`adapters`]). A [`GpuCaster`] holds a scene in its memory and
//! finds the nearest hits of rays, those of the [`RayCaster`](etendue_raycast::RayCaster) of the CPU.

mod adapter;
mod caster;
mod choice;
mod compressed_tree;
mod device;
mod error;
mod geometry;
mod numbers;
mod scene;

pub use adapter::{AdapterKind, AdapterSummary, adapters};
pub use caster::{GpuCaster, GpuHit, TraversalCounts};
pub use choice::{DeviceChoice, UnknownDevice};
pub use device::{GpuDevice, ShaderChecks};
pub use error::GpuError;
pub use scene::GpuScene;
