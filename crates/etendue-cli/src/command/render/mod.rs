//! `etendue render`.

mod light;
mod report;
mod views;
mod write;

use crate::failure::Failure;
use crate::pose::Pose;
use crate::source;
use clap::{Args, ValueEnum};
use etendue::config::scene::LoadedScene;
use etendue::io::trajectory::read_tum;
use etendue::scene::KeyFrameTrajectory;
use etendue::sensors::camera::{
    Camera, CameraFrame, CameraWorld, ClassMap, FrameSettings, FrameTruth, LightTransport,
};
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Isometry3;
use report::Report;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;
use write::Output;

/// Arguments of `etendue render`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue render\n          \
    etendue render glass-door --pose -2.5,0.5,1.4,-10 --light paths --samples 64 -o door\n          \
    etendue render examples/small-house.toml --camera raspberry-pi-v2 --pose 1,0,1.2,90\n          \
    etendue render arena --camera mine.toml --trajectory poses.tum --frames 30 -o drive.mcap\n\n\
    A folder gets, for each frame, the picture, the detector's numbers, depth, normals, instances, \
    classes and optical flow as PNG and all of them as numbers in one EXR file, a recording \
    (frames.mcap) and run.json.\n\
    The same scene, camera, pose, samples and seed give the same bytes on any number of threads.")]
pub struct Render {
    /// Scene file (.toml) or the name of a built-in scene; without one, the built-in arena
    scene: Option<PathBuf>,
    /// Name of a preset (fisheye, global-shutter, ideal, raspberry-pi-v2) or a camera file (.toml)
    #[arg(long, value_name = "PRESET|FILE", default_value = "ideal")]
    camera: String,
    /// Where the camera stands, looking along its x: x,y,z,yaw[,pitch,roll] in metres and degrees;
    /// without it, where the scene file puts its sensor
    #[arg(long, allow_hyphen_values = true, value_name = "POSE")]
    pose: Option<Pose>,
    /// Poses over time instead, a TUM file (time x y z qx qy qz qw a line): the first frame is
    /// taken at its first pose
    #[arg(long, value_name = "FILE", conflicts_with = "pose")]
    trajectory: Option<PathBuf>,
    /// What light is followed
    #[arg(long, value_enum, default_value_t = LightName::Direct)]
    light: LightName,
    /// Rays a pixel; without it, 16 in direct light, 64 on paths
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    samples: Option<u32>,
    /// How many frames
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Seed of all that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for everything, or a single .png, .exr or .mcap file (a .png and an .exr hold the
    /// first frame)
    #[arg(short, long, default_value = "out", value_name = "DIR|FILE")]
    output: PathBuf,
    /// Worker threads; without it, one a processor
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// What light is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LightName {
    /// From the lights over one rough surface, and over mirrors and glass
    Direct,
    /// Over any number of surfaces, on random paths
    Paths,
}

/// A frame and what it shows.
pub struct Shot {
    /// The frame.
    pub frame: CameraFrame,
    /// What it shows.
    pub truth: FrameTruth,
    /// Where the camera was at its middle.
    pub world_from_camera: Isometry3<f64>,
}

impl Render {
    /// Renders, writes and sums up.
    pub fn run(self) -> Result<(), Failure> {
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        pool.install(|| self.run_here())
    }

    fn run_here(&self) -> Result<(), Failure> {
        let output = Output::of(&self.output)?;
        let mut loaded = source::scene(self.scene.as_deref())?;
        let camera = source::camera(&self.camera)?;
        let path = self.path(&loaded)?;
        let mut warnings = loaded.warnings.clone();
        warnings.extend(light::make_sure(&mut loaded, &path.at(path.start)));
        let camera_world =
            CameraWorld::new(&loaded.scene, &loaded.lighting, &loaded.textures, &camera)?;
        let begun = Instant::now();
        let shots = self.shots(&camera_world, &camera, &path);
        let seconds = begun.elapsed().as_secs_f64();
        check_view(&shots)?;
        let report = Report {
            scene: &loaded,
            camera: &camera,
            classes: &ClassMap::new(&loaded.scene, &loaded.classes.of_objects()),
            shots: &shots,
            settings: &self.settings(0, path.start),
            warnings: &warnings,
        };
        let files = output.write(&report)?;
        report.tell(seconds, &files, self.json)
    }

    /// Where the camera is over time.
    fn path(&self, loaded: &LoadedScene) -> Result<Path, Failure> {
        if let Some(file) = &self.trajectory {
            let trajectory = read_tum(file)?;
            let start = trajectory.span()[0];
            return Ok(Path {
                start,
                way: Way::Along(trajectory),
            });
        }
        let proposed = loaded
            .sensor
            .as_ref()
            .map(|placement| placement.world_from_sensor);
        let asked = self.pose.as_ref().map(|pose| pose.world_from_sensor);
        let pose = asked.or(proposed).ok_or_else(|| Failure::NoPose {
            scene: loaded.name.clone(),
        })?;
        Ok(Path {
            start: 0.0,
            way: Way::Still(pose),
        })
    }

    fn settings(&self, index: u32, start: f64) -> FrameSettings {
        let (light, usual) = match self.light {
            LightName::Direct => (LightTransport::default(), 16),
            LightName::Paths => (LightTransport::paths(), 64),
        };
        FrameSettings {
            samples: self.samples.unwrap_or(usual),
            light,
            seed: self.seed,
            sensor: 0,
            index,
            start,
        }
    }

    fn shots(&self, camera_world: &CameraWorld, camera: &Camera, path: &Path) -> Vec<Shot> {
        let progress = ProgressBar::new(self.frames.into()).with_style(
            ProgressStyle::with_template("rendering {bar:40} {pos}/{len} frames, {eta} left")
                .expect("the template is well formed"),
        );
        let shots = (0..self.frames).map(|index| {
            let start = path.start + f64::from(index) * camera.frame_time();
            let settings = self.settings(index, start);
            let pose = |time| path.at(time);
            let frame = camera_world.expose(camera, &settings, pose);
            let time = camera.frame_time();
            let truth = camera_world.truth(camera, &settings, frame.exposure, time, pose);
            progress.inc(1);
            let middle = start + 0.5 * frame.exposure;
            Shot {
                frame,
                truth,
                world_from_camera: path.at(middle),
            }
        });
        let shots = shots.collect();
        progress.finish_and_clear();
        shots
    }
}

/// An empty result is an error: the camera sees nothing.
fn check_view(shots: &[Shot]) -> Result<(), Failure> {
    let sees = shots
        .iter()
        .any(|shot| shot.frame.radiance.iter().any(|value| *value > 0.0));
    if sees {
        return Ok(());
    }
    Err(Failure::Usage {
        message: "the frames are all black: no light reaches the camera".into(),
        remedy: "give another --pose, or more [lights] in the scene file; light that only \
                 comes over several surfaces needs --light paths"
            .into(),
    })
}

/// Where a camera is over time.
struct Path {
    /// When the first frame begins, s.
    start: f64,
    way: Way,
}

enum Way {
    Still(Isometry3<f64>),
    Along(KeyFrameTrajectory),
}

impl Path {
    fn at(&self, time: f64) -> Isometry3<f64> {
        match &self.way {
            Way::Still(pose) => *pose,
            Way::Along(trajectory) => trajectory.pose_or_end(time),
        }
    }
}
