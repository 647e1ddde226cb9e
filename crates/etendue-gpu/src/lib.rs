//! Ray casting, sweeps of lidars and frames of cameras on GPUs of any vendor, through Vulkan, Metal or Direct3D 12.
//!
//! A [`GpuDevice`] is an opened GPU ([`DeviceChoice`], [`adapters`]). A [`GpuCaster`] holds a scene in its memory and
//! finds the nearest hits of rays, those of the [`RayCaster`](etendue_raycast::RayCaster) of the CPU. A [`GpuLidar`]
//! simulates whole sweeps of pulsed, phase, FMCW and triangulating lidars, one after the other or one in each of many environments
//! ([`GpuLidar::simulate_batch`]); [`GpuSweepError`] names what it does not simulate. A [`GpuCamera`] exposes frames of
//! cameras in direct light, and finds their ground truth.
//!
//! # Where things are
//!
//! | step | file |
//! |---|---|
//! | adapters, choice, buffers and dispatches | `adapter.rs`, `choice.rs`, `device.rs` |
//! | transfers, buffers that are used again | `transfers.rs` |
//! | trees | `device_tree.rs` |
//! | meshes, objects and poses on the device | `geometry.rs`, `scene.rs` |
//! | casting rays | `caster.rs`, `shaders/trace.wgsl` |
//! | aiming shots, what a lens sees | `steps.rs`, `shaders/aim.wgsl`, `sight.wgsl` |
//! | paths by way of mirrors and glass | `trees.rs`, `shaders/surfaces.wgsl`, `branch.wgsl`, `links.wgsl`, `trees.wgsl` |
//! | receivers: light, noise, limits | `receive.rs`, `shaders/receive.wgsl`, `noise.wgsl` |
//! | echoes of pulses; which are reported | `shaders/echoes.wgsl`, `closed_form.wgsl`; `ranged.wgsl`, `one_echo.wgsl`, `several_echoes.wgsl` |
//! | sampled waveforms; light of the air, drops | `sampled.rs`, `shaders/sampled.wgsl`; `air.wgsl`, `streams.wgsl` |
//! | phases; frequencies | `phase.rs`, `shaders/phase.wgsl`; `fmcw.wgsl` |
//! | radial velocities; ambient light | `velocities.rs`, `shaders/velocities.wgsl`; `ambient.rs`, `lobes.rs`, `ambient.wgsl`, `lobes.wgsl` |
//! | light for receivers that the host applies | `shaders/light.wgsl` |
//! | noise profiles | `profiles.rs`, `shaders/profiles.wgsl` |
//! | sweeps | `lidar.rs` |
//! | many environments at once | `batch.rs` |
//! | frames of cameras | `camera.rs`, `camera/`, `shaders/camera.wgsl` |
//! | arithmetic of 45 bits; random numbers | `shaders/double_single.wgsl`; `shaders/random.wgsl` |

mod adapter;
mod ambient;
mod batch;
mod camera;
mod caster;
mod choice;
mod device;
mod device_tree;
mod error;
mod geometry;
mod lidar;
mod lobes;
mod numbers;
mod phase;
mod profiles;
mod receive;
mod sampled;
mod scene;
mod shaders;
mod steps;
mod transfers;
mod trees;
mod velocities;

pub use adapter::{AdapterKind, AdapterSummary, adapters};
pub use batch::{BatchImages, Environments, GpuBatch, ImageSlices};
pub use camera::{GpuCamera, GpuFrame, GpuFrameError};
pub use caster::{GpuCaster, GpuHit, GpuRays, TraversalCounts};
pub use choice::{DeviceChoice, UnknownDevice};
pub use device::{GpuDevice, ShaderChecks};
pub use error::GpuError;
pub use lidar::{GpuLidar, GpuSweep, GpuSweepError, HostWork};
pub use scene::GpuScene;
