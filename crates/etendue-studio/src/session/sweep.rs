//! The sweep of the inputs, by the pipeline of `etendue simulate`.

use super::pose::PoseNumbers;
use super::{Inputs, Loaded, Session};
use crate::answer::{PictureRequest, PictureTask};
use crate::refusal::Refusal;
use etendue::io::output::OutputSet;
use etendue::io::points::PointFormat;
use etendue::io::ros2::{LidarRecorder, LidarTopics};
use etendue::io::table::{Encoding, PointTable};
use etendue::sensors::camera::Camera;
use etendue::sensors::lidar::{Frame, Lidar, Sweep, SweepSettings, simulate_into};
use etendue::sensors::transport::World;
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of beams of a recording, which is kept in memory.
const MAX_RECORDED: u64 = 20_000_000;

/// A sweep with what it was made of.
#[derive(Debug, Default)]
pub struct SimulatedSweep {
    /// Revision of the inputs.
    pub revision: u64,
    /// The sweep, positions in the world.
    pub sweep: Sweep,
    /// Durations.
    pub timing: Timing,
}

/// Durations of the last change, ms.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Timing {
    /// Loading of the changed inputs.
    pub load_ms: f64,
    /// Simulation.
    pub simulate_ms: f64,
}

impl Loaded {
    /// The world at the wavelength of the sensor.
    ///
    /// # Errors
    /// If a material has no data at the wavelength.
    pub fn world(&self) -> Result<World<'_, f64>, Refusal> {
        let world = World::at_wavelength(&self.scene.scene, self.lidar().wavelength)?;
        let world = world.with_profiles(&self.profiles);
        Ok(world.in_light(&self.scene.ambient))
    }

    /// The lidar.
    pub fn lidar(&self) -> &Lidar {
        &self.sensor.lidar
    }

    /// Settings of the sweep: those of `etendue simulate`.
    pub fn settings(&self, inputs: &Inputs) -> SweepSettings {
        SweepSettings {
            seed: inputs.seed,
            sweep: inputs.sweep,
            frame: Frame::World,
            air: inputs.weather.air(&self.scene.air),
            with_truth: true,
            ..SweepSettings::default()
        }
    }
}

impl Session {
    /// Simulates the sweep of the inputs.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub fn simulate(&mut self) -> Result<Arc<SimulatedSweep>, Refusal> {
        let memory = std::mem::take(&mut self.spare);
        let simulated = self.simulate_with(None, memory)?;
        let before = std::mem::replace(&mut self.sweep, Arc::new(simulated));
        if let Some(before) = Arc::into_inner(before) {
            self.spare = before.sweep;
        }
        Ok(self.sweep.clone())
    }

    /// The sweep of the inputs, or of another lidar, in the memory of a sweep.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub(super) fn simulate_with(
        &mut self,
        other: Option<&Lidar>,
        mut sweep: Sweep,
    ) -> Result<SimulatedSweep, Refusal> {
        let start = Instant::now();
        let world = self.loaded.world()?;
        let lidar = other.unwrap_or(self.loaded.lidar());
        let settings = self.loaded.settings(&self.inputs);
        let pose = |time| self.loaded.pose_at(time);
        simulate_into(
            &world,
            lidar,
            &settings,
            pose,
            &mut sweep,
            &mut self.scratch,
        );
        Ok(SimulatedSweep {
            revision: self.revision,
            sweep,
            timing: Timing {
                load_ms: self.load_ms,
                simulate_ms: start.elapsed().as_secs_f64() * 1e3,
            },
        })
    }
}

impl Session {
    /// The picture of a camera at a pose, or at the sensor: the PNG file that `etendue render` writes.
    ///
    /// # Errors
    /// If materials or lights have no data in the bands of the camera, or no light reaches it.
    pub fn picture(&self, camera: &Camera, pose: Option<PoseNumbers>) -> Result<Vec<u8>, Refusal> {
        let request = PictureRequest {
            camera: camera.clone(),
            pose,
            every: 1,
        };
        self.picture_task(&request).render()
    }

    /// A picture that can be rendered on another thread.
    pub(crate) fn picture_task(&self, request: &PictureRequest) -> PictureTask {
        PictureTask::new(request, &self.inputs, &self.loaded, &self.sweep)
    }

    /// The points of the sweep as the PCD file that `etendue simulate` writes.
    ///
    /// # Errors
    /// If no temporary file can be written.
    pub fn points(&self) -> Result<Vec<u8>, Refusal> {
        let mut table = PointTable::of_scans(std::slice::from_ref(&self.sweep.sweep));
        table.classify(&self.loaded.scene.classes.of_object);
        let path = self.uploads.join("sweep.pcd");
        let mut outputs = OutputSet::default();
        PointFormat::Pcd.write(&mut outputs, &path, &table, Encoding::Binary)?;
        outputs.commit()?;
        let bytes = std::fs::read(&path);
        bytes.map_err(|error| Refusal::new(error.to_string(), "free space in the temporary folder"))
    }

    /// The first `sweeps` sweeps of the run as the MCAP file that `etendue simulate -o run.mcap` writes.
    ///
    /// # Errors
    /// If there are too many, or a material has no data at the wavelength of the sensor.
    pub fn record(&mut self, sweeps: u32) -> Result<Vec<u8>, Refusal> {
        let beams = u64::from(sweeps) * self.sweep.sweep.shots.len() as u64;
        if beams > MAX_RECORDED {
            let remedy = "record it by the exported command, with --sweeps and -o run.mcap";
            return Err(Refusal::new(
                format!("{beams} beams are too many for the page"),
                remedy,
            ));
        }
        self.record_sweeps(0..sweeps)
    }

    /// The sweep of the inputs as a recording: a part of that of the run.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub(crate) fn recorded_sweep(&mut self) -> Result<Vec<u8>, Refusal> {
        let sweep = self.inputs.sweep;
        self.record_sweeps(sweep..sweep.saturating_add(1))
    }

    fn record_sweeps(&mut self, sweeps: Range<u32>) -> Result<Vec<u8>, Refusal> {
        let lidar = self.loaded.lidar();
        let world = self.loaded.world()?;
        let recorder = LidarRecorder::in_memory(LidarTopics::default())?;
        let mut recorder = recorder.with_classes(&self.loaded.scene.classes.of_object);
        let mut sweep = Sweep::default();
        for index in sweeps {
            let settings = SweepSettings {
                sweep: index,
                frame: Frame::Sensor,
                ..self.loaded.settings(&self.inputs)
            };
            let pose = |time| self.loaded.pose_at(time);
            simulate_into(
                &world,
                lidar,
                &settings,
                pose,
                &mut sweep,
                &mut self.scratch,
            );
            recorder.record(&sweep, lidar)?;
        }
        recorder.record_last_poses(|_, time| self.loaded.pose_at(time))?;
        Ok(recorder.into_bytes()?)
    }
}
