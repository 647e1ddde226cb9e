//! An opened device: buffers, shaders, dispatches.

use crate::adapter::{AdapterSummary, usable_adapters};
use crate::choice::DeviceChoice;
use crate::error::GpuError;
use crate::transfers::Transfers;
use bytemuck::{Pod, cast_slice};
use pollster::block_on;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use wgpu::{
    BindGroup, Buffer, BufferDescriptor, BufferUsages, CommandEncoder, ComputePassDescriptor,
    ComputePipeline, ComputePipelineDescriptor, Device, DeviceDescriptor, ErrorFilter,
    ExperimentalFeatures, Features, Limits, MemoryHints, PipelineCompilationOptions, PollType,
    Queue, ShaderModuleDescriptor, ShaderRuntimeChecks, ShaderSource, Trace,
};

/// Storage buffers that the shaders of ray trees and noise profiles bind; every device has eight.
const STORAGE_BUFFERS: u32 = 16;

/// Threads in a group: the `workgroup_size` of the shaders.
const GROUP: u32 = 64;

/// Checks of the shaders at run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShaderChecks {
    /// None: tests run every shader with and without checks, with the same results.
    #[default]
    Off,
    /// Bounds of all accesses, and an end of every loop.
    On,
}

/// Compiled shaders by entry point and source. An entry is empty while a thread compiles it.
type Pipelines = BTreeMap<(&'static str, Arc<str>), Arc<OnceLock<ComputePipeline>>>;

/// An opened GPU.
pub struct GpuDevice {
    adapter: AdapterSummary,
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    checks: ShaderChecks,
    pub(crate) transfers: Transfers,
    pipelines: Mutex<Pipelines>,
    /// Most groups in one dimension of a dispatch.
    most_groups: u32,
    /// The driver's reason, once the device is lost.
    lost: Arc<Mutex<Option<String>>>,
}

impl GpuDevice {
    /// Opens the GPU of a choice; `None` for the CPU, which [`DeviceChoice::Auto`] chooses where every adapter is
    /// software.
    ///
    /// # Errors
    /// Where there is no such adapter, or it cannot be opened.
    pub fn open(choice: DeviceChoice, checks: ShaderChecks) -> Result<Option<Self>, GpuError> {
        let number = match choice {
            DeviceChoice::Cpu => return Ok(None),
            DeviceChoice::Gpu(number) => number.unwrap_or(0),
            DeviceChoice::Auto => 0,
        };
        let mut all = usable_adapters();
        if choice == DeviceChoice::Auto && all.first().is_none_or(|(first, _)| first.is_software())
        {
            return Ok(None);
        }
        let last = all.len().checked_sub(1).ok_or(GpuError::NoAdapter)?;
        if number > last {
            return Err(GpuError::NoSuchAdapter { number, last });
        }
        let (summary, adapter) = all.swap_remove(number);
        Self::new(summary, &adapter, checks).map(Some)
    }

    fn new(
        adapter: AdapterSummary,
        opened: &wgpu::Adapter,
        checks: ShaderChecks,
    ) -> Result<Self, GpuError> {
        // Open the device, with buffers as large and as many as shaders use.
        let offered = opened.limits();
        let usual = Limits::default();
        let buffers = offered
            .max_storage_buffers_per_shader_stage
            .min(STORAGE_BUFFERS);
        let descriptor = DeviceDescriptor {
            label: Some("etendue"),
            required_features: Features::empty(),
            required_limits: Limits {
                max_buffer_size: offered.max_buffer_size,
                max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
                max_storage_buffers_per_shader_stage: buffers
                    .max(usual.max_storage_buffers_per_shader_stage),
                ..usual
            },
            experimental_features: ExperimentalFeatures::disabled(),
            memory_hints: MemoryHints::MemoryUsage,
            trace: Trace::Off,
        };
        let (device, queue) =
            block_on(opened.request_device(&descriptor)).map_err(|reason| GpuError::NotOpened {
                adapter: adapter.name.clone(),
                reason: reason.to_string(),
            })?;
        // Keep the reason of the driver where the device is lost.
        let lost = Arc::new(Mutex::new(None));
        let of_callback = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, reason| {
            *of_callback.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        });
        let of_errors = Arc::clone(&lost);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut lost = of_errors.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert_with(|| error.to_string());
        }));
        Ok(Self {
            most_groups: device.limits().max_compute_workgroups_per_dimension,
            adapter,
            transfers: Transfers::new(&device),
            device,
            queue,
            checks,
            pipelines: Mutex::default(),
            lost,
        })
    }

    /// The adapter.
    pub fn adapter(&self) -> &AdapterSummary {
        &self.adapter
    }

    /// Whether the device binds as many buffers as the shaders of ray trees and noise profiles have.
    pub(crate) fn binds_all(&self) -> bool {
        self.device.limits().max_storage_buffers_per_shader_stage >= STORAGE_BUFFERS
    }

    /// The same device with fewer groups in one dimension of a dispatch.
    #[cfg(test)]
    pub(crate) fn with_most_groups(mut self, most: u32) -> Self {
        self.most_groups = most;
        self
    }

    /// Error if the device is lost.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        match &*lost {
            None => Ok(()),
            Some(reason) => Err(self.lost(reason)),
        }
    }

    /// Error of a lost device, with the reason of the driver.
    pub(crate) fn lost(&self, reason: &str) -> GpuError {
        GpuError::Lost {
            adapter: self.adapter.name.clone(),
            reason: reason.to_owned(),
        }
    }

    /// The largest number of elements of a size (bytes) that one buffer holds.
    pub(crate) fn most_elements(&self, size: usize) -> usize {
        usize::try_from(self.adapter.largest_buffer).unwrap_or(usize::MAX) / size
    }

    /// A buffer of a size, bytes.
    pub(crate) fn buffer(
        &self,
        what: &'static str,
        bytes: u64,
        usage: BufferUsages,
    ) -> Result<Buffer, GpuError> {
        self.check()?;
        if bytes > self.adapter.largest_buffer {
            return Err(GpuError::TooLarge {
                what,
                bytes,
                most: self.adapter.largest_buffer,
                adapter: self.adapter.name.clone(),
            });
        }
        let scope = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: Some(what),
            size: bytes.max(16).next_multiple_of(16),
            usage,
            mapped_at_creation: false,
        });
        match block_on(scope.pop()) {
            None => Ok(buffer),
            Some(_) => Err(GpuError::OutOfMemory {
                what,
                bytes,
                adapter: self.adapter.name.clone(),
            }),
        }
    }

    /// A buffer that shaders read, with its content.
    pub(crate) fn storage<T: Pod>(
        &self,
        what: &'static str,
        content: &[T],
    ) -> Result<Buffer, GpuError> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let buffer = self.buffer(what, size_of_val(content) as u64, usage)?;
        self.write(&buffer, cast_slice(content));
        Ok(buffer)
    }

    /// A uniform buffer with its content.
    pub(crate) fn uniform<T: Pod>(&self, content: &T) -> Result<Buffer, GpuError> {
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let buffer = self.buffer("parameters", size_of::<T>() as u64, usage)?;
        self.queue
            .write_buffer(&buffer, 0, bytemuck::bytes_of(content));
        Ok(buffer)
    }

    /// An entry point of a shader, compiled when it is first used. Threads compile different ones at the same time.
    pub(crate) fn pipeline(
        &self,
        source: String,
        entry: &'static str,
    ) -> Result<ComputePipeline, GpuError> {
        self.check()?;
        let source = Arc::from(source);
        // The table is locked only while the entry is looked up.
        let pipeline = {
            let known = self.pipelines.lock();
            let mut known = known.unwrap_or_else(PoisonError::into_inner);
            let key = (entry, Arc::clone(&source));
            Arc::clone(known.entry(key).or_default())
        };
        let compiled = pipeline.get_or_init(|| self.compiled(&source, entry));
        Ok(compiled.clone())
    }

    /// Compiles an entry point of a shader.
    #[expect(
        unsafe_code,
        reason = "ARCHITECTURE.md, unsafe code: tests run every shader with and without the checks of wgpu"
    )]
    fn compiled(&self, source: &str, entry: &'static str) -> ComputePipeline {
        // Parse the source.
        let descriptor = ShaderModuleDescriptor {
            label: Some(entry),
            source: ShaderSource::Wgsl(source.into()),
        };
        let module = match self.checks {
            ShaderChecks::On => self.device.create_shader_module(descriptor),
            // SAFETY: the shaders are those of this crate. All their loops end, because they take an element off a
            // finite list in each turn, and all their indices come from data of this crate.
            ShaderChecks::Off => unsafe {
                let checks = ShaderRuntimeChecks::unchecked();
                self.device.create_shader_module_trusted(descriptor, checks)
            },
        };
        // Compile the entry point.
        self.device
            .create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(entry),
                layout: None,
                module: &module,
                entry_point: Some(entry),
                compilation_options: PipelineCompilationOptions {
                    // Shaders write it before they read it.
                    zero_initialize_workgroup_memory: false,
                    ..PipelineCompilationOptions::default()
                },
                cache: None,
            })
    }

    /// Adds a dispatch of a number of threads, in rows of [`GpuDevice::row`].
    pub(crate) fn dispatch(
        &self,
        encoder: &mut CommandEncoder,
        pipeline: &ComputePipeline,
        bindings: &BindGroup,
        threads: u32,
    ) {
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, bindings, &[]);
        let groups = threads.div_ceil(GROUP);
        let rows = groups.div_ceil(self.most_groups);
        pass.dispatch_workgroups(groups.min(self.most_groups), rows, 1);
    }

    /// Threads in a row of a dispatch of a number of threads.
    pub(crate) fn row(&self, threads: u32) -> u32 {
        threads.div_ceil(GROUP).min(self.most_groups) * GROUP
    }

    /// Submits commands and waits for their end.
    pub(crate) fn submit_and_wait(&self, encoder: CommandEncoder) -> Result<(), GpuError> {
        self.check()?;
        self.queue.submit([encoder.finish()]);
        self.wait()
    }

    /// Waits for all submitted commands.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        let waited = self.device.poll(PollType::wait_indefinitely());
        self.check()?;
        waited.map_err(|reason| self.lost(&reason.to_string()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caster::GpuCaster;
    use etendue_raycast::{Instance, Mesh, MeshId, Ray, RayCaster};
    use nalgebra::{Isometry3, Point3, Vector3};
    use std::io::Write as _;

    /// The first adapter; `None`, with a message, where there is none.
    fn device(test: &str) -> Option<GpuDevice> {
        let opened = GpuDevice::open(DeviceChoice::Gpu(None), ShaderChecks::On);
        if opened.as_ref().err() == Some(&GpuError::NoAdapter) {
            _ = writeln!(std::io::stderr(), "skipped: {test} (no adapter)");
            return None;
        }
        opened.expect("the adapter opens")
    }

    /// A triangle in the plane x = 3 m.
    fn caster() -> RayCaster {
        let corner = |y: f64, z: f64| Point3::new(3.0, y, z);
        let mesh = Mesh {
            vertices: vec![corner(-9.0, -9.0), corner(9.0, -9.0), corner(0.0, 9.0)],
            triangles: vec![[0, 1, 2]],
            materials: vec![],
        };
        let instance = Instance::new(MeshId(0), Isometry3::identity());
        RayCaster::new(vec![Arc::new(mesh)], &[instance]).expect("a valid mesh")
    }

    fn rays(count: usize) -> Vec<Ray> {
        let ray = |i: usize| Ray::new(Point3::new(1e-4 * i as f64, 0.0, 0.0), Vector3::x());
        (0..count).map(ray).collect()
    }

    /// A dispatch has several rows where a device allows few groups per dimension, 65,535 at most.
    #[test]
    fn every_ray_of_several_rows_is_cast_once() {
        let Some(device) = device("every_ray_of_several_rows_is_cast_once") else {
            return;
        };
        let device = device.with_most_groups(3);
        for count in [1, 192, 193, 1000, 5000] {
            let rays = rays(count);
            let own = GpuCaster::new(&device, &caster()).expect("little memory");
            let hits = own
                .closest_hits(&device, &caster(), &rays)
                .expect("a device");
            for (ray, hit) in rays.iter().zip(&hits) {
                let distance = hit.expect("the triangle is ahead").distance;
                assert!((distance - (3.0 - ray.origin.x)).abs() < 1e-12);
            }
            assert_eq!(hits.len(), count);
        }
    }

    #[test]
    fn rays_in_a_scene_without_objects_hit_nothing() {
        let Some(device) = device("rays_in_a_scene_without_objects_hit_nothing") else {
            return;
        };
        let empty = RayCaster::new(vec![], &[]).expect("no mesh is invalid");
        let own = GpuCaster::new(&device, &empty).expect("little memory");
        let through_zero = Ray::new(Point3::new(-1.0, 0.0, 0.0), Vector3::x());
        let hits = own.closest_hits(&device, &empty, &[through_zero]);
        assert_eq!(hits, Ok(vec![None]));
    }

    #[test]
    fn a_lost_device_is_an_error() {
        let Some(device) = device("a_lost_device_is_an_error") else {
            return;
        };
        let own = GpuCaster::new(&device, &caster()).expect("little memory");
        device.device.destroy();
        _ = device.device.poll(PollType::Poll);
        let error = own
            .closest_hits(&device, &caster(), &rays(3))
            .expect_err("lost");
        assert!(matches!(error, GpuError::Lost { .. }), "{error}");
        assert!(error.remedy().contains("CPU"), "{error}");
    }

    /// Indices of another scene would be out of bounds in shaders without checks.
    #[test]
    fn another_scene_is_an_error() {
        let Some(device) = device("another_scene_is_an_error") else {
            return;
        };
        let own = GpuCaster::new(&device, &caster()).expect("little memory");
        let instance = || Instance::new(MeshId(0), Isometry3::identity());
        let instances = [instance(), instance()];
        let mesh = Arc::clone(caster().mesh(MeshId(0)));
        let other = RayCaster::new(vec![mesh], &instances).expect("a valid mesh");
        let refused = own.closest_hits(&device, &other, &rays(3));
        assert_eq!(refused, Err(GpuError::OtherScene));
    }

    #[test]
    fn data_beyond_the_largest_buffer_are_an_error() {
        let Some(device) = device("data_beyond_the_largest_buffer_are_an_error") else {
            return;
        };
        let most = device.adapter().largest_buffer;
        let refused = device.buffer("the rays", most + 1, BufferUsages::STORAGE);
        let error = refused.expect_err("too large");
        assert!(matches!(error, GpuError::TooLarge { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("the rays"), "{text}");
        assert!(error.remedy().contains("another device"), "{text}");
    }

    #[test]
    fn an_adapter_that_does_not_exist_is_an_error() {
        let error = GpuDevice::open(DeviceChoice::Gpu(Some(99)), ShaderChecks::On).err();
        let expected = match crate::adapters().len() {
            0 => GpuError::NoAdapter,
            count => GpuError::NoSuchAdapter {
                number: 99,
                last: count - 1,
            },
        };
        assert_eq!(error, Some(expected));
        assert!(
            GpuDevice::open(DeviceChoice::Cpu, ShaderChecks::On).is_ok_and(|own| own.is_none())
        );
    }

    /// Threads that share a device read what they wrote: the callback of a mapped buffer may run on another thread, after the
    /// wait of the own one has ended.
    #[test]
    fn threads_that_share_a_device_read_what_they_wrote() {
        let Some(device) = device("threads_that_share_a_device_read_what_they_wrote") else {
            return;
        };
        let transfer = |thread: u32| {
            for round in 0..300 {
                let content: Vec<u32> = (0..1000).map(|i| i * 7 + thread * 1000 + round).collect();
                let buffer = device.scratch_with("content", &content).expect("a buffer");
                let read = device.read_vec::<u32>(&buffer, content.len());
                let read = read.unwrap_or_else(|error| panic!("{thread}, {round}: {error}"));
                assert!(read == content, "{thread}, {round}");
            }
        };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || transfer(thread));
            }
        });
    }
}
