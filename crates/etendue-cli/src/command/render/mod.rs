//! `etendue render`.

mod engine;
mod report;
mod shot;
mod views;
mod write;

use crate::failure::Failure;
use crate::interrupt;
use crate::memory::{self, Memory};
use crate::output::progress;
use crate::pose::Pose;
use crate::source;
use crate::threads::Threads;
use clap::{Args, ValueEnum};
use engine::Engine;
use etendue::config::scene::{LoadedScene, light_if_dark};
use etendue::io::trajectory::read_tum;
use etendue::scene::{KeyFrameTrajectory, Trajectory as SceneTrajectory};
use etendue::sensors::camera::{Camera, CameraWorld, ClassMap, FrameSettings, LightTransport};
#[cfg(feature = "gpu")]
use etendue_gpu::DeviceChoice;
use indicatif::ProgressBar;
use nalgebra::Isometry3;
use report::Report;
use shot::Shot;
use std::path::PathBuf;
use std::time::Instant;
use write::{FrameWriter, Output};

/// Arguments of `etendue render`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue render\n          \
    etendue render glass-door --pose -2.5,0.5,1.4,-10 --light paths --samples 64 -o door\n          \
    etendue render patio --camera raspberry-pi-v2 --pose 1,0,1.2,90\n          \
    etendue render arena --camera mine.toml --trajectory poses.tum --frames 30 -o drive.mcap\n\n\
    A folder receives, for each frame, the picture, the digital numbers of the detector, depth, \
    normals, instances, classes and optical flow as PNG, and all of them as numbers in one EXR file; \
    and a recording (frames.mcap) and run.json.\n\
    The same scene, camera, pose, samples and seed give the same bytes on any number of threads.")]
pub struct Render {
    /// Scene file (.toml) or the name of a built-in scene [default: the built-in arena]
    scene: Option<PathBuf>,
    /// Name of a preset (fisheye, global-shutter, ideal, raspberry-pi-v2) or a camera file (.toml)
    #[arg(long, value_name = "PRESET|FILE", default_value = "ideal")]
    camera: String,
    /// Pose of the camera, which looks along its x axis: x,y,z,yaw[,pitch,roll] in metres and
    /// degrees [default: the pose of the sensor in the scene file, with its motion]
    #[arg(long, allow_hyphen_values = true, value_name = "POSE")]
    pose: Option<Pose>,
    /// Trajectory of the camera, a TUM file (time x y z qx qy qz qw per line); the run begins at its first
    /// pose
    #[arg(long, value_name = "FILE", conflicts_with = "pose")]
    trajectory: Option<PathBuf>,
    /// Light transport
    #[arg(long, value_enum, default_value_t = LightName::Direct)]
    light: LightName,
    /// Rays per pixel [default: 16 for direct light, 64 for paths]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    samples: Option<u32>,
    /// Number of frames
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for all files, or a single .png, .exr or .mcap file (.png and .exr: of the first frame)
    #[arg(short, long, default_value = "out/render", value_name = "DIR|FILE")]
    output: PathBuf,
    /// Device: cpu, gpu (the fastest kind), gpu:N with a number of `etendue inspect --devices`, or auto: a GPU if
    /// there is one. What a GPU does not render runs on the CPU, with a warning that names the reason
    #[cfg(feature = "gpu")]
    #[arg(long, default_value_t, value_name = "DEVICE")]
    device: DeviceChoice,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    threads: Threads,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Light transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LightName {
    /// Light from one rough surface, also through mirrors and glass
    Direct,
    /// Light from any number of surfaces, on random paths
    Paths,
}

impl Render {
    /// Renders frames, writes them and prints a summary.
    pub fn run(self) -> Result<(), Failure> {
        self.threads.install(|| self.render())
    }

    fn render(&self) -> Result<(), Failure> {
        // Load
        let output = Output::of(&self.output)?;
        let mut loaded = source::scene(self.scene.as_deref())?;
        let camera = source::camera(&self.camera)?;
        self.check_memory(&camera)?;
        let trajectory = self.trajectory(&loaded)?;
        trajectory.check(f64::from(self.frames) * camera.frame_time())?;
        let mut warnings = loaded.warnings.clone();
        warnings.extend(light_if_dark(
            &loaded.scene,
            &mut loaded.lighting,
            &trajectory.at(0.0),
        ));

        // Render
        let camera_world =
            CameraWorld::new(&loaded.scene, &loaded.lighting, &loaded.textures, &camera)?;
        #[cfg(feature = "gpu")]
        let gpu = crate::gpu::Gpu::open(self.device, &loaded.scene)?;
        #[cfg(feature = "gpu")]
        let mut engine = Engine::on(gpu.as_deref(), self.device, &camera_world, &camera)?;
        #[cfg(not(feature = "gpu"))]
        let mut engine = Engine::new(&camera_world, &camera);
        let classes = ClassMap::new(&loaded.scene, &loaded.classes.of_objects());
        let begun = Instant::now();
        let mut writer = FrameWriter::new(&output, &camera, &classes);
        // Poses of the report. A recording has them itself, and may be long
        let with_poses = self.json || !output.is_recording();
        let (mut count, mut frames) = (0, Vec::new());
        let (mut is_lit, mut shows_surfaces) = (false, false);
        let rows = u64::from(self.frames) * u64::from(camera.height);
        let bar = progress(rows, "rendering {bar:40} {percent} %, {eta} left");
        // Ctrl-C ends the process during the first frame, and later the run after a whole frame
        let first = self.shot(&mut engine, &trajectory, 0, &bar)?;
        let guard = interrupt::writing();
        for index in 0..self.frames {
            if interrupt::requested() {
                break;
            }
            let mut render = || self.shot(&mut engine, &trajectory, index, &bar);
            let next = (index > 0).then(&mut render).transpose()?;
            let shot = next.as_ref().unwrap_or(&first);
            shows_surfaces |= shot.truth.depth.iter().any(|depth| depth.is_finite());
            is_lit |= shot.frame.radiance.iter().any(|radiance| *radiance > 0.0);
            writer.add(shot)?;
            count += 1;
            if with_poses {
                frames.push(shot.pose());
            }
        }
        bar.finish_and_clear();
        engine.report();
        let seconds = begun.elapsed().as_secs_f64();
        if interrupt::requested() && !output.is_recording() {
            return interrupt::check();
        }
        if !is_lit {
            writer.discard()?;
            return Err(without_light());
        }

        if !shows_surfaces {
            warnings.push(
                "no pixel shows a surface: the camera looks past the scene, see --pose and `etendue inspect`".into(),
            );
        }

        // Write and report
        let report = Report {
            scene: &loaded,
            camera: &camera,
            classes: &classes,
            first: &first,
            count,
            frames: &frames,
            settings: &self.settings(0, 0.0),
            warnings: &warnings,
        };
        let files = writer.finish(&report)?;
        report.print(seconds, &files, self.json)?;
        let until = count as f64 * camera.frame_time();
        interrupt::ended(guard, &self.output, until)
    }

    /// Checks the memory of a frame with its ground truth and its files.
    fn check_memory(&self, camera: &Camera) -> Result<(), Failure> {
        self.memory.check(
            memory::of_frame(camera),
            &format!("frames of {} x {} pixels", camera.width, camera.height),
            "give a smaller resolution_px in the camera file",
        )
    }

    /// Trajectory of the camera.
    fn trajectory(&self, loaded: &LoadedScene) -> Result<CameraTrajectory, Failure> {
        if let Some(file) = &self.trajectory {
            let trajectory = read_tum(file)?;
            return Ok(CameraTrajectory::Given(trajectory));
        }
        let placement = loaded.sensor.as_ref();
        let given = self.pose.as_ref().map(|pose| pose.world_from_sensor);
        let motion = placement.and_then(|placement| placement.motion.clone());
        if let Some(motion) = motion.filter(|_| given.is_none()) {
            return Ok(CameraTrajectory::OfScene(motion));
        }
        let proposed = placement.map(|placement| placement.world_from_sensor);
        let pose = given.or(proposed).ok_or_else(|| Failure::NoPose {
            scene: loaded.name.clone(),
        })?;
        Ok(CameraTrajectory::Still(pose))
    }

    fn settings(&self, index: u32, start: f64) -> FrameSettings {
        let (light, samples) = match self.light {
            LightName::Direct => (LightTransport::default(), 16),
            LightName::Paths => (LightTransport::paths(), 64),
        };
        FrameSettings {
            samples: self.samples.unwrap_or(samples),
            light,
            seed: self.seed,
            sensor: 0,
            index,
            start,
        }
    }

    /// A frame with its ground truth.
    fn shot(
        &self,
        engine: &mut Engine,
        trajectory: &CameraTrajectory,
        index: u32,
        bar: &ProgressBar,
    ) -> Result<Shot, Failure> {
        // Picture
        let frame_time = engine.camera.frame_time();
        let start = f64::from(index) * frame_time;
        let settings = self.settings(index, start);
        let pose = |time| trajectory.at(time);
        let frame = engine.expose(&settings, pose, bar)?;

        // Ground truth of the exposure
        let truth = engine.truth(&settings, [frame.exposure, frame_time], pose)?;
        let middle = start + 0.5 * frame.exposure;
        Ok(Shot {
            frame,
            truth,
            world_from_camera: trajectory.at(middle),
        })
    }
}

/// Error if no light reaches the camera in any frame.
fn without_light() -> Failure {
    Failure::usage(
        "the frames are all black: no light reaches the camera",
        "give another --pose, or more [lights] in the scene file; light that is reflected by \
         several surfaces needs --light paths",
    )
}

/// Poses of a camera by the time of the run.
enum CameraTrajectory {
    Still(Isometry3<f64>),
    /// The motion of the sensor in the scene file.
    OfScene(SceneTrajectory),
    /// The poses of a file. The run begins at the first one.
    Given(KeyFrameTrajectory),
}

impl CameraTrajectory {
    /// Pose at a time of the run, s; world from camera.
    fn at(&self, time: f64) -> Isometry3<f64> {
        match self {
            Self::Still(pose) => *pose,
            Self::OfScene(motion) => motion.at(time),
            Self::Given(frames) => frames.pose_or_end(frames.span()[0] + time),
        }
    }

    /// Error if the poses end before a run of `seconds`.
    fn check(&self, seconds: f64) -> Result<(), Failure> {
        let (frames, begins) = match self {
            Self::OfScene(SceneTrajectory::KeyFrames(frames)) => (frames, 0.0),
            Self::Given(frames) => (frames, frames.span()[0]),
            Self::OfScene(SceneTrajectory::Twist(_)) | Self::Still(_) => return Ok(()),
        };
        Ok(frames.check_span(begins, begins + seconds)?)
    }
}
