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
use etendue::sensors::lidar::{
    Frame, Lidar, Sweep, SweepScratch, SweepSettings, simulate_into, simulate_until,
};
use etendue::sensors::transport::World;
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Maximum number of beams of a recording, which is kept in memory.
const MAX_RECORDED: u64 = 20_000_000;

/// A sweep of inputs.
#[derive(Clone, Debug, Default)]
pub struct SimulatedSweep {
    /// Revision of the inputs.
    pub revision: u64,
    /// The sweep, positions in the world.
    pub sweep: Arc<Sweep>,
    /// Durations.
    pub timing: Timing,
}

/// A whole sweep with what it was made of.
#[derive(Clone, Debug)]
pub struct WholeSweep {
    /// The inputs.
    pub inputs: Inputs,
    /// What they load to.
    pub loaded: Loaded,
    /// The sweep.
    pub simulated: SimulatedSweep,
}

/// Everything that a sweep is made of, for any thread.
#[derive(Clone, Debug)]
pub struct SweepTask {
    /// Revision of the inputs.
    pub revision: u64,
    inputs: Inputs,
    loaded: Loaded,
    load_ms: f64,
}

impl SweepTask {
    /// Simulates the whole sweep in the memory of another; `None` if `stop` was set before its end.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub fn simulate(
        self,
        memory: &mut Sweep,
        scratch: &mut SweepScratch,
        stop: &AtomicBool,
    ) -> Result<Option<WholeSweep>, Refusal> {
        let lidar = self.loaded.lidar();
        let simulated = self.simulate_with(lidar, memory, scratch, stop)?;
        Ok(simulated.map(|simulated| WholeSweep {
            inputs: self.inputs,
            loaded: self.loaded,
            simulated,
        }))
    }

    /// [`SweepTask::simulate`] with another lidar.
    pub(super) fn simulate_with(
        &self,
        lidar: &Lidar,
        memory: &mut Sweep,
        scratch: &mut SweepScratch,
        stop: &AtomicBool,
    ) -> Result<Option<SimulatedSweep>, Refusal> {
        let start = Instant::now();
        let world = self.loaded.world()?;
        let settings = self.loaded.settings(&self.inputs);
        let pose = |time| self.loaded.pose_at(time);
        let is_complete = simulate_until(&world, lidar, &settings, pose, memory, scratch, stop);
        Ok(is_complete.then(|| SimulatedSweep {
            revision: self.revision,
            sweep: Arc::new(std::mem::take(memory)),
            timing: Timing {
                load_ms: self.load_ms,
                simulate_ms: start.elapsed().as_secs_f64() * 1e3,
            },
        }))
    }
}

impl WholeSweep {
    /// Whether inputs have this sweep: nothing that a sweep depends on differs.
    pub(super) fn is_of(&self, inputs: &Inputs, loaded: &Loaded) -> bool {
        let own = &self.loaded;
        Arc::ptr_eq(&own.scene, &loaded.scene)
            && Arc::ptr_eq(&own.sensor, &loaded.sensor)
            && own.profiles == loaded.profiles
            && own.world_from_sensor == loaded.world_from_sensor
            && self.inputs.trajectory == inputs.trajectory
            && self.inputs.pose == inputs.pose
            && self.inputs.weather == inputs.weather
            && (self.inputs.seed, self.inputs.sweep) == (inputs.seed, inputs.sweep)
    }
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
            with_mixing: true,
            ..SweepSettings::default()
        }
    }
}

impl Session {
    /// Simulates the whole sweep of the inputs.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub fn simulate(&mut self) -> Result<&SimulatedSweep, Refusal> {
        let mut memory = self.take_spare();
        let never = AtomicBool::new(false);
        let whole = self
            .sweep_task()
            .simulate(&mut memory, &mut self.scratch, &never)?;
        if let Some(whole) = whole {
            self.keep_whole(whole);
        }
        Ok(self.sweep())
    }

    /// The whole sweep of the inputs, for another thread.
    pub fn sweep_task(&self) -> SweepTask {
        SweepTask {
            revision: self.revision,
            inputs: self.inputs.clone(),
            loaded: self.loaded.clone(),
            load_ms: self.load_ms,
        }
    }

    /// Replaces the whole sweep.
    pub fn keep_whole(&mut self, whole: WholeSweep) {
        let before = std::mem::replace(&mut self.whole, whole);
        if let Some(sweep) = Arc::into_inner(before.simulated.sweep) {
            self.spare = sweep;
        }
    }

    /// Memory of a sweep that is no longer in use.
    pub fn take_spare(&mut self) -> Sweep {
        std::mem::take(&mut self.spare)
    }

    /// Makes the whole sweep one of the present inputs, if nothing that it depends on has changed.
    pub fn renew_whole(&mut self) -> bool {
        let is_same = self.whole.is_of(&self.inputs, &self.loaded);
        if is_same {
            self.whole.simulated.revision = self.revision;
            self.whole.inputs = self.inputs.clone();
            self.whole.loaded = self.loaded.clone();
        }
        is_same
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
        PictureTask::new(request, &self.inputs, &self.loaded)
    }

    /// The points of the sweep as the PCD file that `etendue simulate` writes.
    ///
    /// # Errors
    /// If no temporary file can be written.
    pub fn points(&self) -> Result<Vec<u8>, Refusal> {
        let WholeSweep {
            loaded, simulated, ..
        } = &self.whole;
        let mut table = PointTable::of_scans(std::slice::from_ref(&*simulated.sweep));
        table.classify(&loaded.scene.classes.of_object);
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
    pub fn record(&self, sweeps: u32) -> Result<Vec<u8>, Refusal> {
        self.sweep_task().record_first(sweeps)
    }
}

impl SweepTask {
    /// [`Session::record`] on any thread.
    pub(crate) fn record_first(&self, sweeps: u32) -> Result<Vec<u8>, Refusal> {
        let lidar = self.loaded.lidar();
        let beams = u64::from(lidar.columns()) * lidar.channels.len() as u64;
        let beams = u64::from(sweeps) * beams;
        if beams > MAX_RECORDED {
            let remedy = "record it by the exported command, with --sweeps and -o run.mcap";
            return Err(Refusal::new(
                format!("{beams} beams are too many for the page"),
                remedy,
            ));
        }
        self.record(0..sweeps)
    }

    /// The sweep of the inputs as a recording: a part of that of the run.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub(crate) fn record_own(&self) -> Result<Vec<u8>, Refusal> {
        let sweep = self.inputs.sweep;
        self.record(sweep..sweep.saturating_add(1))
    }

    fn record(&self, sweeps: Range<u32>) -> Result<Vec<u8>, Refusal> {
        let lidar = self.loaded.lidar();
        let world = self.loaded.world()?;
        let recorder = LidarRecorder::in_memory(LidarTopics::default())?;
        let mut recorder = recorder.with_classes(&self.loaded.scene.classes.of_object);
        let (mut sweep, mut scratch) = (Sweep::default(), SweepScratch::default());
        for index in sweeps {
            let settings = SweepSettings {
                sweep: index,
                frame: Frame::Sensor,
                ..self.loaded.settings(&self.inputs)
            };
            let pose = |time| self.loaded.pose_at(time);
            simulate_into(&world, lidar, &settings, pose, &mut sweep, &mut scratch);
            recorder.record(&sweep, lidar, &pose)?;
        }
        recorder.record_last_poses()?;
        Ok(recorder.into_bytes()?)
    }
}
