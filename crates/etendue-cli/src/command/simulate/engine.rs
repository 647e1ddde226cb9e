//! Where sweeps are simulated: on the CPU, or on a GPU.

use super::Simulate;
use crate::failure::Failure;
use etendue::sensors::lidar::{Lidar, Sweep, SweepScratch, SweepSettings, simulate_into};
use etendue::sensors::transport::World;
use nalgebra::Isometry3;

#[cfg(feature = "gpu")]
use {
    crate::output::{remark, warn},
    etendue::sensors::lidar::NotDirect,
    etendue_gpu::{DeviceChoice, GpuLidar, GpuSweepError},
};

/// Simulates the sweeps of a lidar.
pub struct Engine<'a> {
    world: &'a World<'a, f64>,
    lidar: &'a Lidar,
    scratch: SweepScratch,
    /// The lidar on the GPU, until it turns out that the CPU simulates it.
    #[cfg(feature = "gpu")]
    gpu: Option<GpuLidar<'a>>,
    /// Number of shots of a sweep on the GPU that the CPU simulated.
    #[cfg(feature = "gpu")]
    on_host: usize,
    /// Why the CPU applied the receiver to the light that the GPU found, if it did.
    #[cfg(feature = "gpu")]
    receiver_on_host: Option<NotDirect>,
    /// Whether the CPU takes over where the GPU fails.
    #[cfg(feature = "gpu")]
    is_auto: bool,
}

impl<'a> Engine<'a> {
    /// The sweeps of a lidar in a world, on the device of the arguments.
    #[cfg_attr(
        not(feature = "gpu"),
        expect(clippy::unnecessary_wraps, reason = "a GPU may fail")
    )]
    pub fn new(
        arguments: &'a Simulate,
        world: &'a World<'a, f64>,
        lidar: &'a Lidar,
    ) -> Result<Self, Failure> {
        #[cfg(not(feature = "gpu"))]
        let _ = arguments;
        Ok(Self {
            world,
            lidar,
            scratch: SweepScratch::default(),
            #[cfg(feature = "gpu")]
            gpu: match &arguments.gpu {
                Some(gpu) => Some(GpuLidar::new(&gpu.device, &gpu.caster, world, lidar)?),
                None => None,
            },
            #[cfg(feature = "gpu")]
            on_host: 0,
            #[cfg(feature = "gpu")]
            receiver_on_host: None,
            #[cfg(feature = "gpu")]
            is_auto: arguments.device == DeviceChoice::Auto,
        })
    }

    /// Simulates a sweep into the memory of an earlier one.
    #[cfg_attr(
        not(feature = "gpu"),
        expect(clippy::unnecessary_wraps, reason = "a GPU may fail")
    )]
    pub fn simulate(
        &mut self,
        settings: &SweepSettings,
        world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
        sweep: &mut Sweep,
    ) -> Result<(), Failure> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            match gpu.simulate_into(settings, &world_from_sensor, sweep) {
                Ok(work) => {
                    self.on_host += work.shots;
                    self.receiver_on_host = work.receiver;
                    return Ok(());
                }
                Err(GpuSweepError::Device(error)) if !self.is_auto => return Err(error.into()),
                Err(error) => {
                    let name = &self.lidar.name;
                    warn([format!("{name} is simulated on the CPU: {error}")]);
                    self.gpu = None;
                }
            }
        }
        let scratch = &mut self.scratch;
        simulate_into(
            self.world,
            self.lidar,
            settings,
            world_from_sensor,
            sweep,
            scratch,
        );
        Ok(())
    }

    /// Prints what the CPU simulated of sweeps on a GPU, if there is anything.
    #[cfg_attr(
        not(feature = "gpu"),
        expect(clippy::unused_self, reason = "there is no GPU")
    )]
    pub fn report(&self) {
        #[cfg(feature = "gpu")]
        {
            let name = &self.lidar.name;
            if let Some(reason) = self.receiver_on_host {
                remark(format_args!(
                    "{name}: light paths were found on the GPU, echoes on the CPU: {reason}"
                ));
            }
            if self.on_host > 0 {
                remark(format_args!(
                    "{name}: {} shots were simulated on the CPU (docs/gpu.md)",
                    self.on_host
                ));
            }
        }
    }
}
