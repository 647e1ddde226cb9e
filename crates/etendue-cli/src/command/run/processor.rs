//! Sweeps and frames of a run on a GPU.

use crate::failure::Failure;
use crate::gpu::Gpu;
use crate::output::{remark, warn};
use etendue::sensors::camera::{CameraFrame, CameraWorld, FrameSettings};
use etendue::sensors::lidar::{Lidar, NotDirect, Sweep, SweepSettings};
use etendue::sensors::rig::{MountedCamera, PoseAt, Processor};
use etendue::sensors::transport::World;
use etendue_gpu::{GpuCamera, GpuError, GpuFrameError, GpuLidar, GpuSweepError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A GPU that simulates the lidars and cameras of a run.
pub struct GpuProcessor {
    gpu: Arc<Gpu>,
    /// Whether the CPU takes over where the GPU fails.
    is_auto: bool,
    progress: Mutex<Progress>,
}

/// What happened so far.
#[derive(Default)]
struct Progress {
    /// Names of the sensors that the CPU simulates.
    on_cpu: BTreeSet<String>,
    /// Numbers of shots and pixels that the CPU simulated for the GPU, by the name of the sensor.
    on_host: BTreeMap<String, usize>,
    /// Why the CPU applies the receiver of a lidar.
    receivers: BTreeMap<String, NotDirect>,
    failed: Option<GpuError>,
}

impl GpuProcessor {
    /// A GPU with the scene of the run.
    pub fn new(gpu: Arc<Gpu>, is_auto: bool) -> Self {
        Self {
            gpu,
            is_auto,
            progress: Mutex::default(),
        }
    }

    /// Fails if the chosen device did.
    pub fn check(&self) -> Result<(), Failure> {
        match self.progress().failed.take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Prints what the CPU simulated for the GPU, if there is anything.
    pub fn report(&self) {
        let progress = self.progress();
        for (name, reason) in &progress.receivers {
            remark(format_args!(
                "{name}: light paths were found on the GPU, echoes on the CPU: {reason}"
            ));
        }
        for (name, count) in &progress.on_host {
            remark(format_args!(
                "{name}: {count} shots or pixels were simulated on the CPU (docs/gpu.md)"
            ));
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_on_cpu(&self, name: &str) -> bool {
        self.progress().on_cpu.contains(name)
    }

    /// Counts what the CPU simulated of a sensor.
    fn count(&self, name: &str, on_host: usize) {
        if on_host > 0 {
            *self.progress().on_host.entry(name.to_owned()).or_default() += on_host;
        }
    }

    /// Leaves a sensor to the CPU, with a warning; or ends the run, if the chosen device failed.
    fn leave(&self, name: &str, reason: &str, device: Option<GpuError>) {
        let mut progress = self.progress();
        progress.on_cpu.insert(name.to_owned());
        match device.filter(|_| !self.is_auto) {
            Some(error) => progress.failed = Some(error),
            None => warn([format!("{name} is simulated on the CPU: {reason}")]),
        }
    }
}

impl Processor for GpuProcessor {
    fn sweep<'a>(
        &self,
        world: &'a World<'a, f64>,
        lidar: &'a Lidar,
        settings: &SweepSettings,
        world_from_sensor: PoseAt,
    ) -> Option<Sweep> {
        if self.is_on_cpu(&lidar.name) {
            return None;
        }
        let Gpu { device, caster } = &*self.gpu;
        let prepared = GpuLidar::new(device, caster, world, lidar).map_err(GpuSweepError::from);
        match prepared.and_then(|own| own.simulate(settings, world_from_sensor)) {
            Ok(found) => {
                self.count(&lidar.name, found.on_host);
                if let Some(reason) = found.receiver_on_host {
                    self.progress().receivers.insert(lidar.name.clone(), reason);
                }
                Some(found.sweep)
            }
            Err(error) => {
                let reason = error.to_string();
                let device = match error {
                    GpuSweepError::Device(error) => Some(error),
                    _ => None,
                };
                self.leave(&lidar.name, &reason, device);
                None
            }
        }
    }

    fn frame<'a>(
        &self,
        world: &'a CameraWorld<'a>,
        mounted: &'a MountedCamera,
        settings: &FrameSettings,
        world_from_sensor: PoseAt,
    ) -> Option<CameraFrame> {
        let camera = &mounted.camera;
        if self.is_on_cpu(&camera.name) {
            return None;
        }
        let Gpu { device, caster } = &*self.gpu;
        let expose = || -> Result<CameraFrame, GpuFrameError> {
            let own = GpuCamera::new(device, caster, world, camera)?;
            let found = own.expose(settings, world_from_sensor)?;
            self.count(&camera.name, found.on_host);
            let mut frame = found.frame;
            if mounted.depth {
                let truth = own.truth(settings, frame.exposure, 0.0, world_from_sensor)?;
                frame.depth = Some(truth.depth);
            }
            Ok(frame)
        };
        match expose() {
            Ok(frame) => Some(frame),
            Err(error) => {
                let reason = error.to_string();
                let device = match error {
                    GpuFrameError::Device(error) => Some(error),
                    _ => None,
                };
                self.leave(&camera.name, &reason, device);
                None
            }
        }
    }
}
