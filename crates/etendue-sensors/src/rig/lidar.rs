//! A running lidar on a robot.

use super::processor::Processor;
use crate::capture::{CaptureContext, Data, Environment, Instrument};
use crate::lidar::{self, Columns, Lidar, Sweep, SweepScratch, SweepSettings};
use crate::transport::{World, WorldError};
use etendue_scene::Scene;

/// A running lidar.
pub(super) struct LidarInstrument<'a> {
    world: World<'a, f64>,
    lidar: &'a Lidar,
    settings: SweepSettings,
    scratch: SweepScratch,
}

impl<'a> LidarInstrument<'a> {
    /// Starts the lidar with the index `sensor`.
    pub fn new(
        lidar: &'a Lidar,
        scene: &'a Scene,
        environment: &'a Environment,
        seed: u64,
        sensor: u32,
    ) -> Result<Self, WorldError> {
        Ok(Self {
            world: World::at_wavelength(scene, lidar.wavelength)?
                .with_profiles(&environment.profiles),
            lidar,
            settings: SweepSettings {
                seed,
                sensor,
                air: environment.air.clone(),
                ..SweepSettings::default()
            },
            scratch: SweepScratch::default(),
        })
    }
}

/// Sweep rate (Hz), and the time from the start of a sweep to its last shot (s).
pub(super) fn sweep_timing(lidar: &Lidar) -> [f64; 2] {
    let first = lidar.shots(0);
    let last = first.iter().map(|shot| shot.time).fold(0.0, f64::max);
    // Columns on a free-running clock shift a sweep by up to one period.
    let column = match lidar.pattern.columns() {
        Columns::PerSweep { .. } | Columns::Steps { .. } => 0.0,
        Columns::Period { seconds } => seconds,
    };
    let duration = lidar.sweep_duration();
    [1.0 / duration, duration.max(last + column)]
}

impl Instrument for LidarInstrument<'_> {
    fn capture(&mut self, context: &CaptureContext) -> Data {
        self.settings.sweep = context.capture.number;
        let pose = |time| context.world_from_sensor(time);
        let other = context.processor;
        let swept =
            |other: &dyn Processor| other.sweep(&self.world, self.lidar, &self.settings, &pose);
        if let Some(sweep) = other.and_then(swept) {
            return Data::Points(sweep);
        }
        let mut sweep = Sweep::default();
        lidar::simulate_into(
            &self.world,
            self.lidar,
            &self.settings,
            pose,
            &mut sweep,
            &mut self.scratch,
        );
        Data::Points(sweep)
    }
}
