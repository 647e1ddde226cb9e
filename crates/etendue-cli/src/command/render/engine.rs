//! Where frames are rendered: on the CPU, or on a GPU.

use crate::failure::Failure;
use etendue::sensors::camera::{Camera, CameraFrame, CameraWorld, FrameSettings, FrameTruth};
use indicatif::ProgressBar;
use nalgebra::Isometry3;

#[cfg(feature = "gpu")]
use {
    crate::gpu::Gpu,
    crate::output::{counted, remark, warn},
    etendue_gpu::{DeviceChoice, GpuCamera, GpuFrameError},
};

/// Renders the frames of a camera.
pub struct Engine<'a> {
    world: &'a CameraWorld<'a>,
    pub camera: &'a Camera,
    /// The camera on the GPU, until it turns out that the CPU renders it.
    #[cfg(feature = "gpu")]
    gpu: Option<GpuCamera<'a>>,
    /// Number of pixels of frames on the GPU that the CPU rendered.
    #[cfg(feature = "gpu")]
    on_host: usize,
    /// Whether the CPU takes over where the GPU fails.
    #[cfg(feature = "gpu")]
    is_auto: bool,
}

impl<'a> Engine<'a> {
    /// The frames of a camera on the CPU.
    #[cfg(not(feature = "gpu"))]
    pub fn new(world: &'a CameraWorld<'a>, camera: &'a Camera) -> Self {
        Self { world, camera }
    }

    /// The frames of a camera on a GPU, or on the CPU.
    #[cfg(feature = "gpu")]
    pub fn on(
        gpu: Option<&'a Gpu>,
        device: DeviceChoice,
        world: &'a CameraWorld<'a>,
        camera: &'a Camera,
    ) -> Result<Self, Failure> {
        let own = |gpu: &'a Gpu| GpuCamera::new(&gpu.device, &gpu.caster, world, camera);
        Ok(Self {
            world,
            camera,
            gpu: gpu.map(own).transpose()?,
            on_host: 0,
            is_auto: device == DeviceChoice::Auto,
        })
    }

    /// A frame; adds its rows to a progress bar.
    #[cfg_attr(
        not(feature = "gpu"),
        expect(clippy::unnecessary_wraps, reason = "a GPU may fail")
    )]
    pub fn expose(
        &mut self,
        settings: &FrameSettings,
        pose: impl Fn(f64) -> Isometry3<f64> + Sync,
        bar: &ProgressBar,
    ) -> Result<CameraFrame, Failure> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            let before = bar.position();
            let height = f64::from(self.camera.height);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a number of rows"
            )]
            let observe = |share: f64| bar.set_position(before + (share * height) as u64);
            match gpu.expose_observed(settings, &pose, observe) {
                Ok(found) => {
                    self.on_host += found.on_host;
                    return Ok(found.frame);
                }
                Err(error) => self.leave_gpu(error)?,
            }
            bar.set_position(before);
        }
        let observe = |rows| bar.inc(u64::from(rows));
        Ok({ self.world }.expose_observed(self.camera, settings, pose, &observe))
    }

    /// Ground truth of a frame with an exposure, and the time of its optical flow, s.
    #[cfg_attr(
        not(feature = "gpu"),
        expect(
            clippy::unnecessary_wraps,
            clippy::needless_pass_by_ref_mut,
            reason = "a GPU may fail"
        )
    )]
    pub fn truth(
        &mut self,
        settings: &FrameSettings,
        [exposure, flow_time]: [f64; 2],
        pose: impl Fn(f64) -> Isometry3<f64> + Sync,
    ) -> Result<FrameTruth, Failure> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            match gpu.truth(settings, exposure, flow_time, &pose) {
                Ok(truth) => return Ok(truth),
                Err(error) => self.leave_gpu(error)?,
            }
        }
        let world = self.world;
        Ok(world.truth(self.camera, settings, exposure, flow_time, pose))
    }

    /// Leaves the frames to the CPU, with a warning; fails if the chosen device did.
    #[cfg(feature = "gpu")]
    fn leave_gpu(&mut self, error: GpuFrameError) -> Result<(), Failure> {
        match error {
            GpuFrameError::Device(error) if !self.is_auto => return Err(error.into()),
            error => {
                let name = &self.camera.name;
                warn([format!("{name} is rendered on the CPU: {error}")]);
            }
        }
        self.gpu = None;
        Ok(())
    }

    /// Prints the number of pixels of frames on a GPU that the CPU rendered, if there are any.
    #[cfg_attr(
        not(feature = "gpu"),
        expect(clippy::unused_self, reason = "there is no GPU")
    )]
    pub fn report(&self) {
        #[cfg(feature = "gpu")]
        if self.on_host > 0 {
            let name = &self.camera.name;
            remark(format_args!(
                "{name}: {} met mirrors, glass, gloss or images, and were rendered on the CPU",
                counted(self.on_host, "pixel")
            ));
        }
    }
}
