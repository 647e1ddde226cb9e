//! `etendue simulate`.

mod scan;
mod several;
mod staged;
mod summary;
mod way;
mod weather;

use crate::failure::Failure;
use crate::number::positive;
use crate::output::{print, print_json};
use crate::pose::Pose;
use crate::source;
use clap::{Args, ValueEnum};
use etendue::config::scene::LoadedScene;
use etendue::config::sensor::Sensor;
use etendue::io::output::SourceMetadata;
use etendue::sensors::PlanarSweep;
use etendue::sensors::lidar::{Frame, LightModel, Pipeline, Receiver};
use etendue::sensors::transport::PathSettings;
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Isometry3;
use staged::{Done, Staged};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use summary::Summary;
use way::WayOptions;
use weather::AirOptions;

/// Arguments of `etendue simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples: etendue simulate\n          \
    etendue simulate examples/small-house.toml --pose 1.5,0,0.4,90 --sweeps 20 -o house\n          \
    etendue simulate -o scan.npz --seed 7\n          \
    etendue simulate examples/street.toml --sensor velodyne-vlp-16 --sensor sick-lms-111@0.5,0,-1.5,0 \
    --trajectory examples/street.tum --duration 5 --rain 10 -o drive\n          \
    etendue simulate examples/street.toml --sensor velodyne-vlp-16 --sensor ouster-os1-64@1,0,0,0 -o bag/run.mcap\n\n\
    The same scene, sensor, pose, sweeps and seed give the same bytes on any number of threads.\n\
    If no beam meets a surface this is an error and nothing is written; if surfaces are met but \
    none gives a range, there is a warning.")]
pub struct Simulate {
    /// Scene file (.toml) or the name of a built-in scene; without one, the built-in arena, with a
    /// mirror and a pane
    scene: Option<PathBuf>,
    /// Name of a preset (see `etendue sensors`) or a sensor file (.toml); without it, the sensor
    /// that the scene file names, else hokuyo-urg-04lx. Given several times, every sensor leaves
    /// its results in a folder of its own, or all are recorded in one .mcap file; `@x,y,z,yaw[,pitch,roll]` after a name says where it is
    /// mounted on what the pose or the trajectory moves
    #[arg(long, value_name = "PRESET|FILE[@MOUNT]")]
    sensor: Vec<String>,
    /// Where the sensor stands: x,y,z,yaw[,pitch,roll] in metres and degrees; without it, where
    /// the scene file says
    #[arg(long, allow_hyphen_values = true, value_name = "POSE")]
    pose: Option<Pose>,
    /// How many turns of the sensor
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    sweeps: u32,
    /// How long the run is, s, instead of --sweeps: as many turns as begin in it
    #[arg(long, value_name = "S", value_parser = positive, conflicts_with = "sweeps", allow_negative_numbers = true)]
    duration: Option<f64>,
    /// Seed of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Trace so many random paths of light a ray, to add what comes back over several rough
    /// surfaces; without it, ray trees, which are faster and follow mirrors and glass alone. A
    /// receiver whose file gives no window is taken to see all around: the most that such light
    /// can add
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    paths: Option<u32>,
    /// Folder for all formats, or a single .csv, .npz, .pcd, .ply, .las, .laz, .e57, .bin (KITTI), .parquet,
    /// .mcap, .json, .png or .svg file. A .csv or .npz file holds one row a return; one named beams.csv or
    /// beams.npz holds one row a beam, with or without a return. An .mcap file is
    /// written sweep by sweep, and in a folder gets a metadata.yaml beside it, with which `ros2 bag`
    /// opens the folder
    #[arg(short, long, default_value = "out", value_name = "DIR|FILE")]
    output: PathBuf,
    /// Worker threads; without it, one a processor
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Instruction set: plain, neon, avx2 or avx512, or reference for the plain pipeline; the default
    /// is the fastest that this processor supports. The results are the same
    #[arg(long, env = "ETENDUE_ISA")]
    isa: Option<Pipeline>,
    #[command(flatten)]
    way: WayOptions,
    #[command(flatten)]
    air: AirOptions,
    /// Frame of the points: as the device gives them, or compensated for motion
    /// [default: world; recordings and scan.mcap hold the sensor's own, always]
    #[arg(long, value_enum)]
    frame: Option<FrameName>,
    /// Draw the waveform of one beam of a pulsed lidar's first sweep
    #[arg(long, value_name = "RING,COLUMN", value_parser = ring_and_column)]
    waveform: Option<[u32; 2]>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Which of several sensors this is
    #[arg(skip)]
    number: u32,
}

impl Simulate {
    /// Simulates, writes and sums up.
    pub fn run(self) -> Result<(), Failure> {
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        pool.install(|| self.run_here())
    }

    /// The implementation of the sweep pipeline.
    fn pipeline(&self) -> Pipeline {
        self.isa.unwrap_or_default()
    }

    fn run_here(&self) -> Result<(), Failure> {
        let mut loaded = source::scene(self.scene.as_deref())?;
        match self.pipeline() {
            Pipeline::Reference => {}
            Pipeline::Vectorized(isa) => loaded.scene = loaded.scene.edit().with_isa(isa).finish(),
        }
        let runs = self.each_sensor(&loaded)?;
        if self.is_recording() {
            return match &runs[..] {
                [only] => only.record(&loaded),
                several => self.record_all(&loaded, several),
            };
        }
        let mut staged = Staged::default();
        let done = { runs.into_iter() }.map(|run| run.run(&loaded, &mut staged));
        let done: Vec<Done> = done.collect::<Result<_, _>>()?;
        staged.commit()?;
        self.report(&done)
    }

    /// No option may go unheard.
    fn check_options(&self, sensor: &Sensor) -> Result<(), Failure> {
        let in_other_frame = { self.frame }.is_some_and(|frame| frame != FrameName::Sensor);
        let unheard = [
            ("--waveform", self.waveform.is_some()),
            ("--frame", in_other_frame),
            ("--json", self.json),
        ];
        let unheard = unheard.iter().find(|(_, given)| *given);
        if let Some((option, _)) = unheard.filter(|_| self.is_recording()) {
            return Err(Failure::Usage {
                message: format!(
                    "{option} does not apply to a recording, which {} is",
                    self.output.display()
                ),
                remedy: "leave the option out, or name a folder: it gets a recording, too".into(),
            });
        }
        if self.waveform.is_some() && !matches!(sensor.lidar.receiver, Receiver::Pulsed(_)) {
            return Err(Failure::OtherSensor {
                option: "--waveform",
                kind: "a lidar that sends no pulses",
                sensor: sensor.name.clone(),
            });
        }
        Ok(())
    }

    /// The command line as far as results depend on it: neither threads nor where they are written.
    fn words(&self) -> Vec<String> {
        let mut words = vec!["etendue".to_owned(), "simulate".to_owned()];
        words.extend(self.scene.as_ref().map(|scene| scene.display().to_string()));
        let mut add = |key: &str, value: String| words.extend([key.to_owned(), value]);
        for sensor in &self.sensor {
            add("--sensor", sensor.clone());
        }
        if let Some(pose) = &self.pose {
            add("--pose", pose.text.clone());
        }
        add("--sweeps", self.sweeps.to_string());
        add("--seed", self.seed.to_string());
        if let Some(paths) = self.paths {
            add("--paths", paths.to_string());
        }
        if let Some(trajectory) = &self.way.trajectory {
            add("--trajectory", trajectory.display().to_string());
        }
        if let Some(frame) = self.frame.and_then(|frame| frame.to_possible_value()) {
            add("--frame", frame.get_name().to_owned());
        }
        for (key, value) in self.air.given() {
            add(key, value.to_string());
        }
        words
    }

    fn scene_source(&self, loaded: &LoadedScene) -> SourceMetadata {
        let is_file = !loaded.files.is_empty();
        let file = self.scene.as_ref().filter(|_| is_file);
        SourceMetadata {
            name: loaded.name.clone(),
            file: file.map(|file| file.display().to_string()),
            sha256: loaded.sha256.clone(),
        }
    }

    /// How light is followed.
    fn light(&self) -> LightModel {
        self.paths.map_or_else(LightModel::default, |paths| {
            LightModel::Paths(PathSettings {
                paths,
                ..PathSettings::default()
            })
        })
    }

    fn progress(&self) -> ProgressBar {
        ProgressBar::new(self.sweeps.into()).with_style(progress_style())
    }

    /// One summary a sensor; as JSON a list where there are several.
    fn report(&self, all: &[Done]) -> Result<(), Failure> {
        all.iter().for_each(Done::tell);
        let summaries: Vec<Summary> = all.iter().map(Summary::of).collect();
        match &summaries[..] {
            [only] if self.json => print_json(only),
            several if self.json => print_json(&several),
            several => several.iter().try_for_each(|one| print(&one.text())),
        }
    }
}

/// The frame that points are given in.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
enum FrameName {
    /// The sensor's at each shot's own time
    Sensor,
    /// The sensor's at the start of each sweep
    SweepStart,
    /// The world's
    #[default]
    World,
}

impl From<FrameName> for Frame {
    fn from(name: FrameName) -> Self {
        match name {
            FrameName::Sensor => Self::Sensor,
            FrameName::SweepStart => Self::SweepStart,
            FrameName::World => Self::World,
        }
    }
}

fn ring_and_column(text: &str) -> Result<[u32; 2], String> {
    let numbers = text
        .split_once(',')
        .and_then(|(ring, column)| Some([ring.trim().parse().ok()?, column.trim().parse().ok()?]));
    numbers.ok_or_else(|| "give the numbers of a ring and a column, as in 8,120".into())
}

fn progress_style() -> ProgressStyle {
    ProgressStyle::with_template("simulating {bar:40} {pos}/{len} sweeps, {eta} left")
        .expect("the template is well formed")
}

/// An empty result is an error: no beam met anything.
fn check_view(sweeps: &[PlanarSweep], pose: &Isometry3<f64>) -> Result<(), Failure> {
    let mut beams = sweeps.iter().flat_map(|sweep| &sweep.measurements);
    let seen = beams.any(|beam| beam.truth.is_some() || beam.reading.range().is_some());
    if seen {
        return Ok(());
    }
    Err(Failure::NothingInFront {
        beams: sweeps.iter().map(|sweep| sweep.measurements.len()).sum(),
        position: pose.translation.vector.into(),
    })
}
